-- Publishing also hands over who sees the document, what its source says of it and where its file is.

drop function public.kb_publish_document(uuid);

create function public.kb_publish_document(document_id uuid, storage_path text default null) returns uuid
  language plpgsql
  security invoker
  set search_path = ''
  -- A long document has thousands of vectors to put into the index; PostgREST takes the limit from here.
  set statement_timeout = '10min'
as $$
#variable_conflict use_column
declare
  pending public.kb_documents;
  ready public.kb_documents;
  chunk_total bigint;
  unembedded bigint;
begin
  -- One publisher at a time. Without it two of one source could both find no ready document, and the second would fail
  -- on kb_documents_one_ready_per_source instead of replacing the first.
  perform internal.kb_lock();
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

  pending.storage_path := coalesce(kb_publish_document.storage_path, pending.storage_path);
  delete from public.kb_documents d where d.source = pending.source and d.status = 'failed';
  select * into ready
    from public.kb_documents d
    where d.source = pending.source and d.status = 'ready'
    for update;

  if ready.id is null then
    update public.kb_documents
      set status = 'ready', storage_path = pending.storage_path, failure = null
      where id = pending.id;
    return pending.id;
  end if;

  -- The ready row survives, so its id in stored citations stays valid and an admin's "disabled" is not undone.
  delete from public.kb_chunks where document_id = ready.id;
  -- Before the chunks move: they follow the language and the audience of the document they come to.
  update public.kb_documents
    set name = pending.name,
        language = pending.language,
        content_hash = pending.content_hash,
        source_version = pending.source_version,
        storage_path = pending.storage_path,
        meta = pending.meta,
        -- Where the source says what it said before, the column keeps what the dashboard may have made of it since.
        -- Otherwise the source decides, but one that no longer names anybody opens nothing.
        audience = case
          when pending.meta -> 'audience' is not distinct from ready.meta -> 'audience' then ready.audience
          else coalesce(pending.audience, ready.audience)
        end,
        failure = null
    where id = ready.id;
  update public.kb_chunks set document_id = ready.id where document_id = pending.id;
  delete from public.kb_documents where id = pending.id;
  return ready.id;
end
$$;

comment on function public.kb_publish_document(uuid, text) is
  'Makes a complete pending document the ready one of its source and returns the id of the surviving row. '
  'An older ready document of that source keeps its id and enabled and takes over everything else, the audience with a '
  'condition: meta.audience holds what the source itself says of it, if it says anything. While that stays the same, the '
  'audience in the older row is kept, whatever it is by now; if it is another, that of the new version counts, if there is '
  'one. storage_path is that of the new version''s file; without it, the path in its row counts. '
  'Failed documents of that source are deleted.';

revoke all on function public.kb_publish_document(uuid, text) from public, anon, authenticated;
grant execute on function public.kb_publish_document(uuid, text) to service_role;
