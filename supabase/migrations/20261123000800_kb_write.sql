-- Writing many chunks at once, new vectors for chunks that have none, old ones or those of another text, and deleting many
-- documents.

create function internal.kb_text_hash(content text, meta jsonb) returns text
  language sql
  immutable
  return md5(coalesce(meta ->> 'section', '') || E'\n' || content);

comment on function internal.kb_text_hash(text, jsonb) is
  'Tells the text that a chunk''s vectors are made of: md5 in hexadecimal of section, newline and content in UTF-8.';

revoke all on function internal.kb_text_hash(text, jsonb) from public;
grant execute on function internal.kb_text_hash(text, jsonb) to service_role;

-- Bound when it is made and without a search_path of its own, so that it is inlined where it is called.
create function internal.kb_unit_vector(numbers extensions.vector) returns extensions.vector
  language sql
  immutable
  -- What has unit length keeps its bits.
  return case when extensions.vector_norm(numbers) > 1.5 then extensions.l2_normalize(numbers) else numbers end;

comment on function internal.kb_unit_vector(extensions.vector) is
  'A vector that may have been multiplied by anything, of unit length.';
revoke all on function internal.kb_unit_vector(extensions.vector) from public;
grant execute on function internal.kb_unit_vector(extensions.vector) to service_role;

-- New chunks --------------------------------------------------------------

create function public.kb_write_chunks(chunks jsonb) returns void
  language plpgsql
  security invoker
  set search_path = ''
  set statement_timeout = '10min'
as $$
declare
  document_ids constant uuid[] := array(
    select distinct c.document_id from jsonb_to_recordset(chunks) as c(document_id uuid)
  );
  new_count bigint;
  known_count bigint;
begin
  perform set_config('kb.writes_vectors', 'on', true);

  -- New chunks of documents that nobody sees yet need no more than that those stay as they are. Everything else takes
  -- the lock, and before it has any document; the block gives those free that it has.
  begin
    perform from public.kb_documents d where d.id = any (document_ids) for share nowait;
    if exists (select from public.kb_documents d where d.id = any (document_ids) and d.status = 'ready')
      or exists (
        select from public.kb_chunks k join jsonb_to_recordset(chunks) as c(id uuid) on k.id = c.id
      )
    then
      raise lock_not_available;
    end if;
  exception when lock_not_available then
    perform internal.kb_lock();
  end;

  insert into public.kb_chunks (id, document_id, ordinal, content, meta)
    select c.id, c.document_id, c.ordinal, c.content, coalesce(c.meta, '{}')
      from jsonb_to_recordset(chunks) as c(id uuid, document_id uuid, ordinal integer, content text, meta jsonb)
    on conflict (id) do nothing;
  get diagnostics new_count = row_count;
  known_count := jsonb_array_length(chunks) - new_count;

  -- A repetition, all of it or in part.
  if known_count > 0 then
    update public.kb_chunks k
      set document_id = c.document_id,
          ordinal = coalesce(c.ordinal, k.ordinal),
          content = c.content,
          meta = coalesce(c.meta, '{}'),
          stale = false
      from jsonb_to_recordset(chunks) as c(id uuid, document_id uuid, ordinal integer, content text, meta jsonb)
      where k.id = c.id
        and (k.document_id, k.ordinal, k.content, k.meta, k.stale)
          is distinct from (c.document_id, coalesce(c.ordinal, k.ordinal), c.content, coalesce(c.meta, '{}'), false);
    delete from public.kb_embeddings e
      using jsonb_to_recordset(chunks) as c(id uuid)
      where e.chunk_id = c.id;
    delete from public.kb_sentences s
      using jsonb_to_recordset(chunks) as c(id uuid)
      where s.chunk_id = c.id;
  end if;

  -- No "on conflict do update", which takes the lock even where there is no conflict.
  insert into public.kb_embeddings (chunk_id, embedding, model)
    select c.id, internal.kb_unit_vector(c.embedding), c.model
      from jsonb_to_recordset(chunks) as c(id uuid, embedding extensions.vector(384), model text);

  insert into public.kb_sentences (chunk_id, ordinal, start, "end", embedding)
    select c.id, s.place - 1, s.start, s."end", internal.kb_unit_vector(s.embedding)
      from jsonb_to_recordset(chunks) as c(id uuid, sentences jsonb)
      cross join lateral rows from (
        jsonb_to_recordset(c.sentences) as (start integer, "end" integer, embedding extensions.vector(384))
      ) with ordinality as s(start, "end", embedding, place);

  perform set_config('kb.writes_vectors', '', true);
end
$$;

comment on function public.kb_write_chunks(jsonb) is
  'Writes chunks with their vectors: [{"id": uuid, "document_id": uuid, "ordinal": 0, "content": "…", "meta": {"section": '
  '"…"}, "embedding": "[1234,-567,…]", "model": "fingerprint", "sentences": [{"start": 0, "end": 20, "embedding": '
  '"[12,-5,…]"}]}]. embedding: 384 numbers as text in brackets (or as a list, which is slower), of unit length or '
  'multiplied by any one number. Whole numbers of at most 9 digits are read five times faster: the vector times 2^28, '
  'for sentences times 2^17. ordinal, meta and sentences may be left out. '
  'Sentences are numbered in their order. All of it or nothing; repeated, it changes nothing, and chunks that exist are '
  'overwritten with their vectors and sentences.';

revoke all on function public.kb_write_chunks(jsonb) from public, anon, authenticated;
grant execute on function public.kb_write_chunks(jsonb) to service_role;

-- New vectors -------------------------------------------------------------

create function public.kb_chunks_to_embed(
  model text,
  after uuid default null,
  count integer default 200,
  collection text default null
)
  returns table (chunk_id uuid, document_id uuid, source text, content text, section text, reason text)
  language plpgsql
  stable
  security invoker
  set search_path = ''
as $$
#variable_conflict use_column
begin
  if kb_chunks_to_embed.count is null or kb_chunks_to_embed.count not between 1 and 1000 then
    raise exception 'kb_chunks_to_embed needs a count from 1 to 1000' using errcode = 'invalid_parameter_value';
  end if;
  return query
  select c.id, d.id, d.source, c.content, c.meta ->> 'section',
      case when e.chunk_id is null then 'missing' when c.stale then 'stale' else 'model' end
    from public.kb_chunks c
    join public.kb_documents d on d.id = c.document_id
    left join public.kb_embeddings e on e.chunk_id = c.id
    where d.status = 'ready'
      and (kb_chunks_to_embed.collection is null or d.collection = kb_chunks_to_embed.collection)
      and (kb_chunks_to_embed.after is null or c.id > kb_chunks_to_embed.after)
      and (e.chunk_id is null or c.stale or e.model <> kb_chunks_to_embed.model)
    order by c.id
    limit kb_chunks_to_embed.count;
end
$$;

comment on function public.kb_chunks_to_embed(text, uuid, integer, text) is
  'Chunks of ready documents, of all collections or of one, whose vectors are to be made anew, ordered by chunk_id, at '
  'most count of them behind `after`. '
  'reason: missing (there is no vector), stale (the text was edited), model (the vector is another model''s); without a '
  'model the last are left out.';

revoke all on function public.kb_chunks_to_embed(text, uuid, integer, text) from public, anon, authenticated;
grant execute on function public.kb_chunks_to_embed(text, uuid, integer, text) to service_role;

create function public.kb_write_vectors(vectors jsonb) returns setof uuid
  language plpgsql
  security invoker
  set search_path = ''
  set statement_timeout = '10min'
as $$
declare
  written uuid[];
begin
  -- From here on nobody edits, moves or deletes a chunk.
  perform internal.kb_lock();
  written := array(
    select c.id
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, text_hash text)
      join public.kb_chunks c on c.id = v.chunk_id
      where internal.kb_text_hash(c.content, c.meta) = v.text_hash
      order by c.id
  );

  insert into public.kb_embeddings (chunk_id, embedding, model)
    select v.chunk_id, internal.kb_unit_vector(v.embedding), v.model
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, embedding extensions.vector(384), model text)
      where v.chunk_id = any (written)
    on conflict (chunk_id) do update set embedding = excluded.embedding, model = excluded.model;

  delete from public.kb_sentences s where s.chunk_id = any (written);
  insert into public.kb_sentences (chunk_id, ordinal, start, "end", embedding)
    select v.chunk_id, s.place - 1, s.start, s."end", internal.kb_unit_vector(s.embedding)
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, sentences jsonb)
      cross join lateral rows from (
        jsonb_to_recordset(v.sentences) as (start integer, "end" integer, embedding extensions.vector(384))
      ) with ordinality as s(start, "end", embedding, place)
      where v.chunk_id = any (written);

  -- Last, so that the new vector and never the old one enters the index.
  perform set_config('kb.writes_vectors', 'on', true);
  update public.kb_chunks c set stale = false where c.id = any (written) and c.stale;
  perform set_config('kb.writes_vectors', '', true);

  return query select unnest(written);
end
$$;

comment on function public.kb_write_vectors(jsonb) is
  'Replaces the vectors of chunks, and their sentences, which are no longer stale then: [{"chunk_id": uuid, "text_hash": '
  '"…", "embedding": "[1234,…]", "model": "fingerprint", "sentences": [{"start": 0, "end": 20, "embedding": "[12,…]"}]}]. '
  'Embeddings as for kb_write_chunks; text_hash: md5 in hexadecimal of section (empty if there is none), newline and '
  'content in UTF-8. Returns the chunks '
  'that were written; one whose text is another by now, or that is gone, is left alone.';

revoke all on function public.kb_write_vectors(jsonb) from public, anon, authenticated;
grant execute on function public.kb_write_vectors(jsonb) to service_role;

-- Deletion ----------------------------------------------------------------

create function public.kb_delete_documents(ids uuid[]) returns integer
  language plpgsql
  security invoker
  set search_path = ''
  -- A long document takes thousands of chunks along; PostgREST takes the limit from here.
  set statement_timeout = '10min'
as $$
declare
  deleted integer;
begin
  perform internal.kb_lock();
  delete from public.kb_documents d where d.id = any (ids);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

comment on function public.kb_delete_documents(uuid[]) is
  'Deletes documents with their chunks and vectors, however many those are, and returns how many documents there were.';

revoke all on function public.kb_delete_documents(uuid[]) from public, anon, authenticated;
grant execute on function public.kb_delete_documents(uuid[]) to service_role;
