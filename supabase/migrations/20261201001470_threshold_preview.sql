-- What other evidence thresholds would have done to the newest questions. Kept are numbers only: no text, no user, no conversation.

create table internal.chat_reaches (
  id bigint generated always as identity primary key,
  assistant text not null references public.assistants (name) on update cascade on delete cascade,
  day date not null default (now() at time zone 'UTC')::date,
  is_refused boolean not null,
  similarities double precision[] not null,
  confidences double precision[] not null
);

comment on table internal.chat_reaches is
  'How strict the evidence thresholds could be for each of the newest 500 questions of an assistant to be answered, of turns that '
  'the Worker recorded. A question is answered if one of its pairs of similarity and confidence reaches both thresholds. A '
  'follow-up question can have two pairs: alone, and together with the question before it. A question whose passages the reader read '
  'can have more. A question without a pair is refused whatever the thresholds.';
comment on column internal.chat_reaches.id is 'In the order of the questions.';
comment on column internal.chat_reaches.assistant is 'The assistant that was asked.';
comment on column internal.chat_reaches.day is 'The day, in UTC.';
comment on column internal.chat_reaches.is_refused is 'Whether the question was refused when it was asked.';
comment on column internal.chat_reaches.similarities is
  'The highest evidence_threshold of each pair: the best cosine of a passage with something to quote, or of one of its sentences. 1 '
  'if the model cannot read the question and the passages have one of its words.';
comment on column internal.chat_reaches.confidences is 'The highest evidence_confidence of each pair, as it was calibrated then.';

create index chat_reaches_newest_idx on internal.chat_reaches (assistant, id);

revoke all on internal.chat_reaches from public, anon, authenticated, service_role;
alter table internal.chat_reaches enable row level security;

create function internal.chat_record_reaches(assistant text, is_refused boolean, reaches jsonb) returns void
  language plpgsql
  -- No role may write to chat_reaches.
  security definer
  set search_path = ''
as $$
begin
  -- "off" keeps nothing of refused questions.
  if is_refused and internal.chat_refusal_mode() = 'off' then
    return;
  end if;
  insert into internal.chat_reaches (assistant, is_refused, similarities, confidences)
    select
        chat_record_reaches.assistant,
        chat_record_reaches.is_refused,
        coalesce(array_agg((r.value ->> 'similarity')::double precision order by r.ordinality), '{}'),
        coalesce(array_agg((r.value ->> 'confidence')::double precision order by r.ordinality), '{}')
      from jsonb_array_elements(reaches) with ordinality r;
  -- Skips rows that a concurrent turn is deleting.
  delete from internal.chat_reaches c where c.id in (
    select old.id
      from internal.chat_reaches old
      where old.assistant = chat_record_reaches.assistant
        and old.id <= (
          select newest.id
            from internal.chat_reaches newest
            where newest.assistant = chat_record_reaches.assistant
            order by newest.id desc
            offset 500
            limit 1
        )
      for update skip locked
  );
end
$$;

comment on function internal.chat_record_reaches(text, boolean, jsonb) is
  'Keeps what the evidence for a question reaches, for chat_preview_thresholds, and deletes that of all but the newest 500 questions '
  'of the assistant. Called by chat_record_turn.';

revoke all on function internal.chat_record_reaches(text, boolean, jsonb) from public;
grant execute on function internal.chat_record_reaches(text, boolean, jsonb) to evidence_chat;

create function internal.chat_purge_reaches() returns void
  language sql
  set search_path = ''
as $$
  delete from internal.chat_reaches c
    where c.day < (now() at time zone 'UTC')::date - 400
      or (c.is_refused and internal.chat_refusal_mode() = 'off')
$$;

comment on function internal.chat_purge_reaches() is
  'Deletes rows of chat_reaches that are older than 400 days, and those of refused questions if chat_settings.keep_refusals is off.';

revoke all on function internal.chat_purge_reaches() from public;

create function internal.chat_preview_thresholds(assistant text, evidence_threshold double precision, evidence_confidence double precision)
  returns table (questions integer, answered integer, answered_now integer, first_day date, has_refused boolean)
  language plpgsql
  stable
  -- No role may read chat_reaches.
  security definer
  set search_path = ''
as $$
declare
  -- Those of chat-core.
  default_threshold constant double precision := 0.35;
  default_confidence constant double precision := 0.5;
begin
  perform internal.chat_require_administrator();
  if evidence_threshold not between 0 and 1 or evidence_confidence not between 0 and 1 then
    raise exception 'evidence_threshold and evidence_confidence must be 0 to 1' using errcode = 'invalid_parameter_value';
  end if;
  return query
    with limits as (
      select
          coalesce(chat_preview_thresholds.evidence_threshold, default_threshold) as similarity,
          coalesce(chat_preview_thresholds.evidence_confidence, default_confidence) as confidence,
          coalesce(a.evidence_threshold, default_threshold) as similarity_now,
          coalesce(a.evidence_confidence, default_confidence) as confidence_now
        from internal.chat_assistant(chat_preview_thresholds.assistant, null) a
    ), asked as (
      select c.day, c.similarities, c.confidences
        from internal.chat_reaches c
        where c.assistant = chat_preview_thresholds.assistant
        order by c.id desc
        limit 500
    ), decided as (
      select
          q.day,
          exists (
            select from unnest(q.similarities, q.confidences) as r(similarity, confidence)
              where r.similarity >= l.similarity and r.confidence >= l.confidence
          ) as is_answered,
          exists (
            select from unnest(q.similarities, q.confidences) as r(similarity, confidence)
              where r.similarity >= l.similarity_now and r.confidence >= l.confidence_now
          ) as is_answered_now
        from asked q
        cross join limits l
    )
    select
        count(*)::integer,
        (count(*) filter (where d.is_answered))::integer,
        (count(*) filter (where d.is_answered_now))::integer,
        min(d.day),
        internal.chat_refusal_mode() <> 'off'
      from decided d;
end
$$;

comment on function internal.chat_preview_thresholds(text, double precision, double precision) is
  'What public.chat_preview_thresholds does, for administrators.';

revoke all on function internal.chat_preview_thresholds(text, double precision, double precision) from public;
grant execute on function internal.chat_preview_thresholds(text, double precision, double precision) to authenticated, service_role;

create function public.chat_preview_thresholds(
  assistant text,
  evidence_threshold double precision default null,
  evidence_confidence double precision default null
) returns table (questions integer, answered integer, answered_now integer, first_day date, has_refused boolean)
  language sql
  stable
  security invoker
  set search_path = ''
as $$
  select * from internal.chat_preview_thresholds(assistant, evidence_threshold, evidence_confidence)
$$;

comment on function public.chat_preview_thresholds(text, double precision, double precision) is
  'How many of the newest questions of an assistant (at most 500, since first_day) would be answered with these thresholds, and how '
  'many with those in public.assistants (answered_now). Null stands for the default. Judges the evidence as it was found when the '
  'questions were asked. has_refused: false if chat_settings.keep_refusals is off, so that refused questions are not among them. For '
  'administrators.';

revoke all on function public.chat_preview_thresholds(text, double precision, double precision) from public, anon;
grant execute on function public.chat_preview_thresholds(text, double precision, double precision) to authenticated, service_role;
