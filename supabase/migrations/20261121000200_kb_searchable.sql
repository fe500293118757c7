-- Keeps kb_embeddings.searchable equal to "the document is ready and enabled". The row's own trigger works the value
-- out; changes elsewhere only touch the row to run it.

create function public.kb_set_searchable() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  select d.status = 'ready' and d.enabled
    into new.searchable
    from public.kb_chunks c
    join public.kb_documents d on d.id = c.document_id
    where c.id = new.chunk_id
    -- Makes a simultaneous change of the document wait; it would not see this row yet and leave it stale.
    for share of d;
  new.searchable := coalesce(new.searchable, false);
  return new;
end
$$;

comment on function public.kb_set_searchable() is 'Trigger: works out searchable of an embedding from its document.';
revoke all on function public.kb_set_searchable() from public, anon, authenticated;

create trigger kb_embeddings_set_searchable
  before insert or update on public.kb_embeddings
  for each row execute function public.kb_set_searchable();

create function public.kb_touch_embeddings_of_document() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  update public.kb_embeddings e
    set searchable = not e.searchable
    from public.kb_chunks c
    where c.document_id = new.id and e.chunk_id = c.id
      and e.searchable <> (new.status = 'ready' and new.enabled);
  return null;
end
$$;

comment on function public.kb_touch_embeddings_of_document() is
  'Trigger: a document that appears or disappears takes its embeddings along.';
revoke all on function public.kb_touch_embeddings_of_document() from public, anon, authenticated;

create trigger kb_documents_touch_embeddings
  after update of status, enabled on public.kb_documents
  for each row execute function public.kb_touch_embeddings_of_document();

create function public.kb_touch_embedding_of_chunk() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  update public.kb_embeddings set searchable = searchable where chunk_id = new.id;
  return null;
end
$$;

comment on function public.kb_touch_embedding_of_chunk() is
  'Trigger: the embedding of a chunk that moves to another document follows it.';
revoke all on function public.kb_touch_embedding_of_chunk() from public, anon, authenticated;

create trigger kb_chunks_touch_embedding
  after update of document_id on public.kb_chunks
  for each row when (old.document_id <> new.document_id)
  execute function public.kb_touch_embedding_of_chunk();
