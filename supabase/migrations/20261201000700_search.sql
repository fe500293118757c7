-- Search by meaning and by words: match_chunks, the one way in, and its helpers.
--
-- A user's search runs as evidence_chat, which the policies bind, and joins the protected tables for every row it returns. Three
-- things it asks of helpers that run with the owner's rights (security definer), because Row Level Security would make them slow
-- or impossible for the caller:
--   - Chunks with the words of the question, and chunks for an audience. A condition that users write is only evaluated after
--     the policies unless its operator is leakproof, and @@ and && are not, so the indexes on fts and audience would not be
--     used.
--   - The counts of kb_lexemes, which users may not read: they would tell words of every document.
--   - The vectors of kb_sentences and kb_headings, which users may not read: they are only of use here.
-- The helpers get the caller's audiences, so that chunks of others do not take the place of the caller's own, and look only at
-- what is found there; but kb_part_similarities trusts its caller to pass chunks that it saw. What they find leaves
-- match_chunks only joined to rows the caller sees.

-- `return` and no search_path setting, so that Postgres can inline calls.
create function internal.kb_finds(audiences text[], searchable boolean, audience text[]) returns boolean
  language sql
  immutable
  return searchable or (audience is not null and (audiences is null or audience && audiences));

comment on function internal.kb_finds(text[], boolean, text[]) is
  'Whether a chunk is found by somebody in these audiences; null finds what anybody finds.';

revoke all on function internal.kb_finds(text[], boolean, text[]) from public;

-- Words of a question -----------------------------------------------------

create function internal.kb_lexeme_query(lexeme text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
$$;

comment on function internal.kb_lexeme_query(text) is
  'Text of a tsquery for exactly this lexeme, whatever characters are in it.';

revoke all on function internal.kb_lexeme_query(text) from public;

-- The words of a question, as the search needs them.
create type internal.kb_question as (
  -- One entry for each lexeme in each language: how it is asked for, and its share of the weight of all of them.
  languages text[],
  queries tsquery[],
  shares double precision[],
  -- Finds the chunks that are worth a look.
  rare tsquery,
  -- What match_chunks returns as query_terms.
  terms jsonb
);

create function internal.kb_read_question(query_text text, chunk_budget integer) returns internal.kb_question
  language plpgsql
  stable
  security definer
  set search_path = ''
  -- Planned once per session: planning would take longer than the rest.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
declare
  -- A question of 4,000 characters has hundreds of lexemes; the rarest of them say what it is about.
  lexeme_limit constant integer := 64;
  -- Where no chunk is for everybody, no word is counted, and all weigh the same: as much as an unknown word among so many chunks.
  total_if_none constant bigint := 64;
  -- English words that say nothing about the subject of a question and that Postgres' list of stop words lacks, as in
  -- chat-core/src/words.rs: "When will I get my refund?" is about refunds.
  question_words constant text[] := '{also, could, else, every, get, give, got, know, let, like, long, many, may, might, much,
    must, often, one, please, shall, show, soon, tell, us, want, whether, whose, would}';
  question internal.kb_question;
begin
  with token as (
    -- Words as they stand in the question, with their kind, which decides on the dictionary.
    select lower(p.token) as word, p.kind, min(p.token) as token, min(p.place) as place
      from ts_parse('default', query_text) with ordinality as p(kind, token, place)
      group by lower(p.token), p.kind
  ), meaning as (
    -- What to_tsvector makes of them, in each language that has searchable chunks. A stop word has no lexemes.
    select n.language, n.chunks as size, coalesce(e.chunks, total_if_none) as total, t.word, t.place,
        case when n.language = 'english' and t.word = any (question_words) then '{}' else d.lexemes end as lexemes
      from public.kb_lexemes n
      left join public.kb_lexemes e on e.lexeme = ' ' and e.language = n.language
      join pg_catalog.pg_ts_config c
        on c.cfgname = n.language and c.cfgnamespace = 'pg_catalog'::regnamespace
      cross join token t
      cross join lateral (
        select a.lexemes
          from (
            select m.mapseqno, ts_lexize(m.mapdict, internal.kb_fold_accents(n.language, t.token)) as lexemes
              from pg_catalog.pg_ts_config_map m
              where m.mapcfg = c.oid and m.maptokentype = t.kind
              offset 0
          ) a
          where a.lexemes is not null
          order by a.mapseqno
          limit 1
      ) d
      where n.lexeme = ''
  ), known as (
    select m.language, m.total, m.word, m.place, l.lexeme, coalesce(k.chunks, 0) as chunks
      from meaning m
      cross join unnest(m.lexemes) as l(lexeme)
      left join public.kb_lexemes k on k.lexeme = l.lexeme and k.language = m.language
      -- Longer ones are in no tsvector.
      where octet_length(l.lexeme) between 1 and 2046
  ), weighted as (
    select k.language, k.lexeme, k.total, k.chunks,
        ln(1 + (greatest(k.total - k.chunks, 0) + 0.5::float8) / (k.chunks + 0.5::float8)) as weight,
        row_number() over (partition by k.language order by k.chunks, k.lexeme) as rank
      from known k
      group by k.language, k.lexeme, k.total, k.chunks
  ), term as (
    select w.*, internal.kb_lexeme_query(w.lexeme) as query,
        w.weight / sum(w.weight) over (partition by w.language) as share,
        sum(w.chunks) over (order by w.chunks, w.lexeme, w.language) as found
      from weighted w
      where w.rank <= lexeme_limit
  ), question_language as (
    -- The language that knows most words of the question, as stop words or from its chunks.
    select m.language
      from meaning m
      left join known k on k.language = m.language and k.word = m.word and k.chunks > 0
      group by m.language, m.size
      order by count(distinct m.word) filter (where k.word is not null or m.lexemes = '{}') desc,
        m.size desc, m.language
      limit 1
  ), word as (
    select k.word, min(k.place) as place, max(t.weight) as weight
      from known k
      join term t on t.language = k.language and t.lexeme = k.lexeme
      where k.language = (select q.language from question_language q)
      group by k.word
  )
  select
      array_agg(t.language),
      array_agg(t.query::tsquery),
      array_agg(t.share),
      -- A first word that is more common than the budget still says something unless most chunks have it.
      string_agg(t.query, ' | ') filter (
        where t.chunks > 0 and (t.found <= chunk_budget or t.found = t.chunks and t.chunks <= t.total / 2)
      )::tsquery,
      (
        select coalesce(jsonb_agg(jsonb_build_object('word', w.word, 'weight', w.weight) order by w.place), '[]')
          from word w
      )
    into question
    from term t;
  return question;
end
$$;

comment on function internal.kb_read_question(text, integer) is
  'The lexemes of a question with their weights. Its rare words are those that together stand in no more than '
  'chunk_budget chunks.';

revoke all on function internal.kb_read_question(text, integer) from public;
grant execute on function internal.kb_read_question(text, integer) to evidence_chat, service_role;

create function internal.kb_is_readable(query_text text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  -- Counted without classes of characters, which follow the database's locale: Latin letters; and all characters that are
  -- neither in the Latin blocks nor punctuation nor symbols.
  select length(regexp_replace(query_text, '[^A-Za-z\u00c0-\u024f\u1e00-\u1eff]', '', 'g'))
    >= length(regexp_replace(query_text, '[\u0001-\u024f\u0300-\u036f\u1e00-\u1eff\u2000-\u2bff\u3000-\u3004\u3008-\u3020]', '', 'g'))
$$;

comment on function internal.kb_is_readable(text) is
  'Whether at least half of the letters of a question are Latin. The vocabulary of all-MiniLM-L6-v2 has words of Latin script; '
  'texts in others fall apart into letters, and their vectors are near to each other whatever they say: of those, only words '
  'count. chat-core uses the same rule.';

revoke all on function internal.kb_is_readable(text) from public;
grant execute on function internal.kb_is_readable(text) to evidence_chat, service_role;

-- Chunks by words ---------------------------------------------------------

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

revoke all on function internal.kb_restricted_chunks_with_words(tsquery[], text[], integer) from public;

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

revoke all on function internal.kb_search_words(internal.kb_question, uuid[], text[], integer) from public;
grant execute on function internal.kb_search_words(internal.kb_question, uuid[], text[], integer)
  to evidence_chat, service_role;

-- Chunks by vectors -------------------------------------------------------

create function internal.kb_searchable_count() returns bigint
  language plpgsql
  stable
  security definer
  set search_path = ''
as $$
begin
  return (select coalesce(sum(k.chunks), 0) from public.kb_lexemes k where k.lexeme = '');
end
$$;

comment on function internal.kb_searchable_count() is
  'Number of chunks that somebody finds, which is about the number of their vectors: a document is published with all of '
  'them.';

revoke all on function internal.kb_searchable_count() from public;
grant execute on function internal.kb_searchable_count() to evidence_chat, service_role;

create function internal.kb_nearest_chunks(query_embedding extensions.vector, max_count integer) returns uuid[]
  language plpgsql
  stable
  security invoker
  set search_path = ''
  -- A generic plan does not know the LIMIT and may give up the vector index.
  set plan_cache_mode = force_custom_plan
as $$
declare
  -- Up to this many vectors are compared one by one, which takes a few milliseconds and misses nothing.
  exact_limit constant integer := 2000;
  -- Up to this many, 100 candidates at a time find as many of the nearest as 200 find among ten times as many vectors.
  narrow_limit constant integer := 20000;
  total constant bigint := internal.kb_searchable_count();
  nearest uuid[];
  previous_indexscan constant text := current_setting('enable_indexscan');
  previous_sort constant text := current_setting('enable_sort');
begin
  -- HNSW is approximate: a vector far from most others, or surrounded by ones deleted since the last vacuum, can be
  -- out of its reach. So few vectors are sorted by their distances, with plain index scans off; more are read through
  -- the index, with sorting off: the planner would still sort some thousands, whose size it underestimates.
  -- All this is set here and not in the header: attaching pgvector's settings to a function takes a superuser, which
  -- hosted Supabase does not give. Iterative scan goes on while a candidate's row turns out to be gone or hidden.
  perform
    set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config(
      'hnsw.ef_search',
      greatest(case when total <= narrow_limit then 100 else 200 end, 2 * max_count)::text,
      true
    ),
    set_config('enable_indexscan', case when total <= exact_limit then 'off' else 'on' end, true),
    set_config('enable_sort', case when total <= exact_limit then 'on' else 'off' end, true);

  -- Only this exact shape, ORDER BY distance LIMIT n, can use the vector index, so the threshold waits outside.
  nearest := array(
    select e.chunk_id
      from public.kb_embeddings e
      where e.searchable
      order by e.embedding operator(extensions.<=>) query_embedding
      limit max_count
  );
  perform
    set_config('enable_indexscan', previous_indexscan, true),
    set_config('enable_sort', previous_sort, true);
  return nearest;
end
$$;

comment on function internal.kb_nearest_chunks(extensions.vector, integer) is
  'The searchable chunks whose embeddings are nearest to the question.';

revoke all on function internal.kb_nearest_chunks(extensions.vector, integer) from public;
grant execute on function internal.kb_nearest_chunks(extensions.vector, integer) to evidence_chat, service_role;

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
  previous_indexscan constant text := current_setting('enable_indexscan');
  previous_sort constant text := current_setting('enable_sort');
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
  perform
    set_config('enable_indexscan', previous_indexscan, true),
    set_config('enable_sort', previous_sort, true);
  return nearest;
end
$$;

comment on function internal.kb_nearest_restricted_chunks(extensions.vector, text[], integer) is
  'Of the chunks for an audience, those whose embeddings are nearest to the question; only what is found in these '
  'audiences.';

revoke all on function internal.kb_nearest_restricted_chunks(extensions.vector, text[], integer) from public;
grant execute on function internal.kb_nearest_restricted_chunks(extensions.vector, text[], integer)
  to evidence_chat, service_role;

-- Sentences and headings --------------------------------------------------

create function internal.kb_part_similarities(
  chunk_ids uuid[],
  query_embedding extensions.vector
) returns table (chunk_id uuid, sentence double precision, heading double precision)
  language plpgsql
  stable
  security definer
  set search_path = ''
  set plan_cache_mode = force_generic_plan
  -- The primary keys give the rows grouped by chunk already.
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  -- Of unit length, because half precision ends at 65,504.
  query_half extensions.halfvec(384) := extensions.l2_normalize(query_embedding);
begin
  return query
  select k.chunk_id,
      (
        select 1 - min(s.embedding operator(extensions.<=>) query_half)
          from public.kb_sentences s
          where s.chunk_id = k.chunk_id
      ),
      (
        select 1 - (h.embedding operator(extensions.<=>) query_half)
          from public.kb_headings h
          where h.chunk_id = k.chunk_id
      )
    from unnest(chunk_ids) as k(chunk_id);
end
$$;

comment on function internal.kb_part_similarities(uuid[], extensions.vector) is
  'For each of the chunks the cosine of the question and its best sentence, and of the question and its heading. Trusts its '
  'caller to pass chunks that it saw: to look again costs a tenth of the search.';

revoke all on function internal.kb_part_similarities(uuid[], extensions.vector) from public;
grant execute on function internal.kb_part_similarities(uuid[], extensions.vector) to evidence_chat, service_role;

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

revoke all on function internal.kb_sentences_of(uuid, extensions.vector, text[]) from public;
grant execute on function internal.kb_sentences_of(uuid, extensions.vector, text[]) to evidence_chat, service_role;

-- Of the three cosines of a chunk - its own, its best sentence's, its heading's - the two largest count: a heading that is
-- only a title does not lower the score of a passage that answers, and a long passage does not lower that of its heading.
-- `return` and no search_path setting, so that Postgres can inline calls.
create function internal.kb_two_largest(passage double precision, sentence double precision, heading double precision)
  returns double precision
  language sql
  immutable
  return passage + sentence + coalesce(heading, least(passage, sentence)) - least(passage, sentence, heading);

comment on function internal.kb_two_largest(double precision, double precision, double precision) is
  'The sum of the two largest of three numbers, of which the last may be missing.';

revoke all on function internal.kb_two_largest(double precision, double precision, double precision) from public;
grant execute on function internal.kb_two_largest(double precision, double precision, double precision)
  to evidence_chat, service_role;

-- What a search returns; see match_chunks.
create type internal.kb_match as (
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
  heading double precision,
  score double precision,
  sentences jsonb,
  query_terms jsonb
);

-- The one way in for a search ---------------------------------------------

create function internal.kb_search(
  query_embedding extensions.vector(384),
  match_count integer,
  match_threshold double precision,
  query_text text
) returns setof internal.kb_match
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
  -- (bench/search), and hardly with the number of chunks there are. Rare words come first: a chunk that has only
  -- common ones is found by its vector or not at all.
  chunk_budget constant integer := 300;
  -- With words in play a chunk may overtake others with better vectors, so more of them are looked at.
  near_count constant integer := case when query_text is null then match_count else greatest(50, 4 * match_count) end;
  -- Null for whoever sees everything, which row level security alone knows.
  audiences constant text[] :=
    case when row_security_active('public.kb_documents') then internal.kb_audiences() end;
  -- As long as the Worker lets a question be: whoever calls this past it gets no more work done.
  question_text constant text := left(query_text, 4000);
  -- Without a text nothing but vectors is compared.
  is_readable constant boolean := question_text is not null and internal.kb_is_readable(question_text);
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
    question := internal.kb_read_question(question_text, chunk_budget);
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
  ), part as (
    select p.chunk_id, p.sentence, p.heading
      from internal.kb_part_similarities(
        array(select q.chunk_id from qualified q where is_readable),
        query_embedding
      ) p
  ), ranked as (
    select q.*, p.heading, case
          when query_text is null then q.similarity
          when is_readable then (internal.kb_two_largest(q.similarity, coalesce(p.sentence, q.similarity), p.heading)
            + q.lexical) / 3
          else q.lexical / 3
        end as score
      from qualified q
      left join part p on p.chunk_id = q.chunk_id
      order by score desc, q.chunk_id
      limit match_count
  )
  select
    r.chunk_id, v.document_id, v.document_name, v.document_meta, v.ordinal, v.content, v.meta, v.model,
    r.similarity, r.lexical, r.heading, r.score,
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

comment on function internal.kb_search(extensions.vector, integer, double precision, text) is
  'What match_chunks finds, for whoever runs it.';

revoke all on function internal.kb_search(extensions.vector, integer, double precision, text) from public;
grant execute on function internal.kb_search(extensions.vector, integer, double precision, text)
  to evidence_chat, service_role;

create function internal.kb_search_as_user(
  query_embedding extensions.vector(384),
  match_count integer,
  match_threshold double precision,
  query_text text
) returns setof internal.kb_match
  language plpgsql
  stable
  -- As evidence_chat, with the claims of the caller.
  security definer
  set search_path = ''
as $$
begin
  return query select * from internal.kb_search(query_embedding, match_count, match_threshold, query_text);
end
$$;

comment on function internal.kb_search_as_user(extensions.vector, integer, double precision, text) is
  'The same, bound by the policies.';

revoke all on function internal.kb_search_as_user(extensions.vector, integer, double precision, text) from public;
grant execute on function internal.kb_search_as_user(extensions.vector, integer, double precision, text) to authenticated;
alter function internal.kb_search_as_user(extensions.vector, integer, double precision, text) owner to evidence_chat;

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
  similarity double precision,
  lexical double precision,
  heading double precision,
  score double precision,
  sentences jsonb,
  query_terms jsonb
)
  language plpgsql
  -- It counts the searches of each user.
  volatile
  security invoker
  set search_path = ''
as $$
begin
  if row_security_active('public.kb_documents') then
    perform internal.limit_searches();
    return query select * from internal.kb_search_as_user(query_embedding, match_count, match_threshold, query_text);
  else
    return query select * from internal.kb_search(query_embedding, match_count, match_threshold, query_text);
  end if;
end
$$;

comment on function public.match_chunks(extensions.vector, integer, double precision, text) is
  'The chunks that fit a question best, best score first, from ready and enabled documents that the caller may see. '
  'score: a third of the sum of the two largest among similarity, the cosine of the best sentence, and heading, and of lexical; '
  'of a question in a script that the model cannot read a third of lexical; without query_text similarity. '
  'similarity: cosine of query_embedding and the chunk''s; match_threshold is inclusive and compares with it. '
  'heading: cosine of query_embedding and the chunk''s last heading; null where there is none or it was not asked. '
  'lexical: 0 to 1, how much of the informative vocabulary of query_text the chunk has, rare words weighing more '
  '(ts_rank of a single lexeme saturates with its frequency as BM25 does: 0.61, 0.76, 0.83, … below 1). '
  'sentences: {start, end, similarity}, offsets in code points of content. '
  'query_terms: {word, weight}, the informative words of query_text, the same on every row, weighed by documents for '
  'everybody only. A user who is not vouched for by the Worker may search 60 times a minute, three at a time: then PT429.';

revoke all on function public.match_chunks(extensions.vector, integer, double precision, text) from public, anon;
grant execute on function public.match_chunks(extensions.vector, integer, double precision, text)
  to authenticated, service_role;
