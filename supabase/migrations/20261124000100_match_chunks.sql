-- Headings as a third way to find a passage, and a ranking that asks of each passage what speaks for it.
--
-- A heading that is the question in other words ("Can I send something back?") tells more than the passage below it, so each
-- chunk gets a vector of its last heading. Of the three cosines of a chunk - its own, its best sentence's, its heading's - the
-- two largest count: a heading that is only a title takes nothing from a passage that answers, and a long passage nothing from
-- its heading.

create table public.kb_headings (
  chunk_id uuid primary key references public.kb_chunks (id) on delete cascade,
  embedding extensions.halfvec(384) not null
    -- Nothing has a cosine with a zero vector.
    constraint kb_headings_embedding_not_zero check (extensions.l2_norm(embedding) > 0)
);

comment on table public.kb_headings is
  'The innermost heading above each chunk that has one. Passages are found by it; it is never quoted. Read by match_chunks only.';
comment on column public.kb_headings.chunk_id is 'The chunk below the heading.';
comment on column public.kb_headings.embedding is
  'Unit-length vector by the model of the chunk''s own embedding, in half precision, as in kb_sentences.';

revoke all on public.kb_headings from public, anon, authenticated;
grant all on public.kb_headings to service_role;
alter table public.kb_headings enable row level security;

-- Scripts that the model cannot read --------------------------------------

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
grant execute on function internal.kb_is_readable(text) to authenticated, service_role;

-- Words of a question ----------------------------------------------------

create or replace function internal.kb_read_question(query_text text, chunk_budget integer) returns internal.kb_question
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
    select n.language, n.chunks as total, t.word, t.place,
        case when n.language = 'english' and t.word = any (question_words) then '{}' else d.lexemes end as lexemes
      from public.kb_lexemes n
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
      group by m.language, m.total
      order by count(distinct m.word) filter (where k.word is not null or m.lexemes = '{}') desc,
        m.total desc, m.language
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

-- Ranking -----------------------------------------------------------------

-- Bound when it is made and without a search_path of its own, so that it is inlined where it is called.
create function internal.kb_two_largest(passage double precision, sentence double precision, heading double precision)
  returns double precision
  language sql
  immutable
  return passage + sentence + coalesce(heading, least(passage, sentence)) - least(passage, sentence, heading);

comment on function internal.kb_two_largest(double precision, double precision, double precision) is
  'The sum of the two largest of three numbers, of which the last may be missing.';
revoke all on function internal.kb_two_largest(double precision, double precision, double precision) from public;
grant execute on function internal.kb_two_largest(double precision, double precision, double precision)
  to authenticated, service_role;

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
grant execute on function internal.kb_part_similarities(uuid[], extensions.vector) to authenticated, service_role;

drop function public.match_chunks(extensions.vector, integer, double precision, text);

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
  -- Without a text nothing but vectors is compared.
  is_readable constant boolean := query_text is not null and internal.kb_is_readable(query_text);
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
  'everybody only.';

revoke all on function public.match_chunks(extensions.vector, integer, double precision, text) from public, anon;
grant execute on function public.match_chunks(extensions.vector, integer, double precision, text)
  to authenticated, service_role;

drop function internal.kb_best_sentences(uuid[], extensions.vector);

-- Writing headings --------------------------------------------------------

create or replace function public.kb_write_chunks(chunks jsonb) returns void
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
    delete from public.kb_headings h
      using jsonb_to_recordset(chunks) as c(id uuid)
      where h.chunk_id = c.id;
    delete from public.kb_sentences s
      using jsonb_to_recordset(chunks) as c(id uuid)
      where s.chunk_id = c.id;
  end if;

  -- No "on conflict do update", which takes the lock even where there is no conflict.
  insert into public.kb_embeddings (chunk_id, embedding, model)
    select c.id, internal.kb_unit_vector(c.embedding), c.model
      from jsonb_to_recordset(chunks) as c(id uuid, embedding extensions.vector(384), model text);

  insert into public.kb_headings (chunk_id, embedding)
    select c.id, internal.kb_unit_vector(c.heading)
      from jsonb_to_recordset(chunks) as c(id uuid, heading extensions.vector(384))
      where c.heading is not null;

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
  '"…"}, "embedding": "[1234,-567,…]", "model": "fingerprint", "heading": "[12,-5,…]", "sentences": [{"start": 0, "end": 20, '
  '"embedding": "[12,-5,…]"}]}]. embedding: 384 numbers as text in brackets (or as a list, which is slower), of unit length or '
  'multiplied by any one number. Whole numbers of at most 9 digits are read five times faster: the vector times 2^28, '
  'for headings and sentences times 2^17. ordinal, meta, heading (the vector of the innermost heading) and sentences may be '
  'left out. Sentences are numbered in their order. All of it or nothing; repeated, it changes nothing, and chunks that exist '
  'are overwritten with their vectors and sentences.';

create or replace function public.kb_write_vectors(vectors jsonb) returns setof uuid
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

  delete from public.kb_headings h where h.chunk_id = any (written);
  insert into public.kb_headings (chunk_id, embedding)
    select v.chunk_id, internal.kb_unit_vector(v.heading)
      from jsonb_to_recordset(vectors) as v(chunk_id uuid, heading extensions.vector(384))
      where v.chunk_id = any (written) and v.heading is not null;

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
  'Replaces the vectors of chunks, of their headings and their sentences, which are no longer stale then: [{"chunk_id": uuid, '
  '"text_hash": "…", "embedding": "[1234,…]", "model": "fingerprint", "heading": "[12,…]", "sentences": [{"start": 0, "end": '
  '20, "embedding": "[12,…]"}]}]. '
  'Embeddings as for kb_write_chunks; text_hash: md5 in hexadecimal of section (empty if there is none), newline and '
  'content in UTF-8. Returns the chunks '
  'that were written; one whose text is another by now, or that is gone, is left alone.';

-- Why there is no answer --------------------------------------------------

alter table public.chat_messages
  drop constraint chat_messages_refusal_known,
  add constraint chat_messages_refusal_known
    check (refusal in ('no_match', 'weak_evidence', 'unreadable_language', 'empty_kb'));

comment on column public.chat_messages.refusal is
  'Why the question got no answer: no_match, weak_evidence, unreadable_language or empty_kb. Empty (NULL) for questions and '
  'answers.';

alter table public.chat_refusals
  drop constraint chat_refusals_reason_known,
  add constraint chat_refusals_reason_known
    check (reason in ('no_match', 'weak_evidence', 'unreadable_language', 'empty_kb'));

comment on column public.chat_refusals.reason is
  'no_match: no passage is near enough. weak_evidence: some are, but are not likely to answer. unreadable_language: the model '
  'cannot read the question''s script, and its words find too little. empty_kb: there is no document.';
