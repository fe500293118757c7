-- Refused questions, and groups of similar ones. chat_settings.keep_refusals determines how much of them is kept.

create table public.chat_refusals (
  id uuid primary key default gen_random_uuid(),
  user_id uuid references auth.users (id) on delete cascade,
  session_id uuid references public.chat_sessions (id) on delete cascade,
  assistant text not null default 'default' references public.assistants (name) on update cascade,
  question text not null
    constraint chat_refusals_question_length check (char_length(question) <= 4000)
    constraint chat_refusals_question_not_blank check (question ~ '\S'),
  embedding extensions.vector(384) not null
    constraint chat_refusals_embedding_is_unit_length check (abs(extensions.vector_norm(embedding) - 1) <= 0.01),
  best_score double precision
    constraint chat_refusals_best_score_is_cosine check (best_score between -1 and 1),
  reason text not null
    constraint chat_refusals_reason_valid
      check (reason in ('no_match', 'weak_evidence', 'unreadable_language', 'no_access', 'empty_kb', 'disliked')),
  group_id uuid not null,
  asker bytea not null,
  from_worker boolean not null default false,
  created_at timestamptz not null default now()
);

comment on table public.chat_refusals is
  'Questions that were refused, or whose answer was disliked; deleted with their session. chat_settings.keep_refusals determines whether they are kept, and whether '
  'with their user.';
comment on column public.chat_refusals.id is
  'Derived from the ids of the user and the message, so that a retry writes no second row and no user can occupy the id of '
  'another user.';
comment on column public.chat_refusals.user_id is 'Who asked. Empty (NULL) for a question that is kept anonymously.';
comment on column public.chat_refusals.session_id is
  'Where it was asked. Empty (NULL) for a question outside the history or kept anonymously.';
comment on column public.chat_refusals.assistant is 'The assistant that was asked.';
comment on column public.chat_refusals.question is 'The question as asked.';
comment on column public.chat_refusals.embedding is 'The question''s vector, of unit length.';
comment on column public.chat_refusals.best_score is 'Cosine of the nearest passage; null if there was none.';
comment on column public.chat_refusals.reason is
  'no_match: no passage is similar enough. weak_evidence: some are, but are unlikely to answer. unreadable_language: the model '
  'cannot read the question''s script, and its words find too little. no_access: there is no document that the user may '
  'see. empty_kb: there is none at all. disliked: it was answered, and the user disliked the answer.';
comment on column public.chat_refusals.group_id is
  'Shared by similar questions to the same assistant. Set by a trigger, which overrides values written here. Hidden from users, because it would '
  'reveal whether others asked the same.';
comment on column public.chat_refusals.asker is
  'Distinguishes the users within a group, and nothing else: a hash of the user, the group and a secret salt. Set by a trigger.';
comment on column public.chat_refusals.from_worker is
  'Whether the Worker wrote it. The insights count only such questions, because users can call chat_record_refusal with any '
  'text.';
comment on column public.chat_refusals.created_at is
  'Set by a trigger, which overrides values written here. Only the day for a question that is kept anonymously.';

create index chat_refusals_embedding_hnsw
  on public.chat_refusals using hnsw (embedding extensions.vector_cosine_ops)
  where from_worker;
-- As for chat_messages and chat_sessions.
alter table public.chat_refusals
  alter column user_id set statistics 0, alter column session_id set statistics 0, alter column assistant set statistics 0,
  alter column question set statistics 0, alter column best_score set statistics 0, alter column reason set statistics 0,
  alter column created_at set statistics 0;
create index chat_refusals_user_idx on public.chat_refusals (user_id, created_at desc);
create index chat_refusals_session_idx on public.chat_refusals (session_id);
create index chat_refusals_created_idx on public.chat_refusals (created_at);
-- The newest questions of a group.
create index chat_refusals_group_idx on public.chat_refusals (group_id, created_at desc);
-- For renaming an assistant.
create index chat_refusals_assistant_idx on public.chat_refusals (assistant);

revoke all on public.chat_refusals from public, anon, authenticated;
grant select (id, user_id, session_id, assistant, question, best_score, reason, created_at) on public.chat_refusals to authenticated;
grant select (id, user_id, session_id, question, reason), insert, delete on public.chat_refusals to evidence_chat;
grant all on public.chat_refusals to service_role;
alter table public.chat_refusals enable row level security;

create policy chat_refusals_read_own on public.chat_refusals
  for select to authenticated, evidence_chat
  using ((select internal.limit_concurrency()) and user_id = (select auth.uid()));

create policy chat_refusals_insert_own on public.chat_refusals
  for insert to evidence_chat
  with check (
    (user_id is null or user_id = (select auth.uid()))
    and (session_id is null or exists (
      select from public.chat_sessions s
      where s.id = chat_refusals.session_id and s.user_id = (select auth.uid())
    ))
  );

create policy chat_refusals_delete_own on public.chat_refusals
  for delete to evidence_chat
  using (user_id = (select auth.uid()));

comment on policy chat_refusals_read_own on public.chat_refusals is 'Users read their own refused questions.';
comment on policy chat_refusals_insert_own on public.chat_refusals is
  'chat_record_refusal adds refused questions of its caller, in no session or in one of theirs.';
comment on policy chat_refusals_delete_own on public.chat_refusals is
  'chat_delete_user_data deletes refused questions of its caller, and chat_give_feedback those of answers that are no longer disliked.';

-- Grouping ----------------------------------------------------------------

-- Secret salt of the hashes of user ids.
create table internal.refusal_salt (
  id boolean primary key default true
    constraint refusal_salt_only_one_row check (id),
  salt uuid not null default gen_random_uuid()
);

comment on table internal.refusal_salt is 'Random salt of the hashes in chat_refusals.asker and chat_refusals.id.';

insert into internal.refusal_salt default values;

create function internal.prepare_chat_refusal() returns trigger
  language plpgsql
  -- Groups span users, who cannot see each other's rows.
  security definer set search_path = ''
as $$
declare
  -- Cosine 0.8: a paraphrase of the same question.
  max_distance constant double precision := 0.2;
  refusal_mode constant text := internal.chat_refusal_mode();
  salt constant uuid := (select s.salt from internal.refusal_salt s);
begin
  if refusal_mode = 'off' then
    return null;
  end if;
  new.group_id := null;
  -- A question from a direct call gets its own group, so that it cannot join the groups of others.
  if new.from_worker then
    -- Continues beyond the questions to other assistants.
    perform set_config('hnsw.iterative_scan', 'strict_order', true);
    -- Only ORDER BY distance LIMIT n can use the vector index, so the limit on the distance is applied outside.
    select nearest.group_id
      into new.group_id
      from (
        select r.group_id, r.embedding operator(extensions.<=>) new.embedding as distance
        from public.chat_refusals r
        where r.from_worker and r.assistant = new.assistant
        order by r.embedding operator(extensions.<=>) new.embedding
        limit 1
      ) nearest
      where nearest.distance <= max_distance;
  end if;
  new.group_id := coalesce(new.group_id, gen_random_uuid());
  -- A question without a user counts as one of a separate user.
  new.asker := sha256(convert_to(concat(salt, new.group_id, coalesce(new.user_id, new.id)), 'UTF8'));
  new.id := encode(substring(sha256(convert_to(concat(salt, new.user_id, new.id), 'UTF8')) for 16), 'hex')::uuid;
  new.created_at := now();
  if refusal_mode = 'anonymous' then
    new.user_id := null;
    new.session_id := null;
    new.created_at := date_trunc('day', now(), 'UTC');
  end if;
  return new;
end
$$;

comment on function internal.prepare_chat_refusal is
  'Trigger: puts a refused question into the group of the nearest earlier one to the same '
  'assistant if their cosine is at least 0.8, otherwise into a new group. Questions from direct '
  'calls always get a new group. Two simultaneous first questions may each start a group. Then '
  'removes what chat_settings.keep_refusals does not keep.';

create trigger chat_refusals_prepare
  before insert on public.chat_refusals
  for each row execute function internal.prepare_chat_refusal();

-- Recording a refusal -----------------------------------------------------

create function internal.chat_record_refusal(
  id uuid,
  session_id uuid,
  question text,
  embedding extensions.vector(384),
  best_score double precision,
  reason text,
  assistant text default 'default'
) returns void
  language plpgsql
  -- As evidence_chat, with the claims of the caller.
  security definer set search_path = ''
as $$
declare
  is_worker_request constant boolean := internal.is_worker_request();
begin
  perform internal.chat_assistant(chat_record_refusal.assistant, internal.kb_caller_audiences());
  perform internal.consume_storage(octet_length(chat_record_refusal.question) + 8192);
  insert into public.chat_refusals (
      id, user_id, session_id, assistant, question, embedding, best_score, reason, from_worker
    )
    values (
      chat_record_refusal.id, internal.caller_id(), chat_record_refusal.session_id, chat_record_refusal.assistant,
      chat_record_refusal.question,
      chat_record_refusal.embedding, chat_record_refusal.best_score, chat_record_refusal.reason, is_worker_request
    )
    on conflict do nothing;
end
$$;

call internal.create_api_function(
  'chat_record_refusal', 'authenticated',
  'Records a refused question of the calling user, subject to chat_settings.keep_refusals. '
  'Idempotent. id: message id of the question. session_id: a session of the caller, or null. '
  'embedding: of unit length. best_score: cosine of the nearest passage, or null. Limit: what a '
  'user may store in a day, as for chat_record_turn; 8 KiB besides the question.',
  runs_as => 'evidence_chat'
);
