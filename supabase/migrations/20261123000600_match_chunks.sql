-- match_chunks with audiences. Row level security decides on every row that leaves it, as before. The helpers, which
-- see everything, are told the caller's audiences, so that chunks of others do not take the place of the caller's own.

-- Who finds what ----------------------------------------------------------

-- Bound when it is made and without a search_path of its own, so that it is inlined where it is called.
create function internal.kb_finds(audiences text[], searchable boolean, audience text[]) returns boolean
  language sql
  immutable
  return searchable or (audience is not null and (audiences is null or audience && audiences));

comment on function internal.kb_finds(text[], boolean, text[]) is
  'Whether a chunk is found by somebody in these audiences; null finds what anybody finds.';

-- Words -------------------------------------------------------------------

create function internal.kb_restricted_chunks_with_words(
  queries tsquery[],
  audiences text[],
  chunk_budget integer
) returns uuid[]
  language plpgsql
  stable
  security definer
  set search_path = ''
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
declare
  -- Nobody counts which words are rare here, so each gets its part of the budget: the chunks with a common one, of
  -- which some are as good as others, cannot use up that of a rare one.
  word_budget constant integer := greatest(10, chunk_budget / greatest(1, cardinality(queries)));
begin
  perform from public.kb_documents d where d.audience is not null limit 1;
  if not found then
    return '{}';
  end if;
  -- Two statements, because an index on the audience is of use to one of them only.
  if audiences is null then
    return array(
      select distinct f.id
        from unnest(queries) as q(query)
        cross join lateral (
          select c.id from public.kb_chunks c where c.audience is not null and c.fts @@ q.query limit word_budget
        ) f
    );
  end if;
  return array(
    select distinct f.id
      from unnest(queries) as q(query)
      cross join lateral (
        select c.id
          from public.kb_chunks c
          where c.audience is not null and c.audience && audiences and c.fts @@ q.query
          limit word_budget
      ) f
  );
end
$$;

comment on function internal.kb_restricted_chunks_with_words(tsquery[], text[], integer) is
  'Of the chunks for an audience, some with each word of a question; only what is found in these audiences.';

create function internal.kb_search_words(
  question internal.kb_question,
  nearest uuid[],
  audiences text[],
  chunk_budget integer
) returns table (chunk_id uuid, lexical double precision)
  language plpgsql
  stable
  security definer
  set search_path = ''
  -- The plan does not depend on the question, because only the indexes on fts find chunks by words in bounded time.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  best_count constant integer := 50;
  languages text[] := question.languages;
  queries tsquery[] := question.queries;
  shares double precision[] := question.shares;
  rare tsquery := question.rare;
  restricted constant uuid[] :=
    internal.kb_restricted_chunks_with_words(question.queries, audiences, chunk_budget);
begin
  return query
  select r.id, max(r.lexical)
    from (
      select c.id, coalesce((
          -- ts_rank of a single lexeme is a saturating function of its frequency, near BM25's with k1 = 0.6. Of several
          -- lexemes it is their plain mean, so each is asked for alone and weighed here. It reads fts and needs neither
          -- the text nor a count of words.
          select sum(t.share * ts_rank('{1, 1, 1, 1}', c.fts, t.query))
            from unnest(languages, queries, shares) as t(language, query, share)
            where t.language = c.language
        ), 0) as lexical
        from (
          (
            select c.id, c.language, c.fts, false as is_near
              from public.kb_chunks c
              where c.searchable and c.fts @@ rare
              limit chunk_budget
          )
          union all
          select c.id, c.language, c.fts, false
            from public.kb_chunks c
            where c.id = any (restricted)
          union all
          select c.id, c.language, c.fts, true
            from public.kb_chunks c
            where c.id = any (nearest) and internal.kb_finds(audiences, c.searchable, c.audience)
        ) c
        order by c.is_near desc, lexical desc, c.id
        limit best_count + cardinality(nearest)
    ) r
    -- Some are found both ways.
    group by r.id;
end
$$;

comment on function internal.kb_search_words(internal.kb_question, uuid[], text[], integer) is
  'The chunks with rare words of the question that have most of its vocabulary, and the chunks of `nearest`; with how '
  'much of it each has. Only what is found in these audiences.';

-- Sentences ---------------------------------------------------------------

create function internal.kb_sentences_of(
  chunk_id uuid,
  query_embedding extensions.vector,
  audiences text[]
) returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
declare
  -- Of unit length, because half precision ends at 65,504.
  query_half extensions.halfvec(384) := extensions.l2_normalize(query_embedding);
begin
  return coalesce((
    select jsonb_agg(
        jsonb_build_object(
          'start', s.start,
          'end', s."end",
          'similarity', 1 - (s.embedding operator(extensions.<=>) query_half)
        )
        order by s.ordinal
      )
      from public.kb_sentences s
      where s.chunk_id = kb_sentences_of.chunk_id
        and exists (
          select from public.kb_chunks c
            where c.id = kb_sentences_of.chunk_id and internal.kb_finds(audiences, c.searchable, c.audience)
        )
  ), '[]');
end
$$;

comment on function internal.kb_sentences_of(uuid, extensions.vector, text[]) is
  'Sentences of a chunk in order, with the cosine of each and the question; none if it is not found in these audiences.';

-- Vectors -----------------------------------------------------------------

comment on function internal.kb_searchable_count() is
  'Number of chunks that somebody finds, which is about the number of their vectors: a document is published with all of '
  'them.';

create function internal.kb_nearest_restricted_chunks(
  query_embedding extensions.vector,
  audiences text[],
  max_count integer
) returns uuid[]
  language plpgsql
  stable
  security definer
  set search_path = ''
  -- A generic plan does not know the LIMIT and may give up the vector index.
  set plan_cache_mode = force_custom_plan
as $$
declare
  -- Up to this many vectors are compared one by one, which takes a few milliseconds and misses nothing.
  exact_limit constant integer := 2000;
  is_small boolean;
  nearest uuid[];
begin
  perform from public.kb_documents d where d.audience is not null limit 1;
  if not found then
    return '{}';
  end if;
  select count(*) <= exact_limit into is_small
    from (
      select from public.kb_embeddings e
        where e.audience is not null and (audiences is null or e.audience && audiences)
        limit exact_limit + 1
    ) probe;
  -- As in kb_nearest_chunks. The scan meets vectors of other audiences on its way and goes on past them: further than
  -- pgvector would by itself, so that what others keep to themselves leaves nobody without results.
  perform
    set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.ef_search', greatest(200, 2 * max_count)::text, true),
    set_config('hnsw.max_scan_tuples', '100000', true),
    set_config('hnsw.scan_mem_multiplier', '8', true),
    set_config('enable_indexscan', case when is_small then 'off' else 'on' end, true),
    set_config('enable_sort', case when is_small then 'on' else 'off' end, true);
  nearest := array(
    select e.chunk_id
      from public.kb_embeddings e
      where e.audience is not null and (audiences is null or e.audience && audiences)
      order by e.embedding operator(extensions.<=>) query_embedding
      limit max_count
  );
  perform set_config('enable_indexscan', 'on', true), set_config('enable_sort', 'on', true);
  return nearest;
end
$$;

comment on function internal.kb_nearest_restricted_chunks(extensions.vector, text[], integer) is
  'Of the chunks for an audience, those whose embeddings are nearest to the question; only what is found in these '
  'audiences.';

-- The one way in for a search ---------------------------------------------

create or replace function public.match_chunks(
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
  similarity double precision,
  lexical double precision,
  score double precision,
  sentences jsonb,
  query_terms jsonb
)
  language plpgsql
  stable
  security invoker
  set search_path = ''
  set plan_cache_mode = force_generic_plan
  -- For statements of a millisecond, compiling them takes longer than they do.
  set jit = off
as $$
#variable_conflict use_column
declare
  -- How many chunks with words of the question are looked at: the time a search takes grows with it
  -- (tests/bench/search), and hardly with the number of chunks there are. Rare words come first: a chunk that has only
  -- common ones is found by its vector or not at all.
  chunk_budget constant integer := 300;
  -- With words in play a chunk may overtake others with better vectors, so more of them are looked at.
  near_count constant integer := case when query_text is null then match_count else greatest(50, 4 * match_count) end;
  -- Null for whoever sees everything, which row level security alone knows.
  audiences constant text[] :=
    case when row_security_active('public.kb_documents') then internal.kb_audiences() end;
  nearest uuid[];
  question internal.kb_question;
begin
  if query_embedding is null or extensions.vector_dims(query_embedding) <> 384 then
    raise exception 'query_embedding must have 384 dimensions, got %',
      coalesce(extensions.vector_dims(query_embedding)::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  if extensions.vector_norm(query_embedding) = 0 then
    raise exception 'query_embedding must not be all zeros' using errcode = 'invalid_parameter_value';
  end if;
  if match_count is null or match_count not between 1 and 100 then
    raise exception 'match_count must be between 1 and 100, got %', coalesce(match_count::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  if match_threshold is null or match_threshold not between -1 and 1 then
    raise exception 'match_threshold must be between -1 and 1, got %', coalesce(match_threshold::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;

  nearest := internal.kb_nearest_chunks(query_embedding, near_count)
    || internal.kb_nearest_restricted_chunks(query_embedding, audiences, near_count);

  if query_text is not null then
    -- As long as the Worker lets a question be: whoever calls this past it gets no more work done.
    question := internal.kb_read_question(left(query_text, 4000), chunk_budget);
  end if;

  return query
  with candidate as (
    select n.chunk_id, null::double precision as lexical
      from unnest(nearest) as n(chunk_id)
      where query_text is null
    union all
    select w.chunk_id, w.lexical
      from internal.kb_search_words(question, nearest, audiences, chunk_budget) w
      where query_text is not null
  ), qualified as materialized (
    select k.chunk_id, v.similarity, k.lexical
      from candidate k
      cross join lateral (
        select 1 - (e.embedding operator(extensions.<=>) query_embedding) as similarity
          from public.kb_embeddings e
          join public.kb_chunks c on c.id = e.chunk_id
          join public.kb_documents d on d.id = c.document_id
          -- The truth that searchable copies, repeated from the policies because the service role bypasses them. Who is
          -- in the audience is the policies' alone to say.
          where e.chunk_id = k.chunk_id and d.status = 'ready' and d.enabled and not c.stale
          -- One look-up for each candidate, whatever the planner thinks how many there are, and one distance.
          offset 0
      ) v
      -- The cosine with a zero vector is NaN, which Postgres holds to be greater than any number.
      where v.similarity >= match_threshold and v.similarity < 'infinity'
  ), best_sentence as (
    select b.chunk_id, b.similarity
      from internal.kb_best_sentences(
        array(select q.chunk_id from qualified q where query_text is not null),
        query_embedding
      ) b
  ), ranked as (
    select q.*,
        case
          when query_text is null then q.similarity
          else (q.similarity + coalesce(b.similarity, q.similarity) + q.lexical) / 3
        end as score
      from qualified q
      left join best_sentence b on b.chunk_id = q.chunk_id
      order by score desc, q.chunk_id
      limit match_count
  )
  select
    r.chunk_id, v.document_id, v.document_name, v.document_meta, v.ordinal, v.content, v.meta, v.model,
    r.similarity, r.lexical, r.score,
    internal.kb_sentences_of(r.chunk_id, query_embedding, audiences),
    question.terms
  from ranked r
  cross join lateral (
    select d.id as document_id, d.name as document_name, d.meta as document_meta, c.ordinal, c.content, c.meta, e.model
      from public.kb_embeddings e
      join public.kb_chunks c on c.id = e.chunk_id
      join public.kb_documents d on d.id = c.document_id
      where e.chunk_id = r.chunk_id
      offset 0
  ) v
  order by r.score desc, r.chunk_id;
end
$$;

comment on function public.match_chunks(extensions.vector, integer, double precision, text) is
  'The chunks that fit a question best, best score first, from ready and enabled documents that the caller may see. '
  'score: the mean of similarity, of the cosine of the best sentence, and of lexical; without query_text similarity. '
  'similarity: cosine of query_embedding and the chunk''s; match_threshold is inclusive and compares with it. '
  'lexical: 0 to 1, how much of the informative vocabulary of query_text the chunk has, rare words weighing more '
  '(ts_rank of a single lexeme saturates with its frequency as BM25 does: 0.61, 0.76, 0.83, … below 1). '
  'sentences: {start, end, similarity}, offsets in code points of content. '
  'query_terms: {word, weight}, the informative words of query_text, the same on every row, weighed by documents for '
  'everybody only.';

drop function internal.kb_search_words(internal.kb_question, uuid[], integer);
drop function internal.kb_sentences_of(uuid, extensions.vector);

revoke all on function internal.kb_finds(text[], boolean, text[]) from public;
revoke all on function internal.kb_restricted_chunks_with_words(tsquery[], text[], integer) from public;
revoke all on function internal.kb_search_words(internal.kb_question, uuid[], text[], integer) from public;
revoke all on function internal.kb_sentences_of(uuid, extensions.vector, text[]) from public;
revoke all on function internal.kb_nearest_restricted_chunks(extensions.vector, text[], integer) from public;
grant execute on function internal.kb_search_words(internal.kb_question, uuid[], text[], integer)
  to authenticated, service_role;
grant execute on function internal.kb_sentences_of(uuid, extensions.vector, text[]) to authenticated, service_role;
grant execute on function internal.kb_nearest_restricted_chunks(extensions.vector, text[], integer)
  to authenticated, service_role;
