-- Who can find a chunk. The trigger of the chunk derives it from the document and from whether the vectors match the text. Changes
-- elsewhere only touch the row to run that trigger, and the embedding copies the result:
--
--   searchable   audience    visible to
--   true         null        the default audience
--   false        a list      users with one of these claims
--   false        null        nobody: the document is hidden, or the chunk stale
--
-- Chunks for the default audience therefore have separate indexes, in which restricted chunks cannot crowd them out. A change of
-- chat_settings.default_audience changes no row here.

-- Chunks ------------------------------------------------------------------

create function internal.kb_set_chunk_search_columns() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  document record;
  is_ready boolean;
  -- Anything else in meta and parts, such as the page, may change without new lexemes and vectors.
  is_new_text constant boolean := tg_op = 'INSERT' or new.content <> old.content
    or (new.meta, new.parts) is distinct from (old.meta, old.parts)
      and internal.kb_chunk_text('', new.meta, new.parts) <> internal.kb_chunk_text('', old.meta, old.parts);
begin
  -- A concurrent change of the document would not see a new chunk yet and would leave it as it is, so a chunk that is added to a
  -- document makes such a change wait. The change finds and waits for existing chunks, so they need no lock.
  if tg_op = 'INSERT' or old.document_id <> new.document_id then
    select d.status = 'ready' into is_ready from public.kb_documents d where d.id = new.document_id;
    if not is_ready then
      select d.status = 'ready' into is_ready
        from public.kb_documents d
        where d.id = new.document_id
        for share skip locked;
    end if;
    -- A chunk of a ready document is counted, which takes the advisory lock. Taking it after the lock of the document would be
    -- the wrong order. A skipped document (null) is being changed by a transaction that has the advisory lock.
    if is_ready is distinct from false then
      perform internal.kb_lock();
      perform from public.kb_documents d where d.id = new.document_id for share;
    end if;
  end if;

  if tg_op = 'UPDATE' and current_setting('kb.writes_vectors', true) is distinct from 'on' then
    new.stale := old.stale or new.stale or is_new_text;
    if new.content <> old.content then
      new.blocks := null;
      new.parts := jsonb_path_query_array(new.parts, '$[*] ? (@.is_above == true)');
    end if;
  end if;

  select d.status = 'ready' and d.enabled and not new.stale as is_findable,
      d.audience,
      d.collection,
      internal.kb_text_search_config(d.language) as language
    into document
    from public.kb_documents d
    where d.id = new.document_id;
  new.searchable := coalesce(document.is_findable and document.audience is null, false);
  new.audience := case when document.is_findable then document.audience end;
  new.collection := coalesce(document.collection, '');
  new.language := coalesce(document.language, 'simple');

  if is_new_text or new.language <> old.language then
    new.fts := internal.kb_chunk_fts(new.language, internal.kb_chunk_text(new.content, new.meta, new.parts));
  else
    new.fts := old.fts;
  end if;
  return new;
end
$$;

comment on function internal.kb_set_chunk_search_columns is
  'Trigger: sets stale, searchable, audience, collection, language and fts of a chunk from its '
  'document and its text. When content is edited, empties blocks and drops the parts inside the '
  'passage.';

create trigger kb_chunks_set_search_columns
  before insert or update on public.kb_chunks
  for each row execute function internal.kb_set_chunk_search_columns();

create function internal.kb_touch_document_chunks() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  config text := internal.kb_text_search_config(new.language);
  is_visible boolean := new.status = 'ready' and new.enabled;
begin
  -- Only touches the rows: the trigger of kb_chunks sets the values.
  update public.kb_chunks c
    set searchable = c.searchable
    where c.document_id = new.id
      and (c.searchable, c.audience, c.collection, c.language) is distinct from (
        is_visible and not c.stale and new.audience is null,
        case when is_visible and not c.stale then new.audience end,
        new.collection,
        config
      );
  return null;
end
$$;

comment on function internal.kb_touch_document_chunks is
  'Trigger: updates the chunks of a document whose visibility, audience, collection or language '
  'changes.';

create trigger kb_documents_touch_chunks
  after update of status, enabled, audience, source, language on public.kb_documents
  for each row execute function internal.kb_touch_document_chunks();

-- Embeddings --------------------------------------------------------------

create function internal.kb_set_embedding_visibility() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  -- A concurrent change of the document or chunk would not see a new embedding yet and would leave it as it is, so a new embedding
  -- makes such a change wait. The change finds and waits for existing embeddings.
  if tg_op = 'INSERT' or old.chunk_id <> new.chunk_id then
    perform from public.kb_chunks c
      join public.kb_documents d on d.id = c.document_id
      where c.id = new.chunk_id
      for share of d;
    perform from public.kb_chunks c where c.id = new.chunk_id for share;
  end if;
  select c.searchable, c.audience, c.collection into new.searchable, new.audience, new.collection
    from public.kb_chunks c
    where c.id = new.chunk_id;
  new.searchable := coalesce(new.searchable, false);
  new.collection := coalesce(new.collection, '');
  return new;
end
$$;

comment on function internal.kb_set_embedding_visibility is
  'Trigger: copies searchable, audience and collection of an embedding from its chunk.';

create trigger kb_embeddings_set_visibility
  before insert or update on public.kb_embeddings
  for each row execute function internal.kb_set_embedding_visibility();

create function internal.kb_copy_visibility_to_embeddings() returns trigger
  language plpgsql set search_path = ''
  -- The plan is cached for the first number of chunks. An index lookup per chunk suits any number.
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
begin
  update public.kb_embeddings e
    set searchable = c.searchable, audience = c.audience, collection = c.collection
    from changed c
    where e.chunk_id = c.id
      and (e.searchable, e.audience, e.collection) is distinct from (c.searchable, c.audience, c.collection);
  return null;
end
$$;

comment on function internal.kb_copy_visibility_to_embeddings is
  'Trigger: copies searchable, audience and collection of changed chunks to their embeddings.';

create trigger kb_chunks_update_embeddings
  after update on public.kb_chunks
  referencing new table as changed
  for each statement execute function internal.kb_copy_visibility_to_embeddings();
