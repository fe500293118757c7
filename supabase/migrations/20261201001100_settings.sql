-- Settings of the chat: one row, edited in the Supabase dashboard. Changes take effect within a minute.

create function internal.is_short_text_list(texts text[], max_count integer, max_length integer) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select cardinality(texts) <= max_count
    and coalesce(array_ndims(texts), 1) = 1
    and coalesce(bool_and(t is not null and t ~ '\S' and char_length(t) <= max_length), true)
  from unnest(texts) as t
$$;

comment on function internal.is_short_text_list(text[], integer, integer) is
  'Whether a list has at most max_count texts, each of at most max_length characters and none blank.';

revoke all on function internal.is_short_text_list(text[], integer, integer) from public;
grant execute on function internal.is_short_text_list(text[], integer, integer) to service_role;

create table public.chat_settings (
  id boolean primary key default true
    constraint chat_settings_only_one_row check (id),
  evidence_threshold double precision
    constraint chat_settings_evidence_threshold_is_0_to_1 check (evidence_threshold between 0 and 1),
  evidence_confidence double precision
    constraint chat_settings_evidence_confidence_is_0_to_1 check (evidence_confidence between 0 and 1),
  match_count integer
    constraint chat_settings_match_count_is_1_to_50 check (match_count between 1 and 50),
  link_mode text not null default 'none'
    constraint chat_settings_link_mode_is_none_authenticated_or_public
      check (link_mode in ('none', 'authenticated', 'public')),
  citations boolean not null default true,
  answer_mode text not null default 'extractive'
    constraint chat_settings_answer_mode_is_extractive_endpoint_or_on_device
      check (answer_mode in ('extractive', 'endpoint', 'on_device')),
  refusal_message text
    constraint chat_settings_refusal_message_is_1_to_1000_characters
      check (refusal_message ~ '\S' and char_length(refusal_message) <= 1000),
  refusal_suggestions text[]
    constraint chat_settings_refusal_suggestions_are_at_most_5_of_80_characters
      check (internal.is_short_text_list(refusal_suggestions, 5, 80)),
  greeting text
    constraint chat_settings_greeting_is_1_to_500_characters
      check (greeting ~ '\S' and char_length(greeting) <= 500),
  suggested_questions text[] not null default '{}'
    constraint chat_settings_suggested_questions_are_at_most_6_of_200_characters
      check (internal.is_short_text_list(suggested_questions, 6, 200)),
  log_questions boolean not null default false,
  keep_refusals text not null default 'full'
    constraint chat_settings_keep_refusals_is_full_anonymous_or_off
      check (keep_refusals in ('full', 'anonymous', 'off')),
  gap_users integer not null default 2
    constraint chat_settings_gap_users_is_1_to_1000 check (gap_users between 1 and 1000),
  retention_days integer
    constraint chat_settings_retention_days_is_1_to_36500 check (retention_days between 1 and 36500),
  anonymous_retention_days integer default 30
    constraint chat_settings_anonymous_retention_days_is_1_to_36500 check (anonymous_retention_days between 1 and 36500),
  default_audience text[] not null default '{is_anonymous:false}'
    constraint chat_settings_default_audience_is_never_empty check (default_audience <> '{}')
    constraint chat_settings_default_audience_entries_are_claim_colon_value
      check (internal.kb_is_valid_audience(default_audience))
    constraint chat_settings_default_audience_claims_are_not_user_editable
      check (internal.kb_has_only_trusted_claims(default_audience)),
  updated_at timestamptz not null default now()
);

comment on table public.chat_settings is
  'Settings of the chat. Edit the one row; changes take effect within a minute. Empty (NULL) means the default. '
  'Without the row, all settings have their defaults.';
comment on column public.chat_settings.id is 'Always true: there is one row.';
comment on column public.chat_settings.evidence_threshold is
  'How similar the best passage must be to the question before it is answered: 0 (anything) to 1 (the same words). '
  'NULL: 0.35. Higher refuses more.';
comment on column public.chat_settings.evidence_confidence is
  'How sure the chat must be that the passages answer the question: 0 (off) to 1. NULL: the measured default. Higher '
  'refuses more.';
comment on column public.chat_settings.match_count is
  'How many passages are read for one answer: 1 to 50. NULL: 5.';
comment on column public.chat_settings.link_mode is
  'Whether citations link to the original file. none: no links, and only you can open files. authenticated: signed-in users can '
  'open the files of documents that they see. public: a link that works for 7 days for everybody who has it.';
comment on column public.chat_settings.citations is
  'Whether answers show where each sentence comes from. false: no numbers and no sources.';
comment on column public.chat_settings.answer_mode is
  'Who writes answers. extractive: the documents, in quotes. endpoint: the language model that the server is configured with '
  '(CHAT_LLM_URL), which gets the question and the passages. on_device: the documents, and on demand a model in the visitor''s '
  'browser. Each sentence of a model is checked against the passages before it is shown.';
comment on column public.chat_settings.refusal_message is
  'What the chat says when it has no answer: 1 to 1000 characters. NULL: the built-in text.';
comment on column public.chat_settings.refusal_suggestions is
  'What the chat offers instead, as a list: ["Contact support"]. At most 5, of 80 characters each; [] offers nothing. '
  'NULL: the built-in ones.';
comment on column public.chat_settings.greeting is
  'First line of an empty chat: 1 to 500 characters. NULL: the text of the widget.';
comment on column public.chat_settings.suggested_questions is
  'Questions to click on in an empty chat, as a list: ["How do I return an order?"]. At most 6, of 200 characters '
  'each.';
comment on column public.chat_settings.log_questions is
  'Whether the server may log the text of questions. Keep false unless you need it: questions can be personal.';
comment on column public.chat_settings.keep_refusals is
  'What is stored of questions without an answer, for content_gaps. full: the question and who asked. anonymous: the question and '
  'the day. off: nothing. kb retain applies a change to earlier questions.';
comment on column public.chat_settings.gap_users is
  'How many users must have asked a question before content_gaps shows it: 1 to 1000. With 1, it shows what a single person '
  'asked.';
comment on column public.chat_settings.retention_days is
  'Conversations are deleted this many days after their last message, and refused questions this many days after they were '
  'asked: 1 to 36500. NULL: never. Runs every night if pg_cron is installed, otherwise with kb retain.';
comment on column public.chat_settings.anonymous_retention_days is
  'Anonymous users whom the widget created are deleted with their conversations this many days after they last asked something or '
  'signed in: 1 to 36500. NULL: never. Runs when retention_days does. Other anonymous users of the project are kept.';
comment on column public.chat_settings.default_audience is
  'Who can see documents that have no audience of their own, as a list of claim:value. ["is_anonymous:false"]: users with an '
  'account. ["role:authenticated"]: also anonymous visitors, that is, everybody if anonymous sign-ins are enabled. Takes effect '
  'with the next question.';
comment on column public.chat_settings.updated_at is 'Set by a trigger.';

-- Only the administrator reads the table. Everybody else gets the settings from chat_config.
revoke all on public.chat_settings from public, anon, authenticated;
grant all on public.chat_settings to service_role;
alter table public.chat_settings enable row level security;

create trigger chat_settings_set_updated_at
  before update on public.chat_settings
  for each row execute function internal.set_updated_at();

insert into public.chat_settings default values;

-- For other functions -----------------------------------------------------

create function internal.caller_id() returns uuid
  language plpgsql
  stable
  security definer
  set search_path = ''
as $$
begin
  return auth.uid();
end
$$;

comment on function internal.caller_id() is 'Id of the calling user, for evidence_chat, which has no access to the schema auth.';

revoke all on function internal.caller_id() from public;
grant execute on function internal.caller_id() to evidence_chat;

create function internal.chat_refusal_mode() returns text
  language sql
  stable
  set search_path = ''
as $$
  select coalesce((select s.keep_refusals from public.chat_settings s), 'full')
$$;

comment on function internal.chat_refusal_mode() is 'chat_settings.keep_refusals, or its default.';

revoke all on function internal.chat_refusal_mode() from public;

create function internal.chat_gap_users() returns integer
  language sql
  stable
  set search_path = ''
as $$
  select coalesce((select s.gap_users from public.chat_settings s), 2)
$$;

comment on function internal.chat_gap_users() is 'chat_settings.gap_users, or its default.';

revoke all on function internal.chat_gap_users() from public;
grant execute on function internal.chat_gap_users() to service_role;

create function internal.chat_link_mode() returns text
  language sql
  stable
  -- Users may not read chat_settings.
  security definer
  set search_path = ''
as $$
  select coalesce((select s.link_mode from public.chat_settings s), 'none')
$$;

comment on function internal.chat_link_mode() is 'chat_settings.link_mode, or its default.';

revoke all on function internal.chat_link_mode() from public;
grant execute on function internal.chat_link_mode() to evidence_chat;

-- For the Worker ----------------------------------------------------------

create function public.chat_config() returns jsonb
  language sql
  stable
  -- Called before users sign in.
  security definer
  set search_path = ''
as $$
  select jsonb_build_object(
    'model', vectors.model,
    'calibration', (
      -- A calibration with other vectors does not apply.
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
      'answer_mode', coalesce(s.answer_mode, 'extractive'),
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
    -- Finding the most common fingerprint would read every vector. The last changed document does as well: a knowledge base has
    -- one fingerprint, and during a migration to another model that document has the new one.
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
  'Public configuration of the chat: {model, calibration, settings}. model: fingerprint of the vectors, null for an '
  'empty knowledge base. calibration: {mean, deviation} of kb_calibration, null if not measured with these vectors.';

revoke all on function public.chat_config() from public;
grant execute on function public.chat_config() to anon, authenticated, service_role;
