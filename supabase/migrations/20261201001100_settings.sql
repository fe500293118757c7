-- Settings for all assistants: one row, edited in the Supabase dashboard. Changes take effect within a minute. The settings of each
-- assistant are in public.assistants.

create function internal.chat_names_few_users(entries text[]) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select coalesce(bool_and(
      -- Claims that Supabase Auth puts into the token of every user, or of everybody who signs in the same way.
      split_part(e, ':', 1) not in ('is_anonymous', 'role', 'aud', 'aal', 'iss', 'provider', 'providers', 'exp', 'iat')
    ), true)
    from unnest(entries) as e
$$;

comment on function internal.chat_names_few_users(text[]) is
  'Whether no entry is a claim that Supabase Auth gives to all users or to everybody who signs in the same way.';

grant execute on function internal.chat_names_few_users(text[]) to service_role;

create table public.chat_settings (
  id boolean primary key default true
    constraint chat_settings_only_one_row check (id),
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
  administrators text[] not null default '{evidence_chat:administrator}'
    constraint chat_settings_administrators_entries_are_claim_colon_value check (internal.kb_is_valid_audience(administrators))
    constraint chat_settings_administrators_claims_are_not_user_editable
      check (internal.kb_has_only_trusted_claims(administrators))
    constraint chat_settings_administrators_claims_are_not_those_of_every_user
      check (internal.chat_names_few_users(administrators)),
  alert_url text
    constraint chat_settings_alert_url_is_https_and_at_most_2000_characters
      check (alert_url ~ '^https://[^[:space:]]+$' and char_length(alert_url) <= 2000),
  alert_answered_share double precision
    constraint chat_settings_alert_answered_share_is_0_to_1 check (alert_answered_share between 0 and 1),
  alert_cited_share double precision
    constraint chat_settings_alert_cited_share_is_0_to_1 check (alert_cited_share between 0 and 1),
  updated_at timestamptz not null default now()
);

comment on table public.chat_settings is
  'Settings for all assistants. Edit the one row; changes take effect within a minute. Empty (NULL) means the default. '
  'Without the row, all settings have their defaults.';
comment on column public.chat_settings.id is 'Always true: there is one row.';
comment on column public.chat_settings.log_questions is
  'Whether the server may log the text of questions. Keep false unless you need it: questions can be personal.';
comment on column public.chat_settings.keep_refusals is
  'What is stored of questions without an answer, for the gaps of the insights. full: the question and who asked. anonymous: the question and '
  'the day. off: nothing. kb retain applies a change to earlier questions.';
comment on column public.chat_settings.gap_users is
  'How many users must have asked a question before the insights show it: 1 to 1000. With 1, it shows what a single person '
  'asked. No protection against an administrator who asks a similar question.';
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
comment on column public.chat_settings.administrators is
  'Who may read the insights, as a list of claim:value. ["evidence_chat:administrator"]: users whose app_metadata has '
  '"evidence_chat": "administrator". ["sub:<id>"]: one user. []: nobody. Claims that every user has are rejected.';
comment on column public.chat_settings.alert_url is
  'Webhook that gets an alert, an address that begins with https://. Empty (NULL): none. Needs the extension pg_net.';
comment on column public.chat_settings.alert_answered_share is
  'Sends an alert when the share of questions that were answered in the last 7 days falls below this: 0 to 1. NULL: never.';
comment on column public.chat_settings.alert_cited_share is
  'Sends an alert when the share of answers with citations in the last 7 days falls below this: 0 to 1. NULL: never.';
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

grant execute on function internal.caller_id() to evidence_chat;

create function internal.chat_refusal_mode() returns text
  language sql
  stable
  set search_path = ''
as $$
  select coalesce((select s.keep_refusals from public.chat_settings s), 'full')
$$;

comment on function internal.chat_refusal_mode() is 'chat_settings.keep_refusals, or its default.';

create function internal.chat_gap_users() returns integer
  language sql
  stable
  set search_path = ''
as $$
  select coalesce((select s.gap_users from public.chat_settings s), 2)
$$;

comment on function internal.chat_gap_users() is 'chat_settings.gap_users, or its default.';

grant execute on function internal.chat_gap_users() to service_role;

-- For the Worker ----------------------------------------------------------

create function public.chat_config(assistant text default 'default', checks boolean default false) returns jsonb
  language plpgsql
  stable
  -- Called before users sign in.
  security definer
  set search_path = ''
as $$
declare
  chosen constant public.assistants := internal.chat_assistant(
    chat_config.assistant,
    -- security definer changes the current user, but not the role of the request.
    case when current_setting('role') <> 'service_role' then internal.kb_caller_audiences() end
  );
begin
  return (
    select jsonb_build_object(
      'model', vectors.model,
      'calibration', (
        -- A calibration with other vectors does not apply.
        select jsonb_build_object('mean', k.mean, 'deviation', k.deviation)
          from public.kb_calibration k
          where k.model = vectors.model
      ),
      'hides_documents', case when chat_config.checks then (
        select h.counts ->> 'anonymous_documents' = '0' and h.counts ->> 'visible_documents' <> '0'
          from (select internal.kb_health_anonymous() as counts) h
      ) end,
      'outdated', case when chat_config.checks then (
        select jsonb_build_object('count', count(*), 'since', min(t.since)::date) from public.kb_troubles t having count(*) > 0
      ) end,
      'settings', jsonb_build_object(
        'title', chosen.title,
        'allowed_origins', chosen.allowed_origins,
        'evidence_threshold', chosen.evidence_threshold,
        'evidence_confidence', chosen.evidence_confidence,
        'match_count', chosen.match_count,
        'link_mode', chosen.link_mode,
        'citations', chosen.citations,
        'answer_mode', chosen.answer_mode,
        'refusal_message', chosen.refusal_message,
        'refusal_suggestions', chosen.refusal_suggestions,
        'support_url', chosen.support_url,
        'greeting', chosen.greeting,
        'suggested_questions', chosen.suggested_questions,
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
  );
end
$$;

comment on function public.chat_config(text, boolean) is
  'Public configuration of an assistant: {model, calibration, hides_documents, outdated, settings}. model: fingerprint of the vectors, '
  'null for an empty knowledge base. calibration: {mean, deviation} of kb_calibration, null if not measured with these vectors. '
  'hides_documents: with checks, whether there are documents, of which anonymous visitors see none; else null. outdated: with checks, '
  '{count, since} of kb_troubles, null if there are none. Fails with '
  'PT404 if there is no such assistant that the caller may use.';

revoke all on function public.chat_config(text, boolean) from public;
grant execute on function public.chat_config(text, boolean) to anon, authenticated, evidence_chat, service_role;
