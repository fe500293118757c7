-- Who finds a chunk. Its own trigger works it out from its document and from whether its vectors are those of its text;
-- changes elsewhere only touch the row to run it, and its embedding copies the result:
--
--   searchable   audience    found by
--   true         null        everybody
--   false        a list      users with one of these claims
--   false        null        nobody: the document is hidden, or the chunk stale
--
-- So what everybody finds is in indexes of its own, where what is hidden from most cannot stand in its way.

-- Chunks ------------------------------------------------------------------

create function internal.kb_set_chunk_search() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
declare
  document record;
  is_ready boolean;
begin
  -- A chunk that comes to a document makes a simultaneous change of the document wait; it would not see this row yet
  -- and leave it as it is. One that was there is found and waited for by such a change, so there is no lock for it.
  if tg_op = 'INSERT' or old.document_id <> new.document_id then
    select d.status = 'ready' into is_ready from public.kb_documents d where d.id = new.document_id;
    if not is_ready then
      select d.status = 'ready' into is_ready
        from public.kb_documents d
        where d.id = new.document_id
        for share skip locked;
    end if;
    -- In a ready document it will be counted, which takes the lock; after the document's own, that would be the wrong
    -- order. Skipped was a document that somebody with the lock is changing.
    if is_ready is distinct from false then
      perform internal.kb_lock();
      perform from public.kb_documents d where d.id = new.document_id for share;
    end if;
  end if;

  if tg_op = 'UPDATE' and current_setting('kb.writes_vectors', true) is distinct from 'on' then
    new.stale := old.stale or new.stale
      or (new.content, new.meta ->> 'section') is distinct from (old.content, old.meta ->> 'section');
  end if;

  select d.status = 'ready' and d.enabled and not new.stale as is_found,
      d.audience,
      internal.kb_text_search_config(d.language) as language
    into document
    from public.kb_documents d
    where d.id = new.document_id;
  new.searchable := coalesce(document.is_found and document.audience is null, false);
  new.audience := case when document.is_found then document.audience end;
  new.language := coalesce(document.language, 'simple');

  if tg_op = 'UPDATE'
    and (old.language, old.content, old.meta ->> 'section')
      is not distinct from (new.language, new.content, new.meta ->> 'section')
  then
    new.fts := old.fts;
  else
    new.fts := internal.kb_chunk_fts(new.language, new.meta ->> 'section', new.content);
  end if;
  return new;
end
$$;

comment on function internal.kb_set_chunk_search() is
  'Trigger: works out stale, searchable, audience, language and fts of a chunk from its document and its text.';

revoke all on function internal.kb_set_chunk_search() from public;

create trigger kb_chunks_set_search
  before insert or update on public.kb_chunks
  for each row execute function internal.kb_set_chunk_search();

create function internal.kb_touch_chunks_of_document() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
declare
  config text := internal.kb_text_search_config(new.language);
  is_visible boolean := new.status = 'ready' and new.enabled;
begin
  -- Only touches the rows: the chunk's own trigger works their values out.
  update public.kb_chunks c
    set searchable = c.searchable
    where c.document_id = new.id
      and (c.searchable, c.audience, c.language) is distinct from (
        is_visible and not c.stale and new.audience is null,
        case when is_visible and not c.stale then new.audience end,
        config
      );
  return null;
end
$$;

comment on function internal.kb_touch_chunks_of_document() is
  'Trigger: a document that appears, disappears or changes its audience or language takes its chunks along.';

revoke all on function internal.kb_touch_chunks_of_document() from public;

create trigger kb_documents_touch_chunks
  after update of status, enabled, audience, language on public.kb_documents
  for each row execute function internal.kb_touch_chunks_of_document();

-- Embeddings --------------------------------------------------------------

create function internal.kb_set_searchable() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  -- A new embedding makes a simultaneous change of its document or chunk wait, which would not see this row yet and
  -- leave it as it is. One that was there is found and waited for by such a change.
  if tg_op = 'INSERT' or old.chunk_id <> new.chunk_id then
    perform from public.kb_chunks c
      join public.kb_documents d on d.id = c.document_id
      where c.id = new.chunk_id
      for share of d;
    perform from public.kb_chunks c where c.id = new.chunk_id for share;
  end if;
  select c.searchable, c.audience into new.searchable, new.audience
    from public.kb_chunks c
    where c.id = new.chunk_id;
  new.searchable := coalesce(new.searchable, false);
  return new;
end
$$;

comment on function internal.kb_set_searchable() is
  'Trigger: copies searchable and audience of an embedding from its chunk.';

revoke all on function internal.kb_set_searchable() from public;

create trigger kb_embeddings_set_searchable
  before insert or update on public.kb_embeddings
  for each row execute function internal.kb_set_searchable();

create function internal.kb_touch_embeddings_of_chunks() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
  -- The plan is made once, for whatever number of chunks came first. One look-up for each suits any number.
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  update public.kb_embeddings e
    set searchable = c.searchable, audience = c.audience
    from changed c
    where e.chunk_id = c.id and (e.searchable, e.audience) is distinct from (c.searchable, c.audience);
  return null;
end
$$;

comment on function internal.kb_touch_embeddings_of_chunks() is
  'Trigger: the embeddings of changed chunks follow them.';

revoke all on function internal.kb_touch_embeddings_of_chunks() from public;

create trigger kb_chunks_touch_embeddings
  after update on public.kb_chunks
  referencing new table as changed
  for each statement execute function internal.kb_touch_embeddings_of_chunks();
