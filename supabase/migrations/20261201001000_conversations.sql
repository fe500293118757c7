-- Conversations. A user reaches only their own sessions, and messages only through a session of their own. Only
-- chat_record_turn writes messages for a user.

-- Sessions ----------------------------------------------------------------

create table public.chat_sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  -- Deleting an assistant must not delete the conversations of users, so one with conversations can only be disabled.
  assistant text not null default 'default' references public.assistants (name) on update cascade,
  title text
    constraint chat_sessions_title_length check (char_length(title) between 1 and 200),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on table public.chat_sessions is 'One conversation of one user.';
comment on column public.chat_sessions.id is 'Id of the session.';
comment on column public.chat_sessions.user_id is 'Owner of the session. Deleting the user deletes the session.';
comment on column public.chat_sessions.assistant is 'The assistant that answers in it.';
comment on column public.chat_sessions.title is 'Beginning of the first question.';
comment on column public.chat_sessions.created_at is 'When it began.';
comment on column public.chat_sessions.updated_at is
  'When its last message was written, or when it was created. Nothing else changes it.';

-- Keyset paging, newest first. The id breaks ties. With the assistant, because there are no statistics: the planner would read all
-- sessions of the assistant in the index below.
create index chat_sessions_user_newest_idx on public.chat_sessions (user_id, assistant, updated_at desc, id desc);
-- For renaming an assistant.
create index chat_sessions_assistant_idx on public.chat_sessions (assistant);

-- As for chat_messages. Those of the assistant would reveal the names of assistants that are not for the user.
alter table public.chat_sessions
  alter column user_id set statistics 0, alter column assistant set statistics 0, alter column title set statistics 0,
  alter column created_at set statistics 0, alter column updated_at set statistics 0;

-- Grants on columns: the database sets the times, and a session keeps its user.
revoke all on public.chat_sessions from public, anon, authenticated;
grant select, update (title), delete on public.chat_sessions to authenticated;
grant select, insert (id, user_id, assistant, title), update (title), delete on public.chat_sessions to evidence_chat;
grant all on public.chat_sessions to service_role;
alter table public.chat_sessions enable row level security;

create policy chat_sessions_own on public.chat_sessions
  for all to authenticated, evidence_chat
  -- "(select …)" is evaluated once per query instead of once per row.
  using ((select internal.limit_concurrency()) and user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));

comment on policy chat_sessions_own on public.chat_sessions is 'Users read and change only their own sessions.';

-- Deleted restricted documents --------------------------------------------

-- A history still quotes a document after it was deleted, or deleted and added again under another id. The quotes must stay hidden
-- from users outside the audience. One row for each deleted restricted document: an id and a short list.
create table internal.kb_restricted_documents (
  id uuid primary key,
  audience text[] not null
);

comment on table internal.kb_restricted_documents is
  'Audiences of deleted restricted documents, so that histories show quotes from them to these audiences only.';

create function internal.kb_record_restricted_documents() returns trigger
  language plpgsql
  -- No other role may write to kb_restricted_documents.
  security definer set search_path = ''
as $$
begin
  if tg_op = 'TRUNCATE' then
    insert into internal.kb_restricted_documents (id, audience)
      select d.id, d.audience from public.kb_documents d where d.audience is not null
      on conflict (id) do update set audience = excluded.audience;
    return null;
  end if;
  insert into internal.kb_restricted_documents (id, audience)
    select d.id, d.audience
      from deleted d
      where d.audience is not null
        -- A document that was never ready was never quoted. Each new version is such a row, deleted when it is published.
        and (
          d.status = 'ready'
          or exists (select from public.chat_messages m where m.sources @> array[d.id])
        )
    on conflict (id) do update set audience = excluded.audience;
  return null;
end
$$;

comment on function internal.kb_record_restricted_documents is
  'Trigger: keeps the audience of a deleted document that a user may have seen.';

create trigger kb_documents_record_restricted
  after delete on public.kb_documents
  referencing old table as deleted
  for each statement execute function internal.kb_record_restricted_documents();

create trigger kb_documents_record_restricted_before_truncate
  before truncate on public.kb_documents
  for each statement execute function internal.kb_record_restricted_documents();

create function internal.chat_can_view_sources(sources uuid[], audiences text[], is_in_default boolean) returns boolean
  language plpgsql stable
  -- Looks for documents that the caller cannot see.
  security definer set search_path = ''
as $$
begin
  return not exists (
    select from unnest(sources) as source(id)
      left join public.kb_documents d on d.id = source.id
      left join internal.kb_restricted_documents deleted on deleted.id = source.id
      -- If a document was added again under its old id, its present audience applies.
      where not coalesce(case when d.id is not null then d.audience else deleted.audience end && audiences, is_in_default)
  );
end
$$;

comment on function internal.chat_can_view_sources is
  'Whether every document is for one of these audiences or, if is_in_default, for the default '
  'audience. For a deleted document, its last audience applies.';

grant execute on function
  internal.chat_can_view_sources
  to authenticated, evidence_chat, service_role;

-- Messages ----------------------------------------------------------------

create function internal.chat_cited_documents(citations jsonb) returns uuid[]
  language sql immutable set search_path = ''
as $$
  -- Callers of chat_record_turn can pass anything here.
  select coalesce(array_agg(distinct (c.value ->> 'document_id')::uuid), '{}')
    from jsonb_array_elements(case when jsonb_typeof(citations) = 'array' then citations else '[]' end) as c
    where c.value ->> 'document_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;

comment on function internal.chat_cited_documents is 'The documents that citations name.';

-- A trigger runs it as the role that writes the message.
grant execute on function internal.chat_cited_documents to evidence_chat, service_role;

create table public.chat_messages (
  -- Set by the client. Within a session it identifies a repeated message. It has no meaning across sessions or users.
  id uuid not null default gen_random_uuid(),
  session_id uuid not null references public.chat_sessions (id) on delete cascade,
  role text not null
    constraint chat_messages_role_valid check (role in ('user', 'assistant')),
  content text not null
    constraint chat_messages_content_not_blank check (content ~ '\S')
    -- Far above what the Worker writes: a question of 4,000 characters, an answer of three sentences.
    constraint chat_messages_content_length check (char_length(content) <= 100000),
  citations jsonb not null default '[]'
    constraint chat_messages_citations_is_array check (jsonb_typeof(citations) = 'array')
    -- Reading a history costs time for each cited document, so citations are limited to the most that an answer can have, and to
    -- the maximum size of fifty passages. "-> 50" is the fifty-first entry; jsonb_array_length would fail for a value that is not
    -- an array.
    constraint chat_messages_citations_size check (octet_length(citations::text) <= 262144)
    constraint chat_messages_citations_count check (citations -> 50 is null),
  sources uuid[] not null default '{}'
    constraint chat_messages_sources_count check (cardinality(sources) <= 100),
  refusal text
    constraint chat_messages_refusal_valid
      check (refusal in ('no_match', 'weak_evidence', 'unreadable_language', 'no_access', 'empty_kb')),
  hedged boolean not null default false,
  mode text not null default 'extractive'
    constraint chat_messages_mode_valid check (mode in ('extractive', 'generated')),
  cut boolean not null default false
    constraint chat_messages_cut_only_if_generated check (not cut or mode = 'generated'),
  searched text
    constraint chat_messages_searched_not_blank check (searched ~ '\S')
    constraint chat_messages_searched_length check (char_length(searched) <= 4000),
  truncated boolean not null default false,
  latency_ms integer
    constraint chat_messages_latency_is_0_to_1_hour check (latency_ms between 0 and 3600000),
  feedback_rating text
    constraint chat_messages_feedback_rating_valid check (feedback_rating in ('up', 'down')),
  feedback_reason text
    constraint chat_messages_feedback_reason_valid
      check (feedback_reason in ('wrong', 'incomplete', 'off_topic', 'outdated', 'other')),
  feedback_comment text
    constraint chat_messages_feedback_comment_not_blank check (feedback_comment ~ '\S')
    constraint chat_messages_feedback_comment_length check (char_length(feedback_comment) <= 1000),
  feedback_at timestamptz,
  from_worker boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (session_id, id),
  constraint chat_messages_feedback_only_on_answers check (feedback_rating is null or (role = 'assistant' and refusal is null)),
  constraint chat_messages_feedback_is_whole
    check ((feedback_rating is null) = (feedback_at is null) and (feedback_rating is not null or feedback_comment is null)),
  constraint chat_messages_feedback_reason_only_on_down check (feedback_reason is null or feedback_rating is not distinct from 'down'),
  constraint chat_messages_latency_and_refusal_only_on_answers check (role = 'assistant' or (latency_ms, refusal) is null),
  constraint chat_messages_hedged_only_on_answers check (not hedged or (role = 'assistant' and refusal is null)),
  constraint chat_messages_generated_only_on_answers
    check (mode = 'extractive' or (role = 'assistant' and refusal is null)),
  constraint chat_messages_searched_only_on_answers check (role = 'assistant' or (searched is null and not truncated))
);

comment on table public.chat_messages is 'Questions and answers of a session. Append-only, except for the feedback of the user.';
comment on column public.chat_messages.id is 'Unique within its session only.';
comment on column public.chat_messages.session_id is 'The session. Deleting the session deletes the message.';
comment on column public.chat_messages.role is 'user: a question. assistant: an answer or a refusal.';
comment on column public.chat_messages.content is 'The text.';
comment on column public.chat_messages.citations is
  'The passages that the answer quotes or follows from, as the API sends them, without links to files. Empty for questions and '
  'refusals.';
comment on column public.chat_messages.sources is
  'Ids of the documents that the answer is based on, shown or not. A trigger adds the cited ones.';
comment on column public.chat_messages.refusal is
  'Why the question got no answer: no_match, weak_evidence, unreadable_language, no_access or empty_kb. Empty (NULL) for questions and '
  'answers.';
comment on column public.chat_messages.hedged is
  'Whether the answer says that its passages are on topic but may not answer the question.';
comment on column public.chat_messages.mode is
  'Who wrote the words of an answer. extractive: it quotes the documents. generated: a language model, and each sentence was '
  'checked against the passages that it cites.';
comment on column public.chat_messages.cut is 'Whether the answer ends before the language model had finished it.';
comment on column public.chat_messages.searched is
  'The question together with the one before it, where the answer or refusal is to both. Empty (NULL) otherwise and for questions.';
comment on column public.chat_messages.truncated is
  'Whether the answer or refusal is to a question that is longer than the model reads. False for questions.';
comment on column public.chat_messages.latency_ms is
  'Milliseconds from the request to the end of the answer. Empty (NULL) for questions and where it was not measured.';
comment on column public.chat_messages.feedback_rating is
  'What the user thinks of an answer: up or down. Empty (NULL) if they did not say.';
comment on column public.chat_messages.feedback_reason is
  'Why down: wrong, incomplete, off_topic (it answers another question), outdated or other. Empty (NULL) if they did not say.';
comment on column public.chat_messages.feedback_comment is 'Their own words. Empty (NULL) if there are none.';
comment on column public.chat_messages.feedback_at is 'When they last said so.';
comment on column public.chat_messages.from_worker is
  'Whether the Worker wrote it. Statistics count only such messages, because users can call chat_record_turn with any text.';
comment on column public.chat_messages.created_at is 'Strictly increasing within a session, so it orders the transcript.';

-- The API returns the planner's estimates for "Prefer: count=planned". Row level security does not apply to them, so statistics of
-- these columns would reveal what others asked and when, what they were answered, from which documents, and what they think of it.
-- A query that would need them must get its plan in another way, as internal.chat_insights_comments does.
alter table public.chat_messages
  alter column content set statistics 0, alter column citations set statistics 0, alter column sources set statistics 0,
  alter column refusal set statistics 0, alter column hedged set statistics 0, alter column mode set statistics 0,
  alter column cut set statistics 0, alter column searched set statistics 0, alter column truncated set statistics 0, alter column latency_ms set statistics 0,
  alter column feedback_rating set statistics 0, alter column feedback_reason set statistics 0,
  alter column feedback_comment set statistics 0, alter column feedback_at set statistics 0,
  alter column from_worker set statistics 0, alter column created_at set statistics 0;
create index chat_messages_session_idx on public.chat_messages (session_id, created_at);
create index chat_messages_sources_idx on public.chat_messages using gin (sources);

revoke all on public.chat_messages from public, anon, authenticated;
grant select on public.chat_messages to authenticated;
grant select, insert, update (feedback_rating, feedback_reason, feedback_comment, feedback_at) on public.chat_messages to evidence_chat;
grant all on public.chat_messages to service_role;
alter table public.chat_messages enable row level security;

create policy chat_messages_read_own on public.chat_messages
  for select to authenticated, evidence_chat
  using (
    (select internal.limit_concurrency())
    and exists (
      select from public.chat_sessions s
      where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
        and (chat_messages.role = 'user' or s.assistant = any ((select internal.chat_caller_assistants())::text[]))
    )
    and (
      sources = '{}'
      or internal.chat_can_view_sources(
        sources, (select internal.kb_caller_audiences()), (select internal.kb_is_in_default_audience())
      )
    )
  );

create policy chat_messages_insert_own on public.chat_messages
  for insert to evidence_chat
  with check (exists (
    select from public.chat_sessions s
    where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
  ));

create policy chat_messages_update_own on public.chat_messages
  for update to evidence_chat
  using (exists (
    select from public.chat_sessions s
    where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
  ));

comment on policy chat_messages_read_own on public.chat_messages is
  'Users read messages of their own sessions, except answers based on a document for other audiences only, and answers of an '
  'assistant for other audiences only.';
comment on policy chat_messages_update_own on public.chat_messages is
  'chat_give_feedback changes the feedback on answers in sessions of its caller.';
comment on policy chat_messages_insert_own on public.chat_messages is
  'chat_record_turn adds messages to sessions of its caller.';

create function internal.prepare_chat_message() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  -- A question and its answer may be written in one statement, and a clock may return the same time twice.
  select greatest(clock_timestamp(), max(m.created_at) + interval '1 microsecond')
    into new.created_at
    from public.chat_messages m
    where m.session_id = new.session_id;
  if new.citations <> '[]' then
    new.sources := array(
      select distinct s.id from unnest(new.sources || internal.chat_cited_documents(new.citations)) as s(id)
        where s.id is not null
        order by s.id
    );
  end if;
  return new;
end
$$;

comment on function internal.prepare_chat_message is
  'Trigger: sets created_at of a new message after the last one of its session, and adds the cited '
  'documents to sources.';

create trigger chat_messages_prepare
  before insert on public.chat_messages
  for each row execute function internal.prepare_chat_message();

-- Sessions are ordered by their last message only: renaming one does not move it.
create function internal.touch_chat_session() returns trigger
  language plpgsql
  -- Users may not write updated_at. The insert that fires this has passed the policies of chat_messages.
  security definer set search_path = ''
as $$
begin
  update public.chat_sessions s
    -- Of two simultaneous messages, the earlier one may get here last.
    set updated_at = greatest(s.updated_at, new.created_at)
    where s.id = new.session_id;
  return null;
end
$$;

comment on function internal.touch_chat_session is
  'Trigger: advances updated_at of the session of a new message.';

create trigger chat_messages_touch_session
  after insert on public.chat_messages
  for each row execute function internal.touch_chat_session();

-- A turn ------------------------------------------------------------------

create function internal.chat_has_message(session_id uuid, message_id uuid) returns boolean
  language plpgsql stable
  -- An answer that is hidden from its user must not be written a second time either.
  security definer set search_path = ''
as $$
begin
  return exists (
    select from public.chat_messages m
      where m.session_id = chat_has_message.session_id and m.id = chat_has_message.message_id
  );
end
$$;

comment on function internal.chat_has_message is
  'Whether a session has a message. The caller must have checked that the session is the user''s '
  'own.';

grant execute on function internal.chat_has_message to evidence_chat;

-- Sessions that were deleted in the last day, so that a retried question does not recreate its session.
create table internal.chat_deleted_sessions (
  id uuid primary key,
  deleted_at timestamptz not null default now()
);

comment on table internal.chat_deleted_sessions is 'Ids of the sessions that were deleted in the last day, and of earlier ones until chat_retain runs.';

create index chat_deleted_sessions_time_idx on internal.chat_deleted_sessions (deleted_at);

create function internal.chat_record_deleted_sessions() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into internal.chat_deleted_sessions (id) select d.id from deleted d
    on conflict (id) do update set deleted_at = now();
  return null;
end
$$;

comment on function internal.chat_record_deleted_sessions is
  'Trigger: keeps the ids of deleted sessions, until chat_retain finds them a day old.';

create trigger chat_sessions_record_deleted
  after delete on public.chat_sessions
  referencing old table as deleted
  for each statement execute function internal.chat_record_deleted_sessions();

create function internal.chat_session_was_deleted(session_id uuid) returns boolean
  language plpgsql
  -- Volatile, to see rows that were committed while the caller waited.
  volatile security definer set search_path = ''
as $$
begin
  return exists (
    select from internal.chat_deleted_sessions d
      where d.id = chat_session_was_deleted.session_id and d.deleted_at >= now() - interval '1 day'
  );
end
$$;

comment on function internal.chat_session_was_deleted is
  'Whether a session was deleted in the last day.';

grant execute on function internal.chat_session_was_deleted to evidence_chat;

create function internal.chat_parse_turn(turn jsonb) returns jsonb
  language plpgsql immutable set search_path = ''
as $$
declare
  -- All fields with their defaults. From citations on, they are columns of chat_messages.
  defaults constant jsonb := '{
    "session_id": null, "title": null, "assistant": "default", "question_id": null,
    "question": null, "answer_id": null, "answer": null,
    "citations": [], "sources": [], "latency_ms": null, "refusal": null, "hedged": false,
    "mode": "extractive", "cut": false, "searched": null, "truncated": false
  }';
  unknown text;
begin
  if jsonb_typeof(turn) is distinct from 'object' then
    raise exception 'turn must be an object' using errcode = 'invalid_parameter_value';
  end if;
  select min(f.name) into unknown from jsonb_object_keys(turn) as f(name)
    where not defaults ? f.name;
  if unknown is not null then
    raise exception 'turn has an unknown field: %', unknown
      using errcode = 'invalid_parameter_value';
  end if;
  return defaults || turn;
end
$$;

comment on function internal.chat_parse_turn is
  'A turn as given to chat_record_turn, with the defaults of missing fields. Fails for other '
  'fields. The columns that the fields are written to check their values.';

grant execute on function internal.chat_parse_turn to evidence_chat;

-- Atomic and idempotent: a question and its answer are written together or not at all, and only
-- once.
create function internal.chat_record_turn(turn jsonb) returns void
  language plpgsql
  -- As evidence_chat, with the claims of the caller.
  security definer set search_path = ''
as $$
declare
  fields constant jsonb := internal.chat_parse_turn(turn);
  assistant constant text := fields ->> 'assistant';
  title constant text := fields ->> 'title';
  is_worker_request constant boolean := internal.is_worker_request();
  answer public.chat_messages;
begin
  perform internal.chat_assistant(assistant, internal.kb_caller_audiences());
  answer := jsonb_populate_record(
    null::public.chat_messages,
    fields || jsonb_build_object(
      'id', fields -> 'answer_id', 'role', 'assistant', 'content', fields -> 'answer',
      'from_worker', is_worker_request
    )
  );

  if title is not null then
    -- Waits for a concurrent call that creates or deletes the same session.
    insert into public.chat_sessions (id, assistant, title)
      values (answer.session_id, assistant, title)
      on conflict do nothing;
  end if;

  -- One turn of a session at a time, and none in a session that is being deleted. Row level
  -- security hides sessions of other users, so they fail like sessions that do not exist, and so
  -- do sessions with another assistant.
  perform from public.chat_sessions s
    where s.id = answer.session_id and s.assistant = fields ->> 'assistant'
    for no key update;
  if not found or internal.chat_session_was_deleted(answer.session_id) then
    raise exception 'session not found' using errcode = 'insufficient_privilege';
  end if;

  -- The answer is written last, so if it exists, the turn is complete.
  if internal.chat_has_message(answer.session_id, answer.id) then
    return;
  end if;

  perform internal.consume_storage(
    octet_length(
      concat(title, fields ->> 'question', answer.content, answer.citations, answer.searched)
    ) + 16 * coalesce(cardinality(answer.sources), 0) + 2048
  );

  insert into public.chat_messages (session_id, id, role, content, from_worker)
    values (
      answer.session_id, (fields ->> 'question_id')::uuid, 'user', fields ->> 'question',
      is_worker_request
    )
    on conflict do nothing;
  -- After the check above, a conflict means that the answer has the id of its question. That must
  -- fail and not write half a turn.
  insert into public.chat_messages select answer.*;
end
$$;

call internal.create_api_function(
  'chat_record_turn', 'authenticated',
  'Writes a question of the calling user and its answer in one transaction. Idempotent. Fails and '
  'writes nothing if the session is not the caller''s or with another assistant. turn: an object. '
  'session_id, question_id, question, answer_id, answer. title: creates the session if it does not '
  'exist and was not deleted in the last day; without one, the session must exist. assistant: '
  'default if missing. citations, sources, latency_ms, refusal, hedged, mode, cut, searched, '
  'truncated: as in chat_messages, may be missing. Limit: what a user may store in a day (4 MiB for anonymous users, 32 MiB for others; '
  '2 KiB a turn besides its texts), then PT429.',
  runs_as => 'evidence_chat'
);
