-- How questions about something else score in this knowledge base. kb sync measures it and the gate of the chat compares
-- each question with it: the same evidence means more in a small knowledge base than in a large one.

create table public.kb_calibration (
  id boolean primary key default true
    constraint kb_calibration_only_one_row check (id),
  model text not null
    constraint kb_calibration_model_is_not_blank check (model ~ '\S'),
  language text not null
    constraint kb_calibration_language_is_not_blank check (language ~ '\S'),
  mean double precision not null
    constraint kb_calibration_mean_is_a_number check (mean between -1000 and 1000),
  deviation double precision not null
    constraint kb_calibration_deviation_is_positive check (deviation > 0 and deviation <= 1000),
  questions integer not null
    constraint kb_calibration_questions_are_some check (questions > 0),
  updated_at timestamptz not null default now()
);

comment on table public.kb_calibration is
  'What kb sync measured with questions about something else, whose answers are not in this knowledge base. No row: not '
  'measured, and the chat uses its default.';
comment on column public.kb_calibration.id is 'Always true: there is one row at most.';
comment on column public.kb_calibration.model is 'Fingerprint of the vectors that it was measured with.';
comment on column public.kb_calibration.language is
  'Language of the questions and of most chunks, as in kb_chunks.language.';
comment on column public.kb_calibration.mean is
  'Median evidence of these questions, in log-odds: the middle of what a question reaches without an answer.';
comment on column public.kb_calibration.deviation is
  'Standard deviation of their evidence, worked out from the median absolute deviation.';
comment on column public.kb_calibration.questions is 'How many questions were asked.';
comment on column public.kb_calibration.updated_at is 'When it was measured. Set by a trigger.';

create trigger kb_calibration_set_updated_at
  before update on public.kb_calibration
  for each row execute function public.set_updated_at();

revoke all on public.kb_calibration from public, anon, authenticated;
grant all on public.kb_calibration to service_role;
alter table public.kb_calibration enable row level security;

-- What the Worker reads ---------------------------------------------------

-- Privileges stay.
create or replace function public.chat_config() returns jsonb
  language sql
  stable
  -- Asked before anybody has signed in.
  security definer
  set search_path = ''
as $$
  select jsonb_build_object(
    'model', vectors.model,
    'calibration', (
      -- Measured with other vectors, it says nothing.
      select jsonb_build_object('mean', k.mean, 'deviation', k.deviation)
        from public.kb_calibration k
        where k.model = vectors.model
    ),
    'settings', jsonb_build_object(
      'evidence_threshold', s.evidence_threshold,
      'evidence_confidence', s.evidence_confidence,
      'match_count', s.match_count,
      'link_mode', coalesce(s.link_mode, 'none'),
      'citations', coalesce(s.citations, true),
      'refusal_message', s.refusal_message,
      'refusal_suggestions', s.refusal_suggestions,
      'greeting', s.greeting,
      'suggested_questions', coalesce(s.suggested_questions, '{}'),
      'log_questions', coalesce(s.log_questions, false)
    )
  )
  from (values (true)) as only_row (id)
  left join public.chat_settings s using (id)
  left join lateral (
    -- To count which fingerprint is the most common takes a look at every vector. The document that was changed last
    -- is as good: a knowledge base has one fingerprint, and while it is moved to another, that is the new one.
    select v.model
      from public.kb_documents d
      cross join lateral (
        select e.model
          from public.kb_chunks c
          join public.kb_embeddings e on e.chunk_id = c.id
          where c.document_id = d.id and (e.searchable or e.audience is not null)
          limit 1
      ) v
      where d.status = 'ready' and d.enabled
      order by d.updated_at desc
      limit 1
  ) vectors on true
$$;

comment on function public.chat_config() is
  'How the chat is set, without secrets: {model, calibration, settings}. model: fingerprint of the vectors, null in an '
  'empty knowledge base. calibration: {mean, deviation} of kb_calibration, null if not measured with these vectors.';

-- What kb doctor asks -----------------------------------------------------

create function public.kb_non_latin_documents(count integer default 1000) returns table (source text)
  language sql
  stable
  security invoker
  set search_path = ''
  -- PostgREST takes the limit from here.
  set statement_timeout = '60s'
as $$
  select d.source
    from public.kb_documents d
    join public.kb_chunks c on c.document_id = d.id and c.ordinal = 0
    cross join lateral (select left(c.content, 500) as text) t
    where d.status = 'ready' and d.enabled
      -- Letters of Greek, Cyrillic, Arabic, Indic, East Asian and other scripts, and those with which Latin is written.
      and length(regexp_replace(t.text, '[^\u0370-\u1cff\u1f00-\u1fff\u3040-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc]', '', 'g'))
        > length(regexp_replace(t.text, '[^A-Za-z\u00c0-\u024f\u1e00-\u1eff]', '', 'g'))
    order by d.source
    limit least(count, 1000)
$$;

comment on function public.kb_non_latin_documents(integer) is
  'Documents that people find whose first chunk has more letters of other scripts than Latin ones, for kb doctor: the '
  'embedding model does not read them. At most 1,000.';

revoke all on function public.kb_non_latin_documents(integer) from public, anon, authenticated;
grant execute on function public.kb_non_latin_documents(integer) to service_role;
