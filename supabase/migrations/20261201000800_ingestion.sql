-- Ingestion: writing chunks with their vectors, publishing and deleting documents, and one kb sync at a time for each collection.
-- Ingestion writes a document and its chunks as pending, then publishes them in one step. Readers see the old version until then
-- and the new one afterwards, never a mixture.

-- New chunks --------------------------------------------------------------

-- `return` and no search_path setting, so that Postgres can inline calls.
create function internal.kb_normalize_vector(scaled extensions.vector) returns extensions.vector
  language sql immutable
  -- A vector of unit length stays bit-identical.
  return case when extensions.vector_norm(scaled) > 1.5 then extensions.l2_normalize(scaled) else scaled end;

comment on function internal.kb_normalize_vector is
  'Scales a vector that was multiplied by any factor back to unit length.';

grant execute on function internal.kb_normalize_vector to service_role;

create function public.kb_write_chunks(chunks jsonb) returns void
  language plpgsql set search_path = ''
  set statement_timeout = '10min'
as $$
declare
  document_ids constant uuid[] := array(
    select distinct c.document_id from jsonb_to_recordset(chunks) as c(document_id uuid)
  );
  chunk_ids constant uuid[] := array(select c.id from jsonb_to_recordset(chunks) as c(id uuid));
  new_count bigint;
  existing_count bigint;
begin
  perform set_config('kb.writes_vectors', 'on', true);

  -- New chunks of documents that nobody sees yet only need those documents to stay unchanged. Everything else takes the advisory
  -- lock, which must come before any lock on a document: the exception block releases those.
  begin
    perform from public.kb_documents d where d.id = any (document_ids) for share nowait;
    if exists (select from public.kb_documents d where d.id = any (document_ids) and d.status = 'ready')
      or exists (select from public.kb_chunks k where k.id = any (chunk_ids))
    then
      raise lock_not_available;
    end if;
  exception when lock_not_available then
    perform internal.kb_lock();
  end;

  insert into public.kb_chunks (id, document_id, ordinal, content, meta, parts, blocks)
    select c.id, c.document_id, c.ordinal, c.content, coalesce(c.meta, '{}'), coalesce(c.parts, '[]'), c.blocks
      from jsonb_to_recordset(chunks)
        as c(id uuid, document_id uuid, ordinal integer, content text, meta jsonb, parts jsonb, blocks jsonb)
    on conflict (id) do nothing;
  get diagnostics new_count = row_count;
  existing_count := jsonb_array_length(chunks) - new_count;

  -- A full or partial repetition.
  if existing_count > 0 then
    update public.kb_chunks k
      set document_id = c.document_id,
          ordinal = coalesce(c.ordinal, k.ordinal),
          content = c.content,
          meta = coalesce(c.meta, '{}'),
          parts = coalesce(c.parts, '[]'),
          blocks = c.blocks,
          stale = false
      from jsonb_to_recordset(chunks)
        as c(id uuid, document_id uuid, ordinal integer, content text, meta jsonb, parts jsonb, blocks jsonb)
      where k.id = c.id
        and (k.document_id, k.ordinal, k.content, k.meta, k.parts, k.blocks, k.stale) is distinct from (
          c.document_id, coalesce(c.ordinal, k.ordinal), c.content, coalesce(c.meta, '{}'), coalesce(c.parts, '[]'), c.blocks, false
        );
    delete from public.kb_embeddings e where e.chunk_id = any (chunk_ids);
    delete from public.kb_headings h where h.chunk_id = any (chunk_ids);
    delete from public.kb_sentences s where s.chunk_id = any (chunk_ids);
  end if;

  -- No "on conflict do update": it fires the trigger that takes the lock even without a conflict.
  insert into public.kb_embeddings (chunk_id, embedding, model)
    select c.id, internal.kb_normalize_vector(c.embedding), c.model
      from jsonb_to_recordset(chunks) as c(id uuid, embedding extensions.vector(384), model text);

  insert into public.kb_headings (chunk_id, embedding)
    select c.id, internal.kb_normalize_vector(c.heading)
      from jsonb_to_recordset(chunks) as c(id uuid, heading extensions.vector(384))
      where c.heading is not null;

  insert into public.kb_sentences (chunk_id, ordinal, start, "end", embedding, kind, chain)
    select c.id, s.ordinality - 1, s.start, s."end", internal.kb_normalize_vector(s.embedding),
        s.kind, coalesce(s.chain, '{}')
      from jsonb_to_recordset(chunks) as c(id uuid, sentences jsonb)
      cross join lateral rows from (
        jsonb_to_recordset(c.sentences)
          as (start integer, "end" integer, embedding extensions.vector(384), kind text, chain smallint[])
      ) with ordinality as s(start, "end", embedding, kind, chain, ordinality);

  perform set_config('kb.writes_vectors', '', true);
end
$$;

comment on function public.kb_write_chunks is
  'Writes chunks with their vectors: [{"id": uuid, "document_id": uuid, "ordinal": 0, "content": '
  '"…", "meta": {"section": "…"}, "parts": […], "blocks": {"blocks": […]}, "embedding": '
  '"[1234,-567,…]", "model": "fingerprint", "heading": "[12,-5,…]", "sentences": [{"start": 0, '
  '"end": 20, "embedding": "[12,-5,…]", "kind": "sentence", "chain": [0, 2]}]}]. embedding: 384 '
  'numbers as text in brackets (or as a list, which is slower), of unit length or multiplied by '
  'one factor. Integers of at most 9 digits are parsed five times faster: the vector times 2^28, '
  'for headings and sentences times 2^17. ordinal, meta, parts, blocks, heading (the vector of the '
  'innermost heading), sentences, and the chain of a sentence are optional. Sentences are numbered '
  'in their order. Atomic and idempotent; overwrites existing chunks with their vectors, '
  'sentences, parts and blocks.';

-- Publication -------------------------------------------------------------

create function public.kb_publish_document(document_id uuid, storage_path text default null) returns jsonb
  language plpgsql set search_path = ''
  -- A long document has thousands of vectors to index. PostgREST applies this limit to the request.
  set statement_timeout = '10min'
as $$
#variable_conflict use_column
declare
  pending public.kb_documents;
  ready public.kb_documents;
  nearest record;
  chunk_count bigint;
  unembedded bigint;
begin
  -- One publisher at a time. Otherwise two publishers of one source could both find no ready document, and the second would
  -- fail on kb_documents_one_ready_per_source instead of replacing the first.
  perform internal.kb_lock();
  select * into pending from public.kb_documents d where d.id = kb_publish_document.document_id for update;
  if not found then
    raise exception 'document % does not exist', kb_publish_document.document_id;
  end if;
  if pending.status <> 'pending' then
    raise exception 'document % is %, only a pending document can be published', pending.id, pending.status;
  end if;

  select count(*), count(*) filter (where e.chunk_id is null)
    into chunk_count, unembedded
    from public.kb_chunks c
    left join public.kb_embeddings e on e.chunk_id = c.id
    where c.document_id = pending.id;
  if chunk_count = 0 then
    raise exception 'document % has no chunks', pending.id;
  end if;
  if unembedded > 0 then
    raise exception 'document % is incomplete: % of % chunks have no embedding', pending.id, unembedded, chunk_count;
  end if;

  pending.storage_path := coalesce(kb_publish_document.storage_path, pending.storage_path);
  delete from public.kb_documents d where d.source = pending.source and d.status = 'failed';
  select * into ready
    from public.kb_documents d
    where d.source = pending.source and d.status = 'ready'
    for update;

  -- While the source's audience is unchanged, the column keeps an edit made in the dashboard. Otherwise the source decides, but a
  -- source that no longer names an audience does not make the document public.
  pending.audience := case
    when ready.id is not null and pending.meta -> 'audience' is not distinct from ready.meta -> 'audience' then ready.audience
    else coalesce(pending.audience, ready.audience)
  end;
  pending.enabled := coalesce(ready.enabled, pending.enabled);

  -- What an administrator hid or restricted stays so under another name, as a copy, and as a new version of another document,
  -- unless its readers have a document that is as near.
  select d.source, d.enabled, d.audience, r.is_restricted,
      (select count(*) from unnest(pending.sketch) as s(hash) where s.hash = any (r.hashes)) as shared
    into nearest
    from public.kb_documents d
    cross join lateral (select internal.kb_is_restricted(d.enabled, d.audience, d.meta)) as i(is_restricted)
    cross join lateral (
      select i.is_restricted, case when i.is_restricted then d.sketch || d.former_sketch else d.sketch end
    ) as r(is_restricted, hashes)
    where d.status = 'ready' and r.hashes && pending.sketch
      -- What was restricted of this document itself has been taken over above, unless its source says otherwise now.
      and case when r.is_restricted then d.id is distinct from ready.id else d.audience is not distinct from pending.audience end
      -- Usually there is none, as an index knows. Many share a heading or a footer with a hidden one, and need no look at all others.
      and exists (
        select from public.kb_documents o
          where (o.sketch || o.former_sketch) && pending.sketch
            and internal.kb_is_restricted(o.enabled, o.audience, o.meta)
            and o.id is distinct from ready.id
            and 4 * (select count(*) from unnest(pending.sketch) as s(hash) where s.hash = any (o.sketch || o.former_sketch))
              >= cardinality(pending.sketch)
      )
    order by shared desc, is_restricted, d.enabled
    limit 1;
  if nearest.is_restricted and 4 * nearest.shared >= cardinality(pending.sketch) then
    -- Its own audience does not become another one: of two of which neither contains the other, nobody sees it.
    pending.enabled := pending.enabled and nearest.enabled
      and coalesce(nearest.audience <@ pending.audience or pending.audience <@ nearest.audience, true);
    if pending.audience is null or nearest.audience <@ pending.audience then
      pending.audience := nearest.audience;
    end if;
  else
    nearest.source := null;
  end if;
  if internal.kb_is_restricted(pending.enabled, pending.audience, pending.meta) then
    pending.former_sketch := (ready.sketch || ready.former_sketch)[:1000];
  end if;

  if ready.id is null then
    update public.kb_documents
      set status = 'ready', enabled = pending.enabled, audience = pending.audience, storage_path = pending.storage_path
      where id = pending.id;
  else
    -- The ready row is kept, so that its id in stored citations stays valid.
    delete from public.kb_chunks where document_id = ready.id;
    -- Before the chunks move, because they take over the language and the audience of this row.
    update public.kb_documents
      set name = pending.name,
          language = pending.language,
          enabled = pending.enabled,
          audience = pending.audience,
          content_hash = pending.content_hash,
          source_version = pending.source_version,
          written_hash = pending.written_hash,
          sketch = pending.sketch,
          former_sketch = coalesce(pending.former_sketch, '{}'),
          storage_path = pending.storage_path,
          meta = pending.meta,
          failure = null,
          failed_at = null,
          failed_version = null
      where id = ready.id;
    update public.kb_chunks set document_id = ready.id where document_id = pending.id;
    delete from public.kb_documents where id = pending.id;
  end if;
  return jsonb_build_object(
    'id', coalesce(ready.id, pending.id),
    'restricted_like', nullif(nearest.source, ready.source)
  );
end
$$;

comment on function public.kb_publish_document is
  'Makes a complete pending document the ready one of its source. Returns {id, restricted_like}: '
  'the id of the surviving row, and the source of a hidden or restricted document, or null. If at '
  'least a quarter of the text is that of such a document, and no other document of the same audience '
  'is as near, the new one gets its enabled and audience. An older ready document of that source '
  'keeps its id and enabled and takes over everything else. Its audience changes only under a '
  'condition: meta.audience contains the audience that the source names, if any. While that is '
  'unchanged, the older row keeps its audience. Otherwise the audience of the new version applies, '
  'if there is one. storage_path: file of the new version; defaults to the path in its row. Failed '
  'documents of that source are deleted.';

-- New vectors -------------------------------------------------------------

-- For chunks without vectors, or with vectors of another model or an older text.

create function public.kb_chunks_to_embed(
  model text,
  after uuid default null,
  count integer default 200,
  collection text default null
)
  returns table (
    chunk_id uuid,
    document_id uuid,
    source text,
    content text,
    section text,
    parts jsonb,
    sentences jsonb,
    reason text
  )
  language plpgsql stable set search_path = ''
  -- The best plan depends on how many chunks there are of a model.
  set plan_cache_mode = force_custom_plan
  -- In a large knowledge base, finding that all vectors are there takes seconds. PostgREST applies this limit to the request.
  set statement_timeout = '10min'
as $$
#variable_conflict use_column
begin
  if kb_chunks_to_embed.count is null or kb_chunks_to_embed.count not between 1 and 1000 then
    raise exception 'kb_chunks_to_embed needs a count from 1 to 1000' using errcode = 'invalid_parameter_value';
  end if;
  -- Each reason on its own, so that its index finds the usually few chunks without reading all of them.
  return query
  with missing as materialized (
    -- Only ids, which two indexes have: reading the tables takes minutes if they are not in memory.
    select c.id
      from public.kb_chunks c
      where not exists (select from public.kb_embeddings e where e.chunk_id = c.id)
        and (kb_chunks_to_embed.after is null or c.id > kb_chunks_to_embed.after)
  ),
  found as (
    (
      select c.id
        from public.kb_chunks c
        join public.kb_documents d on d.id = c.document_id and d.status = 'ready'
        where c.stale
          and (kb_chunks_to_embed.after is null or c.id > kb_chunks_to_embed.after)
          and (kb_chunks_to_embed.collection is null or d.collection = kb_chunks_to_embed.collection)
        order by c.id
        limit kb_chunks_to_embed.count
    )
    union
    (
      select c.id
        from missing
        join public.kb_chunks c on c.id = missing.id
        join public.kb_documents d on d.id = c.document_id and d.status = 'ready'
        where kb_chunks_to_embed.collection is null or d.collection = kb_chunks_to_embed.collection
        order by c.id
        limit kb_chunks_to_embed.count
    )
    union
    (
      select e.chunk_id
        from public.kb_embeddings e
        join public.kb_chunks c on c.id = e.chunk_id
        join public.kb_documents d on d.id = c.document_id and d.status = 'ready'
        -- Two ranges of the index; it does not serve <>.
        where (e.model < kb_chunks_to_embed.model or e.model > kb_chunks_to_embed.model)
          and (kb_chunks_to_embed.after is null or e.chunk_id > kb_chunks_to_embed.after)
          and (kb_chunks_to_embed.collection is null or d.collection = kb_chunks_to_embed.collection)
        order by e.chunk_id
        limit kb_chunks_to_embed.count
    )
  )
  select c.id, d.id, d.source, c.content, c.meta ->> 'section', c.parts,
      coalesce(
        (
          select jsonb_agg(
              jsonb_build_object('start', s.start, 'end', s."end", 'kind', s.kind, 'chain', s.chain) order by s.ordinal
            )
            from public.kb_sentences s
            where s.chunk_id = c.id
        ),
        -- An edit empties blocks.
        case when c.blocks is not null then jsonb '[]' end
      ),
      case when e.chunk_id is null then 'missing' when c.stale then 'stale' else 'model' end
    from found
    join public.kb_chunks c on c.id = found.id
    join public.kb_documents d on d.id = c.document_id
    left join public.kb_embeddings e on e.chunk_id = c.id
    order by c.id
    limit kb_chunks_to_embed.count;
end
$$;

comment on function public.kb_chunks_to_embed is
  'Chunks of ready documents, in all collections or in one, that need new vectors: at most count '
  'of them after the id `after`, ordered by chunk_id. sentences: {start, end, kind, chain} in '
  'order, as in kb_sentences; null if the text must be read again. reason: missing (there is no '
  'vector), stale (the text was edited), model (the vector is from another model; not reported if '
  'model is null).';

create function internal.kb_text_hash(content text, meta jsonb, parts jsonb) returns text
  language sql immutable
  return md5(internal.kb_chunk_text(content, meta, parts));

comment on function internal.kb_text_hash is
  'Identifies the text that the vectors of a chunk are made from: md5 in hexadecimal of '
  'internal.kb_chunk_text in UTF-8.';

grant execute on function internal.kb_text_hash to service_role;

create function public.kb_write_vectors(vectors jsonb) returns setof uuid
  language plpgsql set search_path = ''
  set statement_timeout = '10min'
as $$
declare
  written uuid[];
begin
  -- Chunks cannot be edited, moved or deleted from here on.
  perform internal.kb_lock();
  written := array(
    select c.id
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, text_hash text)
      join public.kb_chunks c on c.id = v.chunk_id
      where internal.kb_text_hash(c.content, c.meta, c.parts) = v.text_hash
      order by c.id
  );

  insert into public.kb_embeddings (chunk_id, embedding, model)
    select v.chunk_id, internal.kb_normalize_vector(v.embedding), v.model
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, embedding extensions.vector(384), model text)
      where v.chunk_id = any (written)
    on conflict (chunk_id) do update set embedding = excluded.embedding, model = excluded.model;

  delete from public.kb_headings h where h.chunk_id = any (written);
  insert into public.kb_headings (chunk_id, embedding)
    select v.chunk_id, internal.kb_normalize_vector(v.heading)
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, heading extensions.vector(384))
      where v.chunk_id = any (written) and v.heading is not null;

  delete from public.kb_sentences s where s.chunk_id = any (written);
  insert into public.kb_sentences (chunk_id, ordinal, start, "end", embedding, kind, chain)
    select v.chunk_id, s.ordinality - 1, s.start, s."end", internal.kb_normalize_vector(s.embedding),
        s.kind, coalesce(s.chain, '{}')
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, sentences jsonb)
      cross join lateral rows from (
        jsonb_to_recordset(v.sentences)
          as (start integer, "end" integer, embedding extensions.vector(384), kind text, chain smallint[])
      ) with ordinality as s(start, "end", embedding, kind, chain, ordinality)
      where v.chunk_id = any (written);

  -- Last, so that the index never contains the old vector.
  perform set_config('kb.writes_vectors', 'on', true);
  update public.kb_chunks c
    set stale = false, parts = coalesce(v.parts, c.parts), blocks = coalesce(v.blocks, c.blocks)
    from jsonb_to_recordset(vectors) as v(chunk_id uuid, parts jsonb, blocks jsonb)
    where c.id = v.chunk_id and c.id = any (written)
      and (c.stale or (coalesce(v.parts, c.parts), coalesce(v.blocks, c.blocks)) is distinct from (c.parts, c.blocks));
  perform set_config('kb.writes_vectors', '', true);

  return query select unnest(written);
end
$$;

comment on function public.kb_write_vectors is
  'Replaces the vectors of chunks, their headings and their sentences, and clears stale: '
  '[{"chunk_id": uuid, "text_hash": "…", "embedding": "[1234,…]", "model": "fingerprint", '
  '"heading": "[12,…]", "parts": […], "blocks": {"blocks": […]}, "sentences": [{"start": 0, "end": '
  '20, "embedding": "[12,…]", "kind": "sentence", "chain": [0, 2]}]}]. Embeddings as for '
  'kb_write_chunks; what is optional there is optional here, but parts and blocks that are not '
  'given stay. text_hash: md5 in hexadecimal of section (empty if there is none), newline, the '
  'text of each stored part with is_above with a newline after it, and content in UTF-8. Skips '
  'chunks that were edited or deleted meanwhile. Returns the ids of the chunks that were written.';

-- Visibility and deletion -------------------------------------------------

create function public.kb_set_enabled(ids uuid[], enabled boolean) returns setof uuid
  language sql set search_path = ''
  -- As for kb_delete_documents: the search columns of each chunk and vector change.
  set statement_timeout = '10min'
as $$
  update public.kb_documents d set enabled = kb_set_enabled.enabled where d.id = any (ids) returning d.id
$$;

comment on function public.kb_set_enabled is
  'Shows or hides documents. Returns the ids of those that exist.';

create function public.kb_delete_documents(ids uuid[], keep_restricted boolean default false) returns setof uuid
  language plpgsql set search_path = ''
  -- Deleting a long document deletes thousands of chunks. PostgREST applies this limit to the request.
  set statement_timeout = '10min'
as $$
begin
  perform internal.kb_lock();
  delete from public.kb_documents d
    where d.id = any (ids)
      and not (keep_restricted and d.status = 'ready' and internal.kb_is_restricted(d.enabled, d.audience, d.meta));
  return query select d.id from public.kb_documents d where d.id = any (ids);
end
$$;

comment on function public.kb_delete_documents is
  'Deletes documents with their chunks and vectors, with keep_restricted only those that nobody '
  'has hidden or restricted. Returns the ids of the documents that stay.';

create function public.kb_note_failure(source text, name text, failure text, version text default null) returns void
  language plpgsql set search_path = ''
as $$
#variable_conflict use_column
begin
  perform internal.kb_lock();
  update public.kb_documents d
    set failure = kb_note_failure.failure,
        failed_version = kb_note_failure.version,
        failed_at = coalesce(d.failed_at, clock_timestamp())
    where d.source = kb_note_failure.source and d.status in ('ready', 'failed');
  if not found then
    insert into public.kb_documents (source, name, status, failure, failed_version, failed_at)
      values (kb_note_failure.source, kb_note_failure.name, 'failed', kb_note_failure.failure, kb_note_failure.version, clock_timestamp());
  end if;
end
$$;

comment on function public.kb_note_failure is
  'Notes that the newest version of a document cannot be read, in its ready row, or else in one '
  'whose status is failed. version: content_hash or source_version, if the same content could not '
  'be read another time either.';

-- One kb sync at a time for each collection -------------------------------

create table public.kb_syncs (
  collection text primary key
    constraint kb_syncs_collection_is_one_path_segment check (collection ~ '\S' and collection !~ '/'),
  run_id uuid not null,
  started_at timestamptz not null default now(),
  renewed_at timestamptz not null default now(),
  finished_at timestamptz,
  host text,
  summary jsonb
    constraint kb_syncs_summary_is_object check (jsonb_typeof(summary) = 'object'),
  settings jsonb
    constraint kb_syncs_settings_is_object check (jsonb_typeof(settings) = 'object'),
  failure text,
  succeeded_on date[] not null default '{}'
);

comment on table public.kb_syncs is
  'The last run of kb sync for each collection. An active run renews its row; one that has not done so for a minute is dead.';
comment on column public.kb_syncs.collection is 'The collection, as in kb_documents.collection.';
comment on column public.kb_syncs.run_id is 'The run that has the lease of the collection, or had it last.';
comment on column public.kb_syncs.started_at is 'When the run began.';
comment on column public.kb_syncs.renewed_at is 'When the run last renewed its lease.';
comment on column public.kb_syncs.finished_at is
  'When the run ended. Empty (NULL) while it is active, or if it was interrupted.';
comment on column public.kb_syncs.host is 'The computer that runs it.';
comment on column public.kb_syncs.summary is
  'Numbers of documents (added, changed, moved, removed, unchanged, skipped, failed), of chunks and sentences written, and of '
  'chunks reembedded, under these names. {} if the run ended with an error. Empty (NULL) before its end.';
comment on column public.kb_syncs.settings is
  'What the collection is made from, as the last run had it: {source, place, language, audience, originals}. A run with others '
  'needs --change-settings.';
comment on column public.kb_syncs.failure is 'Why the last run that ended did nothing or was stopped. Empty (NULL) if it came to its end.';
comment on column public.kb_syncs.succeeded_on is 'The last four days (UTC) on which a run came to its end.';

revoke all on public.kb_syncs from public, anon, authenticated;
grant all on public.kb_syncs to service_role;
alter table public.kb_syncs enable row level security;

create function public.kb_begin_sync(collection text, run_id uuid, host text default null) returns jsonb
  language plpgsql set search_path = ''
as $$
#variable_conflict use_column
declare
  lease_duration constant interval := interval '60 seconds';
  -- Not now(): the transaction may have waited for another one.
  checked_at timestamptz;
  holder public.kb_syncs;
begin
  insert into public.kb_syncs (collection, run_id, host)
    values (kb_begin_sync.collection, kb_begin_sync.run_id, kb_begin_sync.host)
    on conflict (collection) do nothing;
  select * into holder from public.kb_syncs s where s.collection = kb_begin_sync.collection for update;
  checked_at := clock_timestamp();
  if holder.run_id = kb_begin_sync.run_id or holder.finished_at is not null or holder.renewed_at < checked_at - lease_duration then
    update public.kb_syncs s
      set run_id = kb_begin_sync.run_id,
          host = kb_begin_sync.host,
          started_at = case
            when holder.run_id = kb_begin_sync.run_id and holder.finished_at is null then s.started_at
            else checked_at
          end,
          renewed_at = checked_at,
          finished_at = null,
          summary = null
      where s.collection = kb_begin_sync.collection
      returning * into holder;
  end if;
  return jsonb_build_object(
    -- Null if the row was deleted concurrently.
    'acquired', coalesce(holder.run_id = kb_begin_sync.run_id, false),
    'run_id', holder.run_id,
    'host', holder.host,
    'started_at', holder.started_at,
    'renewed_at', holder.renewed_at,
    'settings', holder.settings
  );
end
$$;

comment on function public.kb_begin_sync is
  'Takes the lease of a collection for a run, unless another run has it and renewed it within 60 '
  'seconds. Returns {acquired, run_id, host, started_at, renewed_at, settings} of the run that has '
  'the lease now. Idempotent for the same run.';

create function public.kb_renew_sync(collection text, run_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
#variable_conflict use_column
begin
  update public.kb_syncs s
    set renewed_at = clock_timestamp()
    where s.collection = kb_renew_sync.collection and s.run_id = kb_renew_sync.run_id and s.finished_at is null;
  return found;
end
$$;

comment on function public.kb_renew_sync is
  'Renews the lease of a run. False: another run has taken the collection, and this one must stop.';

create function public.kb_end_sync(collection text, run_id uuid, summary jsonb default null, failure text default null)
  returns boolean
  language plpgsql set search_path = ''
as $$
#variable_conflict use_column
declare
  today constant date := (clock_timestamp() at time zone 'UTC')::date;
  ended public.kb_syncs;
begin
  update public.kb_syncs s
    set finished_at = clock_timestamp(),
        renewed_at = clock_timestamp(),
        summary = kb_end_sync.summary,
        failure = kb_end_sync.failure,
        succeeded_on = case
          when kb_end_sync.failure is null and today <> all (s.succeeded_on)
            then (s.succeeded_on || today)[greatest(cardinality(s.succeeded_on) - 2, 1):]
          else s.succeeded_on
        end
    where s.collection = kb_end_sync.collection and s.run_id = kb_end_sync.run_id and s.finished_at is null
    returning * into ended;
  -- A typing error is no collection.
  delete from public.kb_syncs s
    where s.collection = ended.collection and ended.failure is not null and ended.succeeded_on = '{}'
      and not exists (select from public.kb_documents d where d.collection = ended.collection);
  return ended.collection is not null;
end
$$;

comment on function public.kb_end_sync is
  'Releases the lease of a collection and stores the summary of the run, and why it failed, if it '
  'did. If it was the first and the collection is empty, nothing is stored. False: another run has '
  'taken it meanwhile.';

create view public.kb_troubles
  with (security_invoker = true)
as
with noted as (
  select d.collection, count(*) as documents from public.kb_documents d where d.failure is not null group by d.collection
), run as (
  select s.*,
      s.succeeded_on[cardinality(s.succeeded_on)] as last_day,
      (s.succeeded_on[cardinality(s.succeeded_on)] - s.succeeded_on[1])::numeric / nullif(cardinality(s.succeeded_on) - 1, 0) as usual_days
    from public.kb_syncs s
    where exists (select from public.kb_documents d where d.collection = s.collection)
)
select d.collection, d.source, d.failure as reason, d.failed_at as since
  from public.kb_documents d
  where d.failure is not null
union all
select r.collection, r.collection, 'the last sync failed: ' || r.failure, coalesce(r.last_day::timestamp at time zone 'UTC', r.finished_at)
  from run r
  where r.finished_at is not null and r.failure is not null
union all
select r.collection, r.collection, 'the last sync was interrupted', r.renewed_at
  from run r
  where r.finished_at is null and r.renewed_at < now() - interval '1 minute'
union all
select r.collection, r.collection, format('the last sync left out %s; run it again to see why', (r.summary ->> 'failed')::bigint - coalesce(n.documents, 0)),
    r.finished_at
  from run r
  left join noted n on n.collection = r.collection
  where (r.summary ->> 'failed')::bigint > coalesce(n.documents, 0)
union all
select r.collection, r.collection,
    format('was synced about every %s before', case round(r.usual_days) when 1 then 'day' else round(r.usual_days) || ' days' end),
    r.last_day::timestamp at time zone 'UTC'
  from run r
  -- Three days or more, so that a collection that was synced by hand on two days has no rhythm.
  where cardinality(r.succeeded_on) > 2
    -- A few days of setting up are no rhythm yet.
    and (now() at time zone 'UTC')::date - r.last_day > greatest(2 * r.usual_days + 1, 7);

comment on view public.kb_troubles is
  'Documents whose newest version cannot be read, and collections whose last sync failed, was interrupted, left something out or is '
  'much longer ago than usual.';
comment on column public.kb_troubles.collection is 'The collection.';
comment on column public.kb_troubles.source is 'The document, or the collection.';
comment on column public.kb_troubles.reason is 'What is wrong.';
comment on column public.kb_troubles.since is 'Since when; for a sync that failed, the day of the last one that did not.';

revoke all on public.kb_troubles from public, anon, authenticated;
grant select on public.kb_troubles to service_role;

-- kb watch ----------------------------------------------------------------

create table public.kb_watches (
  sources text primary key
    constraint kb_watches_sources_size check (octet_length(sources) between 1 and 2000),
  host text,
  interval_seconds integer
    constraint kb_watches_interval_is_positive check (interval_seconds > 0),
  seen_at timestamptz not null default now(),
  finished_at timestamptz,
  failure text
    constraint kb_watches_failure_length check (length(failure) <= 1000),
  stopped_at timestamptz
);

comment on table public.kb_watches is
  'Runs of kb watch, one for each set of sources. Delete a row to make kb doctor forget one that is not used any more.';
comment on column public.kb_watches.sources is 'What it syncs, as on its command line, separated by ", ".';
comment on column public.kb_watches.host is 'The computer that runs it.';
comment on column public.kb_watches.interval_seconds is
  'Pause between two rounds. Empty (NULL) if it runs once, started by something else.';
comment on column public.kb_watches.seen_at is 'When it last reported, which it does every minute while it runs.';
comment on column public.kb_watches.finished_at is 'End of its last round. Empty (NULL) before the first.';
comment on column public.kb_watches.failure is 'Why the last round failed. Empty (NULL) if it did not.';
comment on column public.kb_watches.stopped_at is 'When it was stopped. Empty (NULL) while it runs, or if it was killed.';

revoke all on public.kb_watches from public, anon, authenticated;
grant all on public.kb_watches to service_role;
alter table public.kb_watches enable row level security;

create function public.kb_report_watch(
  sources text,
  event text,
  host text default null,
  interval_seconds integer default null,
  failure text default null
)
  returns void
  language plpgsql set search_path = ''
as $$
#variable_conflict use_column
declare
  reported_at constant timestamptz := clock_timestamp();
begin
  if kb_report_watch.event is null or kb_report_watch.event not in ('running', 'finished', 'stopped') then
    raise exception 'event must be running, finished or stopped' using errcode = 'invalid_parameter_value';
  end if;
  insert into public.kb_watches as w (sources, host, interval_seconds, seen_at, finished_at, failure, stopped_at)
    values (
      kb_report_watch.sources, kb_report_watch.host, kb_report_watch.interval_seconds, reported_at,
      case when kb_report_watch.event = 'finished' then reported_at end,
      case when kb_report_watch.event = 'finished' then left(kb_report_watch.failure, 1000) end,
      case when kb_report_watch.event = 'stopped' then reported_at end
    )
    on conflict (sources) do update set
      host = excluded.host,
      interval_seconds = excluded.interval_seconds,
      seen_at = excluded.seen_at,
      finished_at = coalesce(excluded.finished_at, w.finished_at),
      failure = case when kb_report_watch.event = 'finished' then excluded.failure else w.failure end,
      stopped_at = excluded.stopped_at;
end
$$;

comment on function public.kb_report_watch is
  'Records that a kb watch is running (also between rounds), finished a round, with its failure if '
  'there was one, or was stopped.';

-- Rights ------------------------------------------------------------------

revoke all on function
  public.kb_write_chunks, public.kb_publish_document, public.kb_chunks_to_embed,
  public.kb_write_vectors, public.kb_set_enabled, public.kb_delete_documents,
  public.kb_note_failure, public.kb_begin_sync, public.kb_renew_sync, public.kb_end_sync,
  public.kb_report_watch
  from public, anon, authenticated;
grant execute on function
  public.kb_write_chunks, public.kb_publish_document, public.kb_chunks_to_embed,
  public.kb_write_vectors, public.kb_set_enabled, public.kb_delete_documents,
  public.kb_note_failure, public.kb_begin_sync, public.kb_renew_sync, public.kb_end_sync,
  public.kb_report_watch
  to service_role;
