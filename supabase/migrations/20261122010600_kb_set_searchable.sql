-- A deadlock less: an update of an embedding locked its document after the embedding, while kb_publish_document and
-- whoever deletes or disables a document have the document first and go on to its embeddings.

create or replace function public.kb_set_searchable() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  -- As in kb_set_chunk_search: a new embedding makes a simultaneous change of the document wait, which would not see
  -- this row yet and leave it stale. One that was there is found and waited for by such a change.
  if tg_op = 'INSERT' or old.chunk_id <> new.chunk_id then
    perform from public.kb_chunks c
      join public.kb_documents d on d.id = c.document_id
      where c.id = new.chunk_id
      for share of d;
  end if;
  select d.status = 'ready' and d.enabled
    into new.searchable
    from public.kb_chunks c
    join public.kb_documents d on d.id = c.document_id
    where c.id = new.chunk_id;
  new.searchable := coalesce(new.searchable, false);
  return new;
end
$$;
