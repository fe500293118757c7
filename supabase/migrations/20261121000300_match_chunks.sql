-- The one way in for a search.

create function public.match_chunks(
  query_embedding extensions.vector(384),
  match_count integer default 5,
  match_threshold double precision default 0.35,
  query_text text default null
) returns table (
  chunk_id uuid,
  document_id uuid,
  document_name text,
  document_meta jsonb,
  ordinal integer,
  content text,
  meta jsonb,
  model text,
  similarity double precision
)
  language plpgsql
  stable
  security invoker
  set search_path = ''
  -- A generic plan does not know the LIMIT and may give up the vector index.
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  -- Up to this many vectors are compared one by one, which takes a few milliseconds and misses nothing.
  exact_limit constant integer := 2000;
  is_small boolean;
begin
  if query_embedding is null or extensions.vector_dims(query_embedding) <> 384 then
    raise exception 'query_embedding must have 384 dimensions, got %',
      coalesce(extensions.vector_dims(query_embedding)::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  if match_count is null or match_count not between 1 and 100 then
    raise exception 'match_count must be between 1 and 100, got %', coalesce(match_count::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  if match_threshold is null or match_threshold not between -1 and 1 then
    raise exception 'match_threshold must be between -1 and 1, got %', coalesce(match_threshold::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;

  -- Set here and not in the header: attaching pgvector's settings to a function takes a superuser, which hosted
  -- Supabase does not give. Iterative scan goes on while a candidate's row turns out to be gone or hidden.
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  perform set_config('hnsw.ef_search', greatest(200, 4 * match_count)::text, true);

  -- HNSW is approximate: a vector far from most others, or surrounded by ones deleted since the last vacuum, can be
  -- out of its reach. With plain index scans off, the planner sorts all distances instead.
  select count(*) <= exact_limit into is_small
    from (select from public.kb_embeddings e where e.searchable limit exact_limit + 1) probe;
  perform set_config('enable_indexscan', case when is_small then 'off' else 'on' end, true);

  return query
  -- Only this exact shape, ORDER BY distance LIMIT n, can use the vector index, so the threshold waits outside.
  with nearest as materialized (
    select
      c.id as chunk_id,
      d.id as document_id,
      d.name as document_name,
      d.meta as document_meta,
      c.ordinal,
      c.content,
      c.meta,
      e.model,
      1 - (e.embedding operator(extensions.<=>) query_embedding) as similarity
    from public.kb_embeddings e
    join public.kb_chunks c on c.id = e.chunk_id
    join public.kb_documents d on d.id = c.document_id
    -- The first condition selects the partial index; the others are the truth it copies, and are repeated from the
    -- policies because the service role bypasses them.
    where e.searchable and d.status = 'ready' and d.enabled
    order by e.embedding operator(extensions.<=>) query_embedding
    limit match_count
  )
  select
    n.chunk_id, n.document_id, n.document_name, n.document_meta,
    n.ordinal, n.content, n.meta, n.model, n.similarity
  from nearest n
  where n.similarity >= match_threshold
  order by n.similarity desc, n.chunk_id;

  perform set_config('enable_indexscan', 'on', true);
end
$$;

comment on function public.match_chunks(extensions.vector, integer, double precision, text) is
  'The chunks most similar to query_embedding (cosine), best first, from ready and enabled documents only. '
  'match_threshold is inclusive and compares with the similarity that is returned. '
  'query_text is accepted and reserved for ranking that also looks at words.';

revoke all on function public.match_chunks(extensions.vector, integer, double precision, text) from public, anon;
grant execute on function public.match_chunks(extensions.vector, integer, double precision, text)
  to authenticated, service_role;
