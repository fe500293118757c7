-- The insights page: what administrators may know about the use of the chat. Daily counts, kept by triggers, answer within
-- milliseconds for a year of conversations. They hold no text and no user, so they stay when conversations are deleted.

-- Administrators ----------------------------------------------------------

create function internal.chat_is_administrator() returns boolean
  language plpgsql stable
  -- Users may not read chat_settings.
  security definer set search_path = ''
as $$
begin
  return coalesce((select s.administrators from public.chat_settings s), '{evidence_chat:administrator}')
    && internal.kb_caller_audiences();
end
$$;

comment on function internal.chat_is_administrator is
  'Whether the caller has one of the claims in chat_settings.administrators, or in its default.';

create function internal.chat_require_administrator() returns void
  language plpgsql stable security definer set search_path = ''
as $$
begin
  -- security definer changes the current user, but not the role of the request.
  if current_setting('role') <> 'service_role' and not internal.chat_is_administrator() then
    raise exception 'Only administrators may do this.'
      using errcode = 'insufficient_privilege',
        hint = 'Ask the owner of the project to add a claim of yours to chat_settings.administrators.';
  end if;
end
$$;

comment on function internal.chat_require_administrator is
  'Fails with insufficient_privilege, which PostgREST turns into status 403, unless the caller is '
  'an administrator or the service role.';

-- Daily counts ------------------------------------------------------------

create type internal.chat_measure as enum (
  'questions', 'answers', 'refusals', 'cited_answers', 'hedged_answers', 'generated_answers',
  'citations_hovered', 'citations_opened', 'citations_copied', 'liked', 'disliked',
  'disliked_wrong', 'disliked_incomplete', 'disliked_off_topic', 'disliked_outdated',
  'disliked_other'
);

comment on type internal.chat_measure is
  'What chat_daily counts. cited_answers: answers with at least one citation. hedged_answers: '
  'answers that say that they may not answer the question. generated_answers: answers that a '
  'language model wrote. citations_…: how often visitors looked at the card of a citation, opened '
  'one, or copied an answer with its sources. liked, disliked: answers with such feedback, which '
  'follow its changes. disliked_…: disliked answers with this reason.';

create table internal.chat_daily (
  assistant text not null references public.assistants (name)
    on update cascade on delete cascade,
  day date not null,
  measure internal.chat_measure not null,
  count integer not null,
  primary key (assistant, day, measure)
);

comment on table internal.chat_daily is
  'Counts of one assistant and day (UTC), of turns that the Worker recorded; 0 without a row. '
  'Nothing is subtracted when conversations are deleted.';
comment on column internal.chat_daily.day is 'The day, in UTC. For feedback, that of the answer.';

create table internal.chat_daily_latency (
  assistant text not null references public.assistants (name)
    on update cascade on delete cascade,
  day date not null,
  bucket smallint not null,
  turns integer not null,
  primary key (assistant, day, bucket)
);

comment on table internal.chat_daily_latency is
  'Histogram of the time to the end of an answer or refusal. Percentiles of several days cannot be '
  'computed from those of each day.';
comment on column internal.chat_daily_latency.bucket is
  'Eight times the binary logarithm of the milliseconds, rounded: a value differs from its bucket '
  'by at most 4.5 %.';

create table internal.chat_daily_documents (
  assistant text not null references public.assistants (name)
    on update cascade on delete cascade,
  day date not null,
  -- No foreign key: the counts of a deleted document show that answers were based on it.
  document_id uuid not null,
  times_cited integer not null,
  primary key (assistant, day, document_id)
);

comment on table internal.chat_daily_documents is
  'How many answers of a day are based on a document.';

create function internal.chat_count_messages() returns trigger
  language plpgsql
  -- No role may write the counts.
  security definer set search_path = ''
as $$
begin
  -- Always in this order and sorted, so that concurrent turns cannot deadlock.
  insert into internal.chat_daily as d (assistant, day, measure, count)
    select
        s.assistant,
        (m.created_at at time zone 'UTC')::date as day,
        c.measure::internal.chat_measure as measure,
        count(*)
      from added m
      join public.chat_sessions s on s.id = m.session_id
      cross join lateral (
        values
          ('questions', m.role = 'user'),
          ('answers', m.role = 'assistant' and m.refusal is null),
          ('refusals', m.refusal is not null),
          ('cited_answers', m.role = 'assistant' and m.refusal is null and m.citations <> '[]'),
          ('hedged_answers', m.hedged),
          ('generated_answers', m.mode = 'generated'),
          -- Users give feedback later. Messages of a restored backup have it.
          ('liked', m.feedback_rating = 'up'),
          ('disliked', m.feedback_rating = 'down'),
          ('disliked_' || m.feedback_reason, m.feedback_reason is not null)
      ) as c(measure, is_counted)
      where m.from_worker and c.is_counted
      group by s.assistant, day, c.measure
      order by s.assistant, day, measure
    on conflict (assistant, day, measure) do update set count = d.count + excluded.count;
  insert into internal.chat_daily_latency as l (assistant, day, bucket, turns)
    select
        s.assistant,
        (m.created_at at time zone 'UTC')::date as day,
        round(8 * log(2, greatest(m.latency_ms, 1))) as bucket,
        count(*)
      from added m
      join public.chat_sessions s on s.id = m.session_id
      where m.from_worker and m.latency_ms is not null
      group by s.assistant, day, bucket
      order by s.assistant, day, bucket
    on conflict (assistant, day, bucket) do update set turns = l.turns + excluded.turns;
  insert into internal.chat_daily_documents as c (assistant, day, document_id, times_cited)
    select s.assistant, (m.created_at at time zone 'UTC')::date as day, source.id, count(*)
      from added m
      join public.chat_sessions s on s.id = m.session_id
      cross join unnest(m.sources) as source(id)
      where m.from_worker and m.role = 'assistant'
      group by s.assistant, day, source.id
      order by s.assistant, day, source.id
    on conflict (assistant, day, document_id)
      do update set times_cited = c.times_cited + excluded.times_cited;
  return null;
end
$$;

comment on function internal.chat_count_messages is
  'Trigger: adds new messages of the Worker to the daily counts.';

create trigger chat_messages_count
  after insert on public.chat_messages
  referencing new table as added
  for each statement execute function internal.chat_count_messages();

create function internal.chat_count_feedback() returns trigger
  language plpgsql
  -- No role may write the counts.
  security definer set search_path = ''
as $$
begin
  -- The day of the answer, so that taking back what was said takes it out of the day that it was
  -- added to. Days that were purged have no row and stay without one.
  insert into internal.chat_daily as d (assistant, day, measure, count)
    select s.assistant, c.day, c.measure, c.change
      from public.chat_sessions s
      cross join (
        select
            (new.created_at at time zone 'UTC')::date as day,
            m.name::internal.chat_measure as measure,
            sum(said.sign) as change
          from (
            values
              (-1, old.feedback_rating, old.feedback_reason),
              (1, new.feedback_rating, new.feedback_reason)
          ) as said(sign, rating, reason)
          cross join lateral (
            values
              (case said.rating when 'up' then 'liked' when 'down' then 'disliked' end),
              ('disliked_' || said.reason)
          ) as m(name)
          where m.name is not null
          group by m.name
          having sum(said.sign) <> 0
      ) c
      where s.id = new.session_id
        and exists (
          select from internal.chat_daily k
            where k.assistant = s.assistant and k.day = c.day
              and (c.change > 0 or k.measure = c.measure)
        )
      order by c.measure
    on conflict (assistant, day, measure)
      do update set count = greatest(d.count + excluded.count, 0);
  return null;
end
$$;

comment on function internal.chat_count_feedback is
  'Trigger: keeps the counts of liked and disliked answers as users change their feedback. '
  'Deleting a message changes no count.';

create trigger chat_messages_count_feedback
  after update of feedback_rating, feedback_reason on public.chat_messages
  for each row
  when (new.from_worker
    and (old.feedback_rating, old.feedback_reason)
      is distinct from (new.feedback_rating, new.feedback_reason))
  execute function internal.chat_count_feedback();

create function internal.chat_purge_daily_counts() returns void
  language sql set search_path = ''
as $$
  delete from internal.chat_daily d where d.day < (now() at time zone 'UTC')::date - 400;
  delete from internal.chat_daily_latency l where l.day < (now() at time zone 'UTC')::date - 400;
  delete from internal.chat_daily_documents c where c.day < (now() at time zone 'UTC')::date - 400;
$$;

comment on function internal.chat_purge_daily_counts is
  'Deletes daily counts that are older than 400 days.';

-- Use of citations --------------------------------------------------------

create function internal.chat_count_citation_use(
  hovered integer default 0,
  opened integer default 0,
  copied integer default 0,
  assistant text default 'default'
) returns void
  language plpgsql
  -- As evidence_chat, with the claims of the caller.
  security definer set search_path = ''
as $$
begin
  if num_nulls(hovered, opened, copied) > 0
    or least(hovered, opened, copied) < 0 or greatest(hovered, opened, copied) > 1000
  then
    raise exception 'hovered, opened and copied must be 0 to 1000'
      using errcode = 'invalid_parameter_value';
  end if;
  perform internal.chat_assistant(assistant, internal.kb_caller_audiences());
  perform internal.consume_quota('citation_use', hovered + opened + copied, 2000, '1 hour');
  -- Direct calls could count anything.
  if internal.is_worker_request() then
    perform internal.chat_add_citation_use(hovered, opened, copied, assistant);
  end if;
end
$$;

call internal.create_api_function(
  'chat_count_citation_use', 'authenticated',
  'Adds to the counts of today how often the caller looked at the card of a citation (hovered), '
  'opened one, or copied an answer: each 0 to 1000 a call. Stores no text and no user. Calls that '
  'are not from the Worker count nothing. Limit: 2,000 an hour for each user, then PT429.',
  runs_as => 'evidence_chat'
);

create function internal.chat_add_citation_use(
  hovered integer,
  opened integer,
  copied integer,
  assistant text
) returns void
  language sql
  -- No role may write the counts.
  security definer set search_path = ''
as $$
  insert into internal.chat_daily as d (assistant, day, measure, count)
    select assistant, (now() at time zone 'UTC')::date, u.measure::internal.chat_measure, u.count
      from (
        values ('citations_hovered', hovered), ('citations_opened', opened),
          ('citations_copied', copied)
      ) as u(measure, count)
      where u.count > 0
    on conflict (assistant, day, measure) do update set count = d.count + excluded.count
$$;

comment on function internal.chat_add_citation_use is
  'Adds to the counts of today. The caller must have checked the values.';

grant execute on function internal.chat_add_citation_use to evidence_chat;

-- Reading -----------------------------------------------------------------

-- Each function takes the number of days, including today, and the name of an assistant, or null
-- for all, and returns JSON objects, whose types are in web/insights/data.ts. The functions run as
-- the owner of the tables, so each must begin with chat_insights_scope.

create function internal.chat_insights_scope(days integer, assistant text) returns text[]
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform internal.chat_require_administrator();
  if days is null or days not between 1 and 90 then
    raise exception 'days must be 1 to 90' using errcode = 'invalid_parameter_value';
  end if;
  if assistant is null then
    return array(select a.name from public.assistants a);
  end if;
  return array[(internal.chat_assistant(assistant, null)).name];
end
$$;

comment on function internal.chat_insights_scope is
  'Checks the caller and the arguments of an insights function, and returns the names of the '
  'assistants. Fails with insufficient_privilege, invalid_parameter_value or PT404.';

create function internal.chat_searched_collections(names text[]) returns text[]
  language sql stable set search_path = ''
as $$
  select case when not bool_or(a.collections is null) then array_agg(c.name) end
    from public.assistants a
    left join unnest(a.collections) as c(name) on true
    where a.name = any (names)
$$;

comment on function internal.chat_searched_collections is
  'The collections that any of these assistants searches; null if one searches all.';

create function internal.chat_percentile(
  share double precision,
  buckets smallint[],
  turns bigint[]
) returns integer
  language sql immutable set search_path = ''
as $$
  select round(power(2, min(t.bucket) / 8.0))::integer
    from (
      select
          h.bucket,
          sum(h.turns) over (order by h.bucket) as running,
          sum(h.turns) over () as total
        from unnest(buckets, turns) as h(bucket, turns)
    ) t
    where t.running >= share * t.total
$$;

comment on function internal.chat_percentile is
  'The percentile, in milliseconds, of a histogram with the buckets of chat_daily_latency; null if '
  'it is empty. share: 0 to 1.';

create function internal.chat_share(part numeric, whole numeric) returns double precision
  language sql immutable set search_path = ''
  return round(part / nullif(whole, 0), 3)::double precision;

comment on function internal.chat_share is 'A share of 0 to 1; null if the whole is 0.';

create function internal.chat_totals(
  names text[],
  periods text[],
  first_days date[],
  last_days date[]
) returns setof jsonb
  language sql stable set search_path = ''
as $$
  select t.counts || jsonb_build_object(
      'period', p.period,
      'answered_share', internal.chat_share(t.answers, t.answers + t.refusals),
      'cited_share', internal.chat_share(t.cited_answers, t.answers),
      'liked_share', internal.chat_share(t.liked, t.liked + t.disliked),
      'latency_p50_ms', internal.chat_percentile(0.5, l.buckets, l.turns),
      'latency_p95_ms', internal.chat_percentile(0.95, l.buckets, l.turns)
    )
    from unnest(periods, first_days, last_days) as p(period, first_day, last_day)
    cross join lateral (
      select
          jsonb_object_agg(m.measure, m.count) as counts,
          sum(m.count) filter (where m.measure = 'answers') as answers,
          sum(m.count) filter (where m.measure = 'refusals') as refusals,
          sum(m.count) filter (where m.measure = 'cited_answers') as cited_answers,
          sum(m.count) filter (where m.measure = 'liked') as liked,
          sum(m.count) filter (where m.measure = 'disliked') as disliked
        from (
          select every.measure, coalesce(sum(d.count), 0) as count
            from unnest(enum_range(null::internal.chat_measure)) as every(measure)
            left join internal.chat_daily d
              on d.measure = every.measure and d.assistant = any (names)
                and d.day between p.first_day and p.last_day
            group by every.measure
        ) m
    ) t
    cross join lateral (
      select array_agg(h.bucket) as buckets, array_agg(h.turns) as turns
        from (
          select h.bucket, sum(h.turns) as turns
            from internal.chat_daily_latency h
            where h.assistant = any (names) and h.day between p.first_day and p.last_day
            group by h.bucket
        ) h
    ) l
$$;

comment on function internal.chat_totals is
  'The totals of these assistants for each period, from its first to its last day, as in '
  'chat_insights.';

create function internal.chat_insights(days integer default 30, assistant text default null)
  returns setof jsonb
  language plpgsql stable
  -- Reads counts that no role may read.
  security definer set search_path = ''
as $$
declare
  names constant text[] := internal.chat_insights_scope(days, assistant);
  today constant date := (now() at time zone 'UTC')::date;
begin
  return query
    select internal.chat_totals(
      names, '{current,previous}',
      array[today - days + 1, today - 2 * days + 1], array[today, today - days]
    );
end
$$;

call internal.create_api_function(
  'chat_insights', 'authenticated, service_role',
  'Two objects with totals for administrators: period current (the last days, 1 to 90, including '
  'today, in UTC) and previous (as many days before). A count for each internal.chat_measure. '
  'answered_share: answers among answers and refusals; cited_share: answers with citations among '
  'answers; liked_share: liked among answers with feedback, however late it came; all 0 to 1, null '
  'without any. latency_p50_ms, latency_p95_ms: milliseconds to the end of an answer or refusal, '
  'within 4.5 %. assistant: null for all. Others than administrators get insufficient_privilege.'
);

create function internal.chat_insights_days(days integer default 30, assistant text default null)
  returns setof jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  names constant text[] := internal.chat_insights_scope(days, assistant);
  all_days constant date[] := array(
    select (now() at time zone 'UTC')::date - back
      from generate_series(days - 1, 0, -1) as back
  );
begin
  return query
    select t.totals
      from internal.chat_totals(names, all_days::text[], all_days, all_days) as t(totals)
      order by t.totals ->> 'period';
end
$$;

call internal.create_api_function(
  'chat_insights_days', 'authenticated, service_role',
  'An object as in chat_insights for each of the last days (1 to 90, UTC), the oldest first, also '
  'for days without questions. period: the day. For administrators.'
);

create function internal.chat_insights_gaps(
  days integer default 30,
  assistant text default null,
  max_count integer default 20
) returns setof jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  names constant text[] := internal.chat_insights_scope(days, assistant);
  since constant timestamptz := internal.chat_first_moment(days);
begin
  return query
    with gap as (
      select
          r.group_id,
          min(r.assistant) as assistant_name,
          count(*) as questions,
          count(*) filter (where r.reason = 'disliked') as disliked,
          count(distinct r.asker) as users,
          max(r.best_score) as best_score,
          array_agg(distinct r.reason order by r.reason) as reasons,
          min(r.created_at) as first_asked,
          max(r.created_at) as last_asked
        from public.chat_refusals r
        where r.from_worker and r.created_at >= since and r.assistant = any (names)
        group by r.group_id
        having count(distinct r.asker) >= internal.chat_gap_users()
        order by users desc, questions desc, last_asked desc, r.group_id
        limit least(greatest(max_count, 0), 100)
    )
    select to_jsonb(gap) || jsonb_build_object('examples', example.questions)
      from gap
      cross join lateral (
        -- The centroid of a group moves little after a hundred questions.
        select array_agg(q.question order by q.distance, q.question) as questions
          from (
            select newest.question,
                min(newest.embedding operator(extensions.<=>) newest.centroid) as distance
              from (
                select r.question, r.embedding, extensions.avg(r.embedding) over () as centroid
                  from (
                    select r.question, r.embedding
                      from public.chat_refusals r
                      where r.group_id = gap.group_id and r.from_worker and r.created_at >= since
                      order by r.created_at desc
                      limit 100
                  ) r
              ) newest
              group by newest.question
              order by distance, newest.question
              limit 5
          ) q
      ) example
      order by gap.users desc, gap.questions desc, gap.last_asked desc, gap.group_id;
end
$$;

call internal.create_api_function(
  'chat_insights_gaps', 'authenticated, service_role',
  'Groups of similar questions of the last days (1 to 90) that the documents do not answer, or not '
  'well, and that at least chat_settings.gap_users users asked in that time, most users first. At '
  'most max_count, and 100. Counts only questions that the Worker recorded. disliked: how many of '
  'the questions were answered, and the user disliked the answer; the others were refused. '
  'best_score: highest cosine of any passage to any of the questions. reasons: of the refusals; '
  'disliked if an answer was. examples: up to 5 questions of the group, the most typical first. For '
  'administrators.'
);

create function internal.chat_insights_comments(
  days integer default 30,
  assistant text default null,
  max_count integer default 20
) returns setof jsonb
  language plpgsql stable security definer set search_path = ''
  -- There are no statistics of feedback, so the planner expects comments on a third of all
  -- messages, and would read all messages or all sessions.
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $$
declare
  names constant text[] := internal.chat_insights_scope(days, assistant);
  since constant timestamptz := internal.chat_first_moment(days);
begin
  return query
    -- Materialized, because the planner would otherwise read all messages of an assistant rather
    -- than the few with comments.
    with recent as materialized (
      select m as answer from public.chat_messages m
        where m.feedback_comment is not null and m.from_worker and m.feedback_at >= since
    ), commented as (
      select r.answer, s.assistant, count(*) over () as total
        from recent r
        join public.chat_sessions s on s.id = (r.answer).session_id
        where s.assistant = any (names)
        order by (r.answer).feedback_at desc, (r.answer).id
        limit least(greatest(max_count, 0), 100)
    )
    select jsonb_build_object(
        'feedback_at', (c.answer).feedback_at,
        'assistant_name', c.assistant,
        'rating', (c.answer).feedback_rating,
        'reason', (c.answer).feedback_reason,
        'comment', (c.answer).feedback_comment,
        'question', internal.chat_question_of(c.answer),
        'total', c.total
      )
      from commented c
      order by (c.answer).feedback_at desc, (c.answer).id;
end
$$;

call internal.create_api_function(
  'chat_insights_comments', 'authenticated, service_role',
  'What users wrote about answers in the last days (1 to 90), the newest first, with the question: '
  'without user, conversation and answer. At most max_count, and 100, objects of feedback_at, '
  'assistant_name, rating: up or down, reason: wrong, incomplete, off_topic, outdated or other, for '
  'down, or null, comment, question, and total: how many there are. They go when the user or the '
  'retention deletes the conversation. For administrators.'
);

create function internal.chat_insights_documents(
  days integer default 30,
  assistant text default null,
  max_count integer default 20
) returns setof jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  names constant text[] := internal.chat_insights_scope(days, assistant);
  today constant date := (now() at time zone 'UTC')::date;
begin
  return query
    with cited as (
      select
          c.document_id,
          sum(c.times_cited) as times_cited,
          max(c.day) as last_cited,
          count(*) over () as total
        from internal.chat_daily_documents c
        where c.assistant = any (names) and c.day > today - days
        group by c.document_id
        order by times_cited desc, last_cited desc, c.document_id
        limit least(greatest(max_count, 0), 100)
    )
    select to_jsonb(c) || internal.chat_listed_document(d)
        || jsonb_build_object('state', internal.chat_document_state(d.status, d.enabled))
      from cited c
      left join public.kb_documents d on d.id = c.document_id
      order by c.times_cited desc, c.last_cited desc, c.document_id;
end
$$;

call internal.create_api_function(
  'chat_insights_documents', 'authenticated, service_role',
  'The documents that most answers of the last days (1 to 90) are based on: at most max_count, and '
  '100, objects of document_id, title, source, collection, url, times_cited, last_cited, state: '
  'ready, disabled or deleted (then without title, source, collection and url), and total: how many '
  'documents were cited. For administrators.'
);

create function internal.chat_insights_uncited(
  days integer default 30,
  assistant text default null,
  max_count integer default 20
) returns setof jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  names constant text[] := internal.chat_insights_scope(days, assistant);
  collections constant text[] := internal.chat_searched_collections(names);
  today constant date := (now() at time zone 'UTC')::date;
begin
  return query
    with cited as (
      select c.document_id, max(c.day) as last_cited
        from internal.chat_daily_documents c
        where c.assistant = any (names)
        group by c.document_id
    )
    select internal.chat_listed_document(d) || jsonb_build_object(
        'document_id', d.id, 'created_at', d.created_at, 'last_cited', c.last_cited,
        'total', count(*) over ()
      )
      from public.kb_documents d
      left join cited c on c.document_id = d.id
      where d.status = 'ready' and d.enabled
        and (c.last_cited is null or c.last_cited <= today - days)
        and (collections is null or d.collection = any (collections))
      order by c.last_cited nulls first, d.created_at, d.id
      limit least(greatest(max_count, 0), 100);
end
$$;

call internal.create_api_function(
  'chat_insights_uncited', 'authenticated, service_role',
  'Documents that the search can find and that no answer of the last days (1 to 90) is based on: '
  'never cited first, then the oldest citation. At most max_count, and 100, objects of document_id, '
  'title, source, collection, url, created_at, last_cited: the last day within 400 days, null if '
  'there is none, and total: how many there are. For administrators.'
);

create function internal.chat_listed_document(document public.kb_documents) returns jsonb
  language sql immutable set search_path = ''
  return jsonb_build_object(
    'title', coalesce(document.meta ->> 'title', document.name), 'source', document.source,
    'collection', document.collection, 'url', document.meta ->> 'url'
  );

comment on function internal.chat_listed_document is 'What the insights say about a document.';

create function internal.chat_document_state(status text, enabled boolean) returns text
  language sql immutable set search_path = ''
  return case
    when status is null then 'deleted'
    when status = 'ready' and enabled then 'ready'
    else 'disabled'
  end;

comment on function internal.chat_document_state is
  'State of a document for the insights. ready: the search finds it. disabled: it does not. '
  'deleted (no status): there is none.';

create function internal.chat_first_moment(days integer) returns timestamptz
  language sql stable set search_path = ''
  return ((now() at time zone 'UTC')::date - days + 1)::timestamp at time zone 'UTC';

comment on function internal.chat_first_moment is
  'When the first of the last days began in UTC; today is one of them.';

create function internal.chat_insights_health(days integer default 30, assistant text default null)
  returns setof jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  names constant text[] := internal.chat_insights_scope(days, assistant);
  collections constant text[] := internal.chat_searched_collections(names);
  today constant date := (now() at time zone 'UTC')::date;
begin
  return query
    with cited as (
      select c.document_id, sum(c.times_cited) as times_cited
        from internal.chat_daily_documents c
        where c.assistant = any (names) and c.day > today - days
        group by c.document_id
    ), by_state as (
      select
          internal.chat_document_state(d.status, d.enabled) as state,
          sum(c.times_cited) as times_cited
        from cited c
        left join public.kb_documents d on d.id = c.document_id
        group by state
    ), searched as (
      select d.id from public.kb_documents d
        where d.status = 'ready' and d.enabled
          and (collections is null or d.collection = any (collections))
    ), trouble as (
      select t.source, t.reason, t.since, count(*) over () as total
        from public.kb_troubles t
        where collections is null or t.collection = any (collections)
        order by t.since
        limit 20
    )
    select jsonb_build_object(
        'citations', (select coalesce(sum(b.times_cited), 0) from by_state b)
      ) || (
        select jsonb_object_agg('citations_of_' || s.state, coalesce(b.times_cited, 0))
          from unnest('{ready,disabled,deleted}'::text[]) as s(state)
          left join by_state b using (state)
      ) || jsonb_build_object(
        'documents', (select count(*) from searched),
        'cited_documents',
        (select count(*) from searched s join cited c on c.document_id = s.id),
        'stale_passages', (
          select count(*) from public.kb_chunks k
            join searched s on s.id = k.document_id
            where k.stale
        ),
        'outdated', (select coalesce(max(t.total), 0) from trouble t),
        'troubles', (
          select coalesce(jsonb_agg(to_jsonb(t) - 'total' order by t.since), '[]') from trouble t
        )
      );
end
$$;

call internal.create_api_function(
  'chat_insights_health', 'authenticated, service_role',
  'One object about citations. citations of the last days (1 to 90), a document once for each '
  'answer, by the present state of the document: citations_of_ready, …_disabled or …_deleted. '
  'documents: those that the search can find; cited_documents: how many of them were cited. '
  'stale_passages were edited and are not found until they have new vectors. outdated: documents '
  'and collections that are not as new as their source; troubles: the 20 oldest of them, [{source, '
  'reason, since}]. For administrators.'
);

create function internal.chat_insights_assistants()
  returns table (name text, title text, enabled boolean)
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform internal.chat_require_administrator();
  return query
    select a.name, a.title, a.enabled from public.assistants a
      order by a.name <> 'default', a.name;
end
$$;

call internal.create_api_function(
  'chat_insights_assistants', 'authenticated, service_role',
  'The assistants, "default" first. For administrators.'
);

-- Alerts ------------------------------------------------------------------

create table internal.chat_alerts (
  measure text primary key
    constraint chat_alerts_measure_valid check (measure in ('answered_share', 'cited_share')),
  checked_at timestamptz not null default now(),
  is_below boolean not null default false,
  sent_at timestamptz,
  request_id bigint,
  is_delivered boolean,
  status integer
);

comment on table internal.chat_alerts is 'What chat_check_alerts found and sent last, one row for each measure.';
comment on column internal.chat_alerts.is_below is 'Whether it was below its line then, and an alert was queued since it fell.';
comment on column internal.chat_alerts.sent_at is 'When the last alert was queued. Empty (NULL) if there was none.';
comment on column internal.chat_alerts.is_delivered is
  'Whether the webhook accepted the last alert. Empty (NULL) until it has answered, or if pg_net forgot its answer before the next '
  'check.';
comment on column internal.chat_alerts.status is 'HTTP status of that answer. Empty (NULL) if there was none.';

create function internal.chat_send_alert(url text, body jsonb) returns bigint
  language plpgsql set search_path = ''
as $$
declare
  request_id bigint;
begin
  if url is null or to_regproc('net.http_post') is null then
    return null;
  end if;
  -- Dynamic, because pg_net may not be installed. It queues the request.
  execute 'select net.http_post(url := $1, body := $2)' into request_id using url, body;
  return request_id;
exception when others then
  -- A broken alert must not stop the nightly deletion.
  raise warning 'the alert was not sent: %', sqlstate;
  return null;
end
$$;

comment on function internal.chat_send_alert is
  'Posts JSON to the webhook with pg_net. Returns the id of the queued request: null without a '
  'webhook or without pg_net.';

create function internal.chat_alert_answer(request_id bigint) returns table (is_delivered boolean, status integer)
  language plpgsql stable set search_path = ''
as $$
begin
  if request_id is null or to_regclass('net._http_response') is null then
    return;
  end if;
  -- Without a status, the webhook did not answer in time or could not be reached.
  return query execute
    'select coalesce(r.status_code between 200 and 299, false), r.status_code from net._http_response r where r.id = $1'
    using request_id;
exception when others then
  -- Another version of pg_net, or no right to read its answers: then nobody knows.
  return;
end
$$;

comment on function internal.chat_alert_answer is
  'What the webhook answered to a request of pg_net; no row while there is no answer, or once '
  'pg_net has forgotten it (after six hours, unless configured otherwise).';

create function internal.chat_check_alerts() returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  -- Fewer questions say little about a share.
  min_questions constant integer := 20;
  days constant integer := 7;
  settings constant public.chat_settings := (select s from public.chat_settings s);
  checked record;
  is_below boolean;
  alert internal.chat_alerts;
  request_id bigint;
  result jsonb := '[]';
begin
  -- One check at a time, so that an alert is sent once.
  perform pg_advisory_xact_lock(hashtextextended('chat_check_alerts', 0));
  update internal.chat_alerts a
    set (is_delivered, status) = (answer.is_delivered, answer.status)
    from internal.chat_alerts previous
    cross join lateral internal.chat_alert_answer(previous.request_id) answer
    where a.measure = previous.measure and a.is_delivered is null;
  for checked in
    with total as (
      select
          coalesce(sum(d.count) filter (where d.measure = 'answers'), 0) as answers,
          coalesce(sum(d.count) filter (where d.measure in ('answers', 'refusals')), 0) as turns,
          coalesce(sum(d.count) filter (where d.measure = 'cited_answers'), 0) as cited_answers
        from internal.chat_daily d
        where d.day > (now() at time zone 'UTC')::date - days
    )
    select m.measure, m.words, m.line, internal.chat_share(m.part, m.whole) as share, m.whole
      from total t
      cross join lateral (
        values ('answered_share', 'questions were answered', settings.alert_answered_share, t.answers, t.turns),
          ('cited_share', 'answers have citations', settings.alert_cited_share, t.cited_answers, t.answers)
      ) as m(measure, words, line, part, whole)
      order by m.measure
  loop
    is_below := coalesce(checked.whole >= min_questions and checked.share < checked.line, false);
    request_id := null;
    alert := null;
    select * into alert from internal.chat_alerts a where a.measure = checked.measure;
    -- One alert until the share has recovered, and again if the webhook did not accept it.
    if is_below and (not coalesce(alert.is_below, false) or alert.is_delivered is false) then
      request_id := internal.chat_send_alert(settings.alert_url, jsonb_build_object(
        'text', format(
          'Evidence Chat: %s %% of %s %s in the last %s days. The alert is set to %s %%.',
          round(checked.share::numeric * 100, 1), checked.whole, checked.words, days, round(checked.line::numeric * 100, 1)
        ),
        'measure', checked.measure, 'share', checked.share, 'line', checked.line, 'of', checked.whole, 'days', days
      ));
    end if;
    insert into internal.chat_alerts as a (measure, is_below, sent_at, request_id)
      -- A share whose alert could not be queued counts as one that has not fallen yet.
      values (
        checked.measure, is_below and (request_id is not null or coalesce(alert.is_below, false)),
        case when request_id is not null then now() end, request_id
      )
      on conflict (measure) do update set
        checked_at = excluded.checked_at,
        is_below = excluded.is_below,
        sent_at = coalesce(excluded.sent_at, a.sent_at),
        request_id = coalesce(excluded.request_id, a.request_id),
        is_delivered = case when excluded.request_id is null then a.is_delivered end,
        status = case when excluded.request_id is null then a.status end;
    result := result || jsonb_build_object(
      'measure', checked.measure, 'share', checked.share, 'line', checked.line, 'of', checked.whole, 'below', is_below,
      'sent', request_id is not null
    );
  end loop;
  return result;
end
$$;

call internal.create_api_function(
  'chat_check_alerts', 'service_role',
  'Compares the answered and the cited share of all assistants in the last 7 days with '
  'chat_settings.alert_answered_share and alert_cited_share. Posts an alert to alert_url with '
  'pg_net when one falls below its line, once until it has recovered, and again if the webhook did '
  'not accept it. Ignores a share of fewer than 20. Returns a list of {measure, share, line, of, '
  'below, sent}. pg_cron runs it every hour, chat_retain every night.'
);

create function internal.chat_schedule_alerts() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if to_regprocedure('cron.schedule(text, text, text)') is not null then
    -- Dynamic, because cron may not exist when this function is created. A job of the same name is replaced.
    execute $job$ select cron.schedule('evidence-chat-alerts', '7 * * * *', 'select public.chat_check_alerts()') $job$;
  end if;
  return null;
exception when insufficient_privilege then
  return null;
end
$$;

comment on function internal.chat_schedule_alerts is
  'Trigger: schedules chat_check_alerts every hour if pg_cron is installed, when a setting of the '
  'alerts changes.';

create trigger chat_settings_schedule_alerts
  after update of alert_url, alert_answered_share, alert_cited_share on public.chat_settings
  for each row execute function internal.chat_schedule_alerts();
