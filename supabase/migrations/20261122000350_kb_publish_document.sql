-- kb_publish_document, which now carries the language over. Privileges and comment stay as they were given.

create or replace function public.kb_publish_document(document_id uuid) returns uuid
  language plpgsql
  security invoker
  set search_path = ''
as $$
#variable_conflict use_column
declare
  pending public.kb_documents;
  ready_id uuid;
  chunk_total bigint;
  unembedded bigint;
begin
  select * into pending from public.kb_documents d where d.id = kb_publish_document.document_id for update;
  if not found then
    raise exception 'document % does not exist', kb_publish_document.document_id;
  end if;
  if pending.status <> 'pending' then
    raise exception 'document % is %, only a pending document can be published', pending.id, pending.status;
  end if;

  select count(*), count(*) filter (where e.chunk_id is null)
    into chunk_total, unembedded
    from public.kb_chunks c
    left join public.kb_embeddings e on e.chunk_id = c.id
    where c.document_id = pending.id;
  if chunk_total = 0 then
    raise exception 'document % has no chunks', pending.id;
  end if;
  if unembedded > 0 then
    raise exception 'document % is incomplete: % of % chunks have no embedding', pending.id, unembedded, chunk_total;
  end if;

  -- One publisher per source at a time. Without it two of them could both find no ready document, and the second
  -- would fail on kb_documents_one_ready_per_source instead of replacing the first.
  perform pg_advisory_xact_lock(hashtextextended('kb_publish_document:' || pending.source, 0));

  select d.id into ready_id
    from public.kb_documents d
    where d.source = pending.source and d.status = 'ready'
    for update;

  if ready_id is null then
    update public.kb_documents set status = 'ready' where id = pending.id;
    return pending.id;
  end if;

  -- The ready row survives, so its id in stored citations stays valid and an admin's "disabled" is not undone.
  delete from public.kb_chunks where document_id = ready_id;
  -- Before the chunks move: they follow the language of the document they come to.
  update public.kb_documents
    set name = pending.name,
        language = pending.language,
        content_hash = pending.content_hash,
        storage_path = pending.storage_path,
        meta = pending.meta
    where id = ready_id;
  update public.kb_chunks set document_id = ready_id where document_id = pending.id;
  delete from public.kb_documents where id = pending.id;
  return ready_id;
end
$$;
