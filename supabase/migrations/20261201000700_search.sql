-- Search by vectors and words: match_chunks, the only entry point, and its helpers.
--
-- A user's search runs as evidence_chat, to which the policies apply, and joins the protected tables for every row it returns. For
-- three things it calls helpers that run with the owner's rights (security definer), because Row Level Security would make them
-- slow or impossible for the caller:
--   - Chunks with the words of the question, and chunks for an audience. Postgres evaluates a condition before the policies only
--     if its operator is leakproof. @@ and && are not, so the indexes on fts and audience would not be used.
--   - The counts of kb_lexemes, which users may not read because they contain words of every document.
--   - The vectors of kb_sentences and kb_headings, which users may not read because they are only needed here.
-- The helpers get the caller's audiences, whether the default audience is one of them (is_in_default), and the collections of the
-- assistant (null: all), and search only there, so that other chunks do not crowd these out.
-- kb_sentence_heading_similarities, however, trusts its caller to pass only chunks that the user can see. match_chunks returns
-- results of the helpers only joined to rows that the user can see.

-- `return` and no search_path setting, so that Postgres can inline calls.
create function internal.kb_can_find(audiences text[], is_in_default boolean, searchable boolean, audience text[])
  returns boolean
  language sql immutable
  return searchable and is_in_default or (audience is not null and (audiences is null or audience && audiences));

comment on function internal.kb_can_find is
  'Whether a user in these audiences, and in the default audience or not, can find a chunk. With '
  'null and true: whether anybody can.';

-- Words of a question -----------------------------------------------------

create function internal.kb_quote_lexeme(lexeme text) returns text
  language sql immutable set search_path = ''
as $$
  select '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
$$;

comment on function internal.kb_quote_lexeme is
  'Text of a tsquery for exactly this lexeme, with special characters escaped.';

-- The words of a question, prepared for the search.
create type internal.kb_question as (
  -- One entry for each lexeme in each language: its query, and its share of the total weight.
  languages text[],
  queries tsquery[],
  shares double precision[],
  -- Selects the candidate chunks.
  rare_words tsquery,
  -- What match_chunks returns as query_terms.
  terms jsonb
);

create function internal.kb_parse_question(query_text text, audiences text[], is_in_default boolean, chunk_budget integer)
  returns internal.kb_question
  language plpgsql stable security definer set search_path = ''
  -- Planned once per session, because planning takes longer than execution.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
declare
  -- A question of 4,000 characters has hundreds of lexemes. The rarest of them show what it is about.
  max_question_lexemes constant integer := 64;
  -- If the caller sees no chunk for the default audience, no word has a count. All then weigh as much as an unknown word among this
  -- many chunks.
  fallback_total constant bigint := 64;
  -- Postgres reads all entries of a word in the index before it returns the first chunk, so a word of a million chunks would delay
  -- the search however few of them are considered.
  max_rarest_word_chunks constant bigint := 20000;
  -- English words that say nothing about the subject of a question and are missing from the stop words of Postgres, as in
  -- chat-core/src/words.rs: "When will I get my refund?" is about refunds.
  question_stop_words constant text[] := '{also, could, else, every, get, give, got, know, let, like, long, many, may, might, much,
    must, often, one, please, shall, show, soon, tell, us, want, whether, whose, would}';
  -- The lexemes that count the chunks that the caller can find.
  findable constant text[] := case
    when audiences is null then '{""}'
    else internal.kb_audience_lexemes(audiences) || case when is_in_default then array[' '] end
  end;
  question internal.kb_question;
begin
  with token as (
    -- The words of the question with their token type, which selects the dictionary.
    select lower(p.token) as word, p.kind, min(p.token) as token, min(p.position) as position
      from ts_parse('default', query_text) with ordinality as p(kind, token, position)
      group by lower(p.token), p.kind
  ), token_lexemes as (
    -- Their lexemes as to_tsvector makes them, in each language of a chunk that the caller can find. A stop word has none, so it
    -- would reveal the languages of other chunks.
    select n.language, n.size, coalesce(e.chunks, fallback_total) as total, t.word, t.position,
        case when n.language = 'english' and t.word = any (question_stop_words) then '{}' else d.lexemes end as lexemes
      from (
        -- A chunk for several of the audiences counts for each.
        select s.language, sum(s.chunks) as size from public.kb_lexemes s where s.lexeme = any (findable) group by s.language
      ) n
      left join public.kb_lexemes e on is_in_default and e.lexeme = ' ' and e.language = n.language
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
  ), counted_lexeme as (
    select m.language, m.total, m.word, m.position, l.lexeme, coalesce(k.chunks, 0) as chunks
      from token_lexemes m
      cross join unnest(m.lexemes) as l(lexeme)
      -- The counts are those of chunks for the default audience, and must not tell other users anything about them.
      left join public.kb_lexemes k on is_in_default and k.lexeme = l.lexeme and k.language = m.language
      -- A tsvector cannot contain longer ones.
      where octet_length(l.lexeme) between 1 and 2046
  ), weighted as (
    select k.language, k.lexeme, k.total, k.chunks,
        ln(1 + (greatest(k.total - k.chunks, 0) + 0.5::float8) / (k.chunks + 0.5::float8)) as weight,
        row_number() over (partition by k.language order by k.chunks, k.lexeme) as rank
      from counted_lexeme k
      group by k.language, k.lexeme, k.total, k.chunks
  ), term as (
    select w.*, internal.kb_quote_lexeme(w.lexeme) as query,
        w.weight / sum(w.weight) over (partition by w.language) as share,
        sum(w.chunks) over (order by w.chunks, w.lexeme, w.language) as cumulative_chunks
      from weighted w
      where w.rank <= max_question_lexemes
  ), question_language as (
    -- The language that knows the most words of the question, as stop words or from its chunks.
    select m.language
      from token_lexemes m
      left join counted_lexeme k on k.language = m.language and k.word = m.word and k.chunks > 0
      group by m.language, m.size
      order by count(distinct m.word) filter (where k.word is not null or m.lexemes = '{}') desc,
        m.size desc, m.language
      limit 1
  ), word as (
    select k.word, min(k.position) as position, max(t.weight) as weight
      from counted_lexeme k
      join term t on t.language = k.language and t.lexeme = k.lexeme
      where k.language = (select q.language from question_language q)
      group by k.word
  )
  select
      array_agg(t.language),
      array_agg(t.query::tsquery),
      array_agg(t.share),
      -- Even if the rarest word exceeds the budget, it is informative unless most chunks contain it. A question that has only words
      -- of ten thousands of chunks is answered from the chunks that its vector finds.
      string_agg(t.query, ' | ') filter (
        where t.chunks > 0
          and (
            t.cumulative_chunks <= chunk_budget
            or t.cumulative_chunks = t.chunks and t.chunks <= least(t.total / 2, max_rarest_word_chunks)
          )
      )::tsquery,
      (
        select coalesce(jsonb_agg(jsonb_build_object('word', w.word, 'weight', w.weight) order by w.position), '[]')
          from word w
      )
    into question
    from term t;
  return question;
end
$$;

comment on function internal.kb_parse_question is
  'The lexemes of a question with their weights, in the languages of the chunks that a user in '
  'these audiences (null: everybody), and in the default audience or not, can find. Its rare words '
  'are those that together occur in at most chunk_budget chunks; there are none for a user outside '
  'the default audience.';

grant execute on function internal.kb_parse_question to evidence_chat, service_role;

create function internal.kb_is_readable(query_text text) returns boolean
  language sql immutable set search_path = ''
as $$
  -- Compares the number of Latin letters with the number of characters outside the Latin blocks, punctuation and symbols. Uses
  -- ranges, because character classes depend on the locale of the database.
  select length(regexp_replace(query_text, '[^A-Za-z\u00c0-\u024f\u1e00-\u1eff]', '', 'g'))
    >= length(regexp_replace(query_text, '[\u0001-\u024f\u0300-\u036f\u1e00-\u1eff\u2000-\u2bff\u3000-\u3004\u3008-\u3020]', '', 'g'))
$$;

comment on function internal.kb_is_readable is
  'Whether at least half of the letters of a question are Latin. The vocabulary of '
  'all-MiniLM-L6-v2 has only words in Latin script. It splits texts in other scripts into letters, '
  'and their vectors are similar whatever they say, so only words count for them. chat-core uses '
  'the same rule.';

grant execute on function internal.kb_is_readable to evidence_chat, service_role;

-- Chunks by words ---------------------------------------------------------

create function internal.kb_restricted_chunks_with_words(
  queries tsquery[],
  audiences text[],
  collections text[],
  chunk_budget integer
) returns uuid[]
  language plpgsql stable security definer set search_path = ''
  -- Only a custom plan can use the index on the conditions that apply: a null means that one does not.
  set plan_cache_mode = force_custom_plan
  set enable_seqscan = off
as $$
declare
  -- Restricted chunks have no counts that show which words are rare, so each word gets an equal part of the budget. Chunks with
  -- a common word then cannot use up the part of a rare one.
  word_budget constant integer := greatest(10, chunk_budget / greatest(1, cardinality(queries)));
begin
  return array(
    select distinct f.id
      from unnest(queries) as q(query)
      cross join lateral (
        select c.id
          from public.kb_chunks c
          where c.audience is not null
            and (audiences is null or c.audience && audiences)
            and (collections is null or array[c.collection] && collections)
            and c.fts @@ q.query
          limit word_budget
      ) f
  );
end
$$;

comment on function internal.kb_restricted_chunks_with_words is
  'Restricted chunks of these audiences and collections that contain a word of the question: some '
  'for each word.';

create function internal.kb_search_by_words(
  question internal.kb_question,
  nearest uuid[],
  audiences text[],
  is_in_default boolean,
  can_find_restricted boolean,
  collections text[],
  chunk_budget integer
) returns table (chunk_id uuid, lexical double precision)
  language plpgsql stable security definer set search_path = ''
  -- The plan must not depend on the question, because only the indexes on fts find chunks by words in bounded time.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  max_word_matches constant integer := 50;
  languages text[] := question.languages;
  queries tsquery[] := question.queries;
  shares double precision[] := question.shares;
  rare_words tsquery := question.rare_words;
  restricted constant uuid[] := case
    when can_find_restricted
      then internal.kb_restricted_chunks_with_words(question.queries, audiences, collections, chunk_budget)
  end;
begin
  return query
  select r.id, max(r.lexical)
    from (
      select c.id, coalesce((
          -- ts_rank of a single lexeme is a saturating function of its frequency, close to BM25's with k1 = 0.6. For several
          -- lexemes it is their plain mean, so each is ranked alone and weighted here. ts_rank reads fts and needs neither the
          -- text nor a word count.
          select sum(t.share * ts_rank('{1, 1, 1, 1}', c.fts, t.query))
            from unnest(languages, queries, shares) as t(language, query, share)
            -- Most chunks contain few of the words, and ts_rank of the others is 0.
            where t.language = c.language and c.fts @@ t.query
        ), 0) as lexical
        from (
          (
            select c.id, c.language, c.fts, false as is_nearest
              from public.kb_chunks c
              where is_in_default and collections is null and c.searchable and c.fts @@ rare_words
              limit chunk_budget
          )
          union all
          (
            select c.id, c.language, c.fts, false
              from public.kb_chunks c
              -- Null collections match nothing. One statement for both cases could not use the index on the collection.
              where is_in_default and c.searchable and array[c.collection] && collections and c.fts @@ rare_words
              limit chunk_budget
          )
          union all
          select c.id, c.language, c.fts, false
            from public.kb_chunks c
            where c.id = any (restricted)
          union all
          select c.id, c.language, c.fts, true
            from public.kb_chunks c
            where c.id = any (nearest) and internal.kb_can_find(audiences, is_in_default, c.searchable, c.audience)
              and (collections is null or c.collection = any (collections))
        ) c
        order by c.is_nearest desc, lexical desc, c.id
        limit max_word_matches + cardinality(nearest)
    ) r
    -- Some are found by words and by vectors.
    group by r.id;
end
$$;

comment on function internal.kb_search_by_words is
  'The chunks with rare words of the question that contain the most of its vocabulary, and the '
  'chunks in `nearest`, each with its lexical score. Only chunks of these collections (null: of '
  'all) that a user in these audiences can find.';

grant execute on function internal.kb_search_by_words to evidence_chat, service_role;

-- Chunks by vectors -------------------------------------------------------

create function internal.kb_searchable_chunk_count() returns bigint
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return (select coalesce(sum(k.chunks), 0) from public.kb_lexemes k where k.lexeme = '');
end
$$;

comment on function internal.kb_searchable_chunk_count is
  'Number of chunks that at least one user can find. This is about the number of their vectors, '
  'because a document is published with all of its vectors.';

grant execute on function internal.kb_searchable_chunk_count to evidence_chat, service_role;

create function internal.kb_nearest_chunks(
  query_embedding extensions.vector,
  collections text[],
  max_count integer
) returns uuid[]
  language plpgsql stable set search_path = ''
  -- Changed below. Named here, too, so that Postgres restores it after the call.
  set plan_cache_mode = force_custom_plan
as $$
declare
  -- Up to this many vectors are compared one by one, which takes a few milliseconds and is exact.
  max_exact_vectors constant integer := 2000;
  -- The same for some collections. A scan of the index also visits the vectors of all others, so comparing pays off up to more.
  max_exact_collection_vectors constant integer := 10000;
  total constant bigint := internal.kb_searchable_chunk_count();
  -- More candidates for more vectors keep the recall (cargo xtask bench search).
  candidates constant integer := case when total <= 20000 then 100 when total <= 200000 then 200 else 300 end;
  is_exact boolean := total <= max_exact_vectors;
  -- Normalized, because half precision ends at 65,504.
  query_half constant extensions.halfvec(384) := extensions.l2_normalize(query_embedding);
  is_iterative boolean := collections is not null;
  nearest uuid[];
  previous_indexscan constant text := current_setting('enable_indexscan');
  previous_sort constant text := current_setting('enable_sort');
begin
  if collections is not null and not is_exact then
    select count(*) <= max_exact_collection_vectors into is_exact
      from (
        select from public.kb_embeddings e
          where e.searchable and e.collection = any (collections)
          limit max_exact_collection_vectors + 1
      ) probe;
  end if;
  -- HNSW is approximate: it can miss a vector that is far from most others, or surrounded by ones deleted since the last vacuum.
  -- So a small number of vectors is sorted by distance, with plain index scans off. A larger number is read through the index, with
  -- sorting off, because the planner underestimates the cost of sorting thousands of vectors. Then the one plan that is left need not
  -- be made again, which takes as long as a twentieth of a search.
  -- These settings are not in the header, because attaching pgvector's settings to a function needs a superuser, which hosted
  -- Supabase does not provide. The iterative scan continues when the row of a candidate is deleted or hidden, or in another
  -- collection. It keeps what it has passed, which takes up to a quarter of the time, so the search of all collections begins without
  -- it. The higher limits let it scan further than pgvector would by default.
  perform
    set_config('hnsw.ef_search', greatest(candidates, 2 * max_count)::text, true),
    set_config('hnsw.max_scan_tuples', '100000', true),
    set_config('hnsw.scan_mem_multiplier', '8', true),
    set_config('plan_cache_mode', case when is_exact then 'force_custom_plan' else 'force_generic_plan' end, true),
    set_config('enable_indexscan', case when is_exact then 'off' else 'on' end, true),
    set_config('enable_sort', case when is_exact then 'on' else 'off' end, true);

  -- Only ORDER BY distance LIMIT n can use the vector index, so the threshold is applied outside.
  if is_exact then
    nearest := array(
      select e.chunk_id
        from public.kb_embeddings e
        where e.searchable and (collections is null or e.collection = any (collections))
        order by e.embedding operator(extensions.<=>) query_embedding
        limit max_count
    );
  else
    loop
      perform set_config('hnsw.iterative_scan', case when is_iterative then 'relaxed_order' else 'off' end, true);
      nearest := array(
        select e.chunk_id
          from public.kb_embeddings e
          where e.searchable and (collections is null or e.collection = any (collections))
          order by e.embedding::extensions.halfvec(384) operator(extensions.<=>) query_half
          limit max_count
      );
      exit when is_iterative or cardinality(nearest) = max_count;
      is_iterative := true;
    end loop;
  end if;
  perform
    set_config('enable_indexscan', previous_indexscan, true),
    set_config('enable_sort', previous_sort, true);
  return nearest;
end
$$;

comment on function internal.kb_nearest_chunks is
  'The searchable chunks of these collections (null: of all) whose embeddings are nearest to the '
  'question.';

grant execute on function internal.kb_nearest_chunks to evidence_chat, service_role;

create function internal.kb_nearest_restricted_chunks(
  query_embedding extensions.vector,
  audiences text[],
  collections text[],
  max_count integer
) returns uuid[]
  language plpgsql stable security definer set search_path = ''
  -- Only a custom plan can use the index on the conditions that apply: a null means that one does not.
  set plan_cache_mode = force_custom_plan
as $$
declare
  -- Up to this many vectors are compared one by one, which takes some milliseconds and is exact.
  max_exact_vectors integer := 2000;
  findable bigint;
  is_small boolean;
  -- Normalized, because half precision ends at 65,504.
  query_half constant extensions.halfvec(384) := extensions.l2_normalize(query_embedding);
  nearest uuid[];
  previous_indexscan constant text := current_setting('enable_indexscan');
  previous_sort constant text := current_setting('enable_sort');
begin
  perform from public.kb_documents d where d.audience is not null limit 1;
  if not found then
    return null;
  end if;
  -- If the caller can find less than a quarter of all restricted vectors, too few of the index's 200 candidates are theirs and its
  -- scan goes on, so comparing pays off up to more. The planner's count of them is near enough.
  if audiences is not null or collections is not null then
    max_exact_vectors := greatest(max_exact_vectors, least(10000, (
      select c.reltuples / 4 from pg_catalog.pg_class c where c.oid = to_regclass('public.kb_embeddings_restricted_hnsw')
    )));
  end if;
  if audiences is not null and collections is null then
    -- The usual search. Most users find no restricted vectors, and making this plan again would take most of the time.
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
    select count(*) into findable
      from (
        select from public.kb_embeddings e
          where e.audience is not null and e.audience && audiences
          limit max_exact_vectors + 1
      ) probe;
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  else
    select count(*) into findable
      from (
        select from public.kb_embeddings e
          where e.audience is not null and (audiences is null or e.audience && audiences)
            and (collections is null or array[e.collection] && collections)
          limit max_exact_vectors + 1
      ) probe;
  end if;
  if findable = 0 then
    return null;
  end if;
  is_small := findable <= max_exact_vectors;
  -- As in kb_nearest_chunks. The scan also visits vectors of other audiences. The higher limits let it scan further than pgvector
  -- would by default, so that restricted chunks of others cannot leave a user without results.
  perform
    set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.ef_search', greatest(200, 2 * max_count)::text, true),
    set_config('hnsw.max_scan_tuples', '100000', true),
    set_config('hnsw.scan_mem_multiplier', '8', true),
    set_config('enable_indexscan', case when is_small then 'off' else 'on' end, true),
    set_config('enable_sort', case when is_small then 'on' else 'off' end, true);
  if is_small then
    nearest := array(
      select e.chunk_id
        from public.kb_embeddings e
        where e.audience is not null and (audiences is null or e.audience && audiences)
          and (collections is null or array[e.collection] && collections)
        order by e.embedding operator(extensions.<=>) query_embedding
        limit max_count
    );
  else
    nearest := array(
      select e.chunk_id
        from public.kb_embeddings e
        where e.audience is not null and (audiences is null or e.audience && audiences)
          and (collections is null or array[e.collection] && collections)
        order by e.embedding::extensions.halfvec(384) operator(extensions.<=>) query_half
        limit max_count
    );
  end if;
  perform
    set_config('enable_indexscan', previous_indexscan, true),
    set_config('enable_sort', previous_sort, true);
  return nearest;
end
$$;

comment on function internal.kb_nearest_restricted_chunks is
  'The restricted chunks of these audiences and collections whose embeddings are nearest to the '
  'question. Null if there are none.';

grant execute on function internal.kb_nearest_restricted_chunks to evidence_chat, service_role;

-- Sentences and headings --------------------------------------------------

create function internal.kb_sentence_heading_similarities(
  chunk_ids uuid[],
  query_embedding extensions.vector
) returns table (chunk_id uuid, sentence double precision, heading double precision)
  language plpgsql stable security definer set search_path = ''
  set plan_cache_mode = force_generic_plan
  -- The primary keys return the rows in the order of their chunks, without a sort.
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  -- Normalized, because half precision ends at 65,504.
  query_half extensions.halfvec(384) := extensions.l2_normalize(query_embedding);
begin
  return query
  select coalesce(s.chunk_id, h.chunk_id), s.nearest, h.similarity
    from (
      select s.chunk_id, 1 - min(s.embedding operator(extensions.<=>) query_half) as nearest
        from public.kb_sentences s
        where s.chunk_id = any (chunk_ids)
        group by s.chunk_id
    ) s
    full join (
      select h.chunk_id, 1 - (h.embedding operator(extensions.<=>) query_half) as similarity
        from public.kb_headings h
        where h.chunk_id = any (chunk_ids)
    ) h on h.chunk_id = s.chunk_id;
end
$$;

comment on function internal.kb_sentence_heading_similarities is
  'For each chunk with sentences or a heading, the cosine of the question with its best sentence '
  'and with its heading. Trusts its caller to pass only chunks that the user can see: checking '
  'again would cost a tenth of the search.';

grant execute on function internal.kb_sentence_heading_similarities to evidence_chat, service_role;

create function internal.kb_chunk_sentences(
  chunk_ids uuid[],
  query_embedding extensions.vector,
  audiences text[],
  is_in_default boolean
) returns table (chunk_id uuid, sentences jsonb, blocks jsonb, parts jsonb)
  language plpgsql stable security definer set search_path = ''
  set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  -- Normalized, because half precision ends at 65,504.
  query_half extensions.halfvec(384) := extensions.l2_normalize(query_embedding);
begin
  return query
  select c.id, (
      select jsonb_agg(
          jsonb_build_object(
            'start', s.start,
            'end', s."end",
            'similarity', 1 - (s.embedding operator(extensions.<=>) query_half),
            'kind', s.kind,
            'chain', s.chain
          )
          order by s.ordinal
        )
        from public.kb_sentences s
        where s.chunk_id = c.id
    ), c.blocks, c.parts
    from public.kb_chunks c
    where c.id = any (chunk_ids) and internal.kb_can_find(audiences, is_in_default, c.searchable, c.audience);
end
$$;

comment on function internal.kb_chunk_sentences is
  'Sentences of chunks in order, each with its cosine with the question, null for none; and the '
  'layout and the parts of the chunks. Only of chunks that these audiences can find.';

grant execute on function internal.kb_chunk_sentences to evidence_chat, service_role;

-- Of the three cosines of a chunk - its own, its best sentence's, its heading's - the two largest count: a heading that is
-- only a title does not lower the score of a passage that answers, and a long passage does not lower that of its heading.
-- `return` and no search_path setting, so that Postgres can inline calls.
create function internal.kb_sum_of_two_largest(passage double precision, sentence double precision, heading double precision)
  returns double precision
  language sql immutable
  return passage + sentence + coalesce(heading, least(passage, sentence)) - least(passage, sentence, heading);

comment on function internal.kb_sum_of_two_largest is
  'The sum of the two largest of three numbers, of which the last may be missing.';

grant execute on function internal.kb_sum_of_two_largest to evidence_chat, service_role;

-- A search result; see match_chunks.
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
  blocks jsonb,
  parts jsonb,
  query_terms jsonb
);

-- Entry point of the search -----------------------------------------------

create function internal.kb_search(
  query_embedding extensions.vector(384),
  match_count integer,
  match_threshold double precision,
  query_text text,
  assistant text
) returns setof internal.kb_match
  language plpgsql stable set search_path = ''
  set plan_cache_mode = force_generic_plan
  -- These statements take about a millisecond, less than compiling them.
  set jit = off
as $$
#variable_conflict use_column
declare
  -- How many chunks with words of the question are considered. The duration of a search grows with this number (bench/search) and
  -- hardly with the size of the knowledge base. Rare words come first; a chunk that has only common words is found by its vector
  -- or not at all.
  chunk_budget constant integer := 300;
  -- Words can move a chunk ahead of others with better vectors, so more vectors are considered.
  nearest_count constant integer := case when query_text is null then match_count else greatest(50, 4 * match_count) end;
  -- Null for a role that sees everything; only row level security knows which one does.
  audiences constant text[] :=
    case when row_security_active('public.kb_documents') then internal.kb_caller_audiences() end;
  is_in_default constant boolean := audiences is null or internal.kb_is_in_default_audience();
  -- The collections of the assistant, and null if it searches everything. Only the administrator may search without an assistant.
  collections constant text[] := case
    when assistant is not null or audiences is not null then (internal.chat_assistant(assistant, audiences)).collections
  end;
  -- The Worker's limit for questions, so that a direct call cannot cause more work.
  question_text constant text := left(query_text, 4000);
  -- Without a text, only vectors are compared.
  is_readable constant boolean := question_text is not null and internal.kb_is_readable(question_text);
  nearest uuid[];
  nearest_restricted uuid[];
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

  -- Without the condition, the scan of the vector index would look for a visible row among thousands of hidden ones.
  nearest_restricted := internal.kb_nearest_restricted_chunks(query_embedding, audiences, collections, nearest_count);
  nearest := case
      when is_in_default then internal.kb_nearest_chunks(query_embedding, collections, nearest_count)
      else '{}'
    end || coalesce(nearest_restricted, '{}');

  if query_text is not null then
    question := internal.kb_parse_question(
      question_text,
      -- Looked up only for a user who finds restricted chunks.
      case when nearest_restricted is null then '{}' else audiences end,
      is_in_default,
      chunk_budget
    );
  end if;

  return query
  with candidate as (
    select n.chunk_id, null::double precision as lexical
      from unnest(nearest) as n(chunk_id)
      where query_text is null
    union all
    select w.chunk_id, w.lexical
      from internal.kb_search_by_words(
        question, nearest, audiences, is_in_default, nearest_restricted is not null, collections, chunk_budget
      ) w
      where query_text is not null
  ), qualified as materialized (
    select k.chunk_id, k.lexical, v.*
      from candidate k
      cross join lateral (
        select 1 - (e.embedding operator(extensions.<=>) query_embedding) as similarity, e.model,
            c.document_id, c.ordinal, c.content, c.meta
          from public.kb_embeddings e
          join public.kb_chunks c on c.id = e.chunk_id
          -- The policies check who may see it. The service role bypasses them, but finds what somebody can find.
          where e.chunk_id = k.chunk_id and (c.searchable or c.audience is not null)
            and (collections is null or c.collection = any (collections))
          -- Forces one lookup and one distance per candidate, whatever row count the planner estimates.
          offset 0
      ) v
      -- The cosine with a zero vector is NaN, which Postgres sorts above all numbers.
      where v.similarity >= match_threshold and v.similarity < 'infinity'
  ), part as (
    select p.chunk_id, p.sentence, p.heading
      from internal.kb_sentence_heading_similarities(
        array(select q.chunk_id from qualified q where is_readable),
        query_embedding
      ) p
  ), ranked as (
    select q.*, p.heading, case
          when query_text is null then q.similarity
          when is_readable then (internal.kb_sum_of_two_largest(q.similarity, coalesce(p.sentence, q.similarity), p.heading)
            + q.lexical) / 3
          else q.lexical / 3
        end as score
      from qualified q
      left join part p on p.chunk_id = q.chunk_id
      order by score desc, q.chunk_id
      limit match_count
  )
  select
    r.chunk_id, r.document_id, d.name, d.meta, r.ordinal, r.content, r.meta, r.model,
    r.similarity, r.lexical, r.heading, r.score,
    coalesce(s.sentences, '[]'),
    s.blocks,
    coalesce(s.parts, '[]'),
    question.terms
  from ranked r
  -- Users do not learn for whom else a document is.
  cross join lateral (select d.name, d.meta - 'audience' as meta from public.kb_documents d where d.id = r.document_id offset 0) d
  left join internal.kb_chunk_sentences(
      array(select f.chunk_id from ranked f), query_embedding, audiences, is_in_default
    ) s on s.chunk_id = r.chunk_id
  order by r.score desc, r.chunk_id;
end
$$;

comment on function internal.kb_search is
  'The search of match_chunks, with the rights of the caller.';

grant execute on function internal.kb_search to evidence_chat, service_role;

create function internal.kb_search_as_user(
  query_embedding extensions.vector(384),
  match_count integer,
  match_threshold double precision,
  query_text text,
  assistant text
) returns setof internal.kb_match
  language plpgsql stable
  -- As evidence_chat, with the claims of the caller.
  security definer set search_path = ''
as $$
begin
  return query select * from internal.kb_search(query_embedding, match_count, match_threshold, query_text, assistant);
end
$$;

comment on function internal.kb_search_as_user is
  'The search of match_chunks as evidence_chat, to which the policies apply.';

grant execute on function internal.kb_search_as_user to authenticated;
alter function internal.kb_search_as_user owner to evidence_chat;

create function public.match_chunks(
  query_embedding extensions.vector(384),
  match_count integer default 5,
  match_threshold double precision default 0.35,
  query_text text default null,
  assistant text default 'default'
) returns setof internal.kb_match
  language plpgsql
  -- Counts the searches of each user.
  volatile set search_path = ''
as $$
begin
  if row_security_active('public.kb_documents') then
    perform internal.limit_searches();
    return query
      select * from internal.kb_search_as_user(query_embedding, match_count, match_threshold, query_text, assistant);
  else
    return query select * from internal.kb_search(query_embedding, match_count, match_threshold, query_text, assistant);
  end if;
end
$$;

comment on function public.match_chunks is
  'The chunks that fit a question best, best score first, from ready and enabled documents that '
  'the caller may see, in the collections of the assistant. Fails with PT404 if there is no such '
  'assistant that the caller may use. score: (the two largest of similarity, the cosine of the '
  'best sentence, and heading + lexical) / 3; for a question in a script that the model cannot '
  'read, lexical / 3; without query_text, similarity. similarity: cosine of query_embedding with '
  'the embedding of the chunk. match_threshold (inclusive) applies to it. heading: cosine of '
  'query_embedding with the last heading of the chunk; null if there is none or it was not '
  'computed. lexical: 0 to 1, how much of the informative vocabulary of query_text the chunk '
  'contains; rare words weigh more (ts_rank of a single lexeme saturates with its frequency as '
  'BM25 does: 0.61, 0.76, 0.83, … below 1). sentences: {start, end, similarity, kind, chain}, '
  'offsets in code points of content; kind and chain as in kb_sentences. blocks, parts: as in '
  'kb_chunks. query_terms: {word, weight}, the informative words of query_text, in a language of '
  'chunks that the caller may see, the same on every row, weighted by documents without an '
  'audience in all collections, and for users outside the default audience by no documents. Limit '
  'for calls that are not from the Worker: 60 searches a minute and three at once per user, then '
  'PT429.';

revoke all on function public.match_chunks from public, anon;
grant execute on function public.match_chunks to authenticated, service_role;
