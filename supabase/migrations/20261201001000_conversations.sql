-- Conversations. A user reaches only their own sessions, and messages only through a session of their own. Nobody but
-- chat_record_turn writes messages for a user.

-- Sessions ----------------------------------------------------------------

create table public.chat_sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  title text
    constraint chat_sessions_title_length check (char_length(title) between 1 and 200),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on table public.chat_sessions is 'One conversation of one user.';
comment on column public.chat_sessions.id is 'Id of the session.';
comment on column public.chat_sessions.user_id is 'Whose session it is. It goes when the user goes.';
comment on column public.chat_sessions.title is 'Beginning of the first question.';
comment on column public.chat_sessions.created_at is 'When it began.';
comment on column public.chat_sessions.updated_at is
  'When its last message was written, or when it was created. Nothing else moves it.';

-- Keyset paging, newest first: ids tell sessions of the same time apart.
create index chat_sessions_user_newest_idx on public.chat_sessions (user_id, updated_at desc, id desc);

-- As for chat_messages.content.
alter table public.chat_sessions alter column title set statistics 0;

-- Columns instead of the whole table: times are the database's, and a session stays with its user.
revoke all on public.chat_sessions from public, anon, authenticated;
grant select, update (title), delete on public.chat_sessions to authenticated;
grant select, insert (id, user_id, title), update (title), delete on public.chat_sessions to evidence_chat;
grant all on public.chat_sessions to service_role;
alter table public.chat_sessions enable row level security;

create policy chat_sessions_own on public.chat_sessions
  for all to authenticated, evidence_chat
  -- In "(select …)", evaluated once per query instead of once per row.
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));

comment on policy chat_sessions_own on public.chat_sessions is 'Users reach their own sessions.';

-- Restricted documents that are gone --------------------------------------

-- A history goes on quoting a document that was deleted, or deleted and added again under another id. Its readers are to
-- stay those it had. One row for each restricted document that was deleted: an id and a short list.
create table internal.kb_restricted_documents (
  id uuid primary key,
  audience text[] not null
);

comment on table internal.kb_restricted_documents is
  'Documents for some users only that are gone, so that histories which quote them show them to nobody else.';
comment on column internal.kb_restricted_documents.id is 'Id that the document had.';
comment on column internal.kb_restricted_documents.audience is 'Who saw it last, as in kb_documents.audience.';

revoke all on internal.kb_restricted_documents from public, anon, authenticated, service_role;
alter table internal.kb_restricted_documents enable row level security;

create function internal.kb_remember_restricted_documents() returns trigger
  language plpgsql
  -- Nobody else may write there.
  security definer
  set search_path = ''
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
        -- What was never ready was never quoted: each new version of a document is such a row, and deleted when published.
        and (
          d.status = 'ready'
          or exists (select from public.chat_messages m where m.sources @> array[d.id])
        )
    on conflict (id) do update set audience = excluded.audience;
  return null;
end
$$;

comment on function internal.kb_remember_restricted_documents() is
  'Trigger: keeps the audience of a document that is deleted, if somebody may have seen it.';

revoke all on function internal.kb_remember_restricted_documents() from public;

create trigger kb_documents_remember_restricted
  after delete on public.kb_documents
  referencing old table as deleted
  for each statement execute function internal.kb_remember_restricted_documents();

create trigger kb_documents_remember_restricted_before_truncate
  before truncate on public.kb_documents
  for each statement execute function internal.kb_remember_restricted_documents();

create function internal.chat_may_show(sources uuid[], audiences text[]) returns boolean
  language plpgsql
  stable
  -- Documents that the caller does not see are what it looks for.
  security definer
  set search_path = ''
as $$
begin
  return not exists (
    select from unnest(sources) as source(id)
      left join public.kb_documents d on d.id = source.id
      left join internal.kb_restricted_documents gone on gone.id = source.id
      -- One that is there again under its old id counts as it is.
      where not case when d.id is not null then d.audience else gone.audience end && audiences
  );
end
$$;

comment on function internal.chat_may_show(uuid[], text[]) is
  'Whether none of the documents is, or was when it was deleted, for other audiences only.';

revoke all on function internal.chat_may_show(uuid[], text[]) from public;
grant execute on function internal.chat_may_show(uuid[], text[]) to authenticated, evidence_chat, service_role;

-- Messages ----------------------------------------------------------------

create function internal.chat_cited_documents(citations jsonb) returns uuid[]
  language sql
  immutable
  set search_path = ''
as $$
  -- Whoever calls chat_record_turn can write anything here.
  select coalesce(array_agg(distinct (c.value ->> 'document_id')::uuid), '{}')
    from jsonb_array_elements(case when jsonb_typeof(citations) = 'array' then citations else '[]' end) as c
    where c.value ->> 'document_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;

comment on function internal.chat_cited_documents(jsonb) is 'The documents that citations name.';

revoke all on function internal.chat_cited_documents(jsonb) from public;
-- A trigger runs it as the role that writes the message.
grant execute on function internal.chat_cited_documents(jsonb) to evidence_chat, service_role;

create table public.chat_messages (
  -- From the client. Within a session it tells a repetition from a new message; across sessions, and so across users, it means
  -- nothing.
  id uuid not null default gen_random_uuid(),
  session_id uuid not null references public.chat_sessions (id) on delete cascade,
  role text not null
    constraint chat_messages_role_known check (role in ('user', 'assistant')),
  content text not null
    constraint chat_messages_content_not_empty check (content ~ '\S')
    -- Far above what the Worker writes: a question of 4,000 characters, an answer of three sentences.
    constraint chat_messages_content_length check (char_length(content) <= 100000),
  citations jsonb not null default '[]'
    constraint chat_messages_citations_is_array check (jsonb_typeof(citations) = 'array')
    -- Reading a history costs time for its citations, document by document. So they are limited to as many as an answer can
    -- have, and to what fifty passages take up at most. "-> 50" is the fifty-first entry; the length of a value that is no
    -- array would be an error.
    constraint chat_messages_citations_size check (octet_length(citations::text) <= 262144)
    constraint chat_messages_citations_count check (citations -> 50 is null),
  sources uuid[] not null default '{}'
    constraint chat_messages_sources_are_at_most_100 check (cardinality(sources) <= 100),
  refusal text
    constraint chat_messages_refusal_known
      check (refusal in ('no_match', 'weak_evidence', 'unreadable_language', 'empty_kb')),
  hedged boolean not null default false,
  latency_ms integer
    constraint chat_messages_latency_is_0_to_1_hour check (latency_ms between 0 and 3600000),
  vouched boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (session_id, id),
  constraint chat_messages_measured_are_answers check (role = 'assistant' or (latency_ms, refusal) is null),
  constraint chat_messages_hedged_are_answers check (not hedged or (role = 'assistant' and refusal is null))
);

comment on table public.chat_messages is 'Questions and answers of a session. A transcript is added to, never edited.';
comment on column public.chat_messages.id is 'Unique within its session only.';
comment on column public.chat_messages.session_id is 'The session it belongs to. It goes when the session goes.';
comment on column public.chat_messages.role is 'user: a question. assistant: an answer or a refusal.';
comment on column public.chat_messages.content is 'The text.';
comment on column public.chat_messages.citations is
  'The passages that the answer quotes, as the API sends them, without links to files. Empty for questions and refusals.';
comment on column public.chat_messages.sources is
  'Ids of the documents that the answer was made of, whether it shows them or not. A trigger adds those of citations.';
comment on column public.chat_messages.refusal is
  'Why the question got no answer: no_match, weak_evidence, unreadable_language or empty_kb. Empty (NULL) for questions and '
  'answers.';
comment on column public.chat_messages.hedged is
  'Whether the answer says that its passages are about the subject, but may not answer the question.';
comment on column public.chat_messages.latency_ms is
  'Milliseconds from the request to the end of the answer. Empty (NULL) for questions and where it was not measured.';
comment on column public.chat_messages.vouched is
  'Whether the Worker wrote it. Only then it counts in statistics: a user who calls chat_record_turn can write what they like.';
comment on column public.chat_messages.created_at is 'Strictly increasing within a session, so that it orders the transcript.';

-- Row level security does not bind the planner's estimates, which the API returns for "Prefer: count=planned": they would tell
-- whether others often asked or were answered the same.
alter table public.chat_messages alter column content set statistics 0;
create index chat_messages_session_idx on public.chat_messages (session_id, created_at);
create index chat_messages_sources_idx on public.chat_messages using gin (sources);

revoke all on public.chat_messages from public, anon, authenticated;
grant select on public.chat_messages to authenticated;
grant select, insert on public.chat_messages to evidence_chat;
grant all on public.chat_messages to service_role;
alter table public.chat_messages enable row level security;

create policy chat_messages_read_own on public.chat_messages
  for select to authenticated, evidence_chat
  using (
    exists (
      select from public.chat_sessions s
      where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
    )
    and (sources = '{}' or internal.chat_may_show(sources, (select internal.kb_audiences())))
  );

create policy chat_messages_insert_own on public.chat_messages
  for insert to evidence_chat
  with check (exists (
    select from public.chat_sessions s
    where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
  ));

comment on policy chat_messages_read_own on public.chat_messages is
  'Users read messages of their own sessions, but no answer made of a document for other audiences only.';
comment on policy chat_messages_insert_own on public.chat_messages is
  'chat_record_turn adds messages to sessions of its caller.';

create function internal.stamp_chat_message() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  -- A question and its answer may be written in one statement, and clocks can stand still for a millisecond.
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

comment on function internal.stamp_chat_message() is 'Trigger: gives a new message a created_at after the last one of its session, and notes the documents it cites.';

revoke all on function internal.stamp_chat_message() from public;

create trigger chat_messages_stamp
  before insert on public.chat_messages
  for each row execute function internal.stamp_chat_message();

-- Sessions are listed by their last message and by nothing that a user writes: renaming one does not move it.
create function internal.touch_chat_session() returns trigger
  language plpgsql
  -- Users may not write updated_at. The insert that fires this has passed the policies of chat_messages.
  security definer
  set search_path = ''
as $$
begin
  update public.chat_sessions s
    -- Of two messages at the same time, the earlier one may come second.
    set updated_at = greatest(s.updated_at, new.created_at)
    where s.id = new.session_id;
  return null;
end
$$;

comment on function internal.touch_chat_session() is 'Trigger: a new message moves its session''s updated_at on.';

revoke all on function internal.touch_chat_session() from public;

create trigger chat_messages_touch_session
  after insert on public.chat_messages
  for each row execute function internal.touch_chat_session();

-- A turn ------------------------------------------------------------------

create function internal.chat_has_message(session_id uuid, message_id uuid) returns boolean
  language plpgsql
  stable
  -- An answer may be hidden from who asked, and still must not be written a second time.
  security definer
  set search_path = ''
as $$
begin
  return exists (
    select from public.chat_messages m
      where m.session_id = chat_has_message.session_id and m.id = chat_has_message.message_id
  );
end
$$;

comment on function internal.chat_has_message(uuid, uuid) is
  'Whether a session has a message. Whoever asks must know that the session is the caller''s.';

revoke all on function internal.chat_has_message(uuid, uuid) from public;
grant execute on function internal.chat_has_message(uuid, uuid) to evidence_chat;

-- Sessions that were deleted in the last day: a question that is asked again must not bring its session back.
create table internal.chat_deleted_sessions (
  id uuid primary key,
  deleted_at timestamptz not null default now()
);

comment on table internal.chat_deleted_sessions is 'Ids of the sessions that were deleted in the last day.';
comment on column internal.chat_deleted_sessions.id is 'Id that the session had.';
comment on column internal.chat_deleted_sessions.deleted_at is 'When it was deleted.';

create index chat_deleted_sessions_time_idx on internal.chat_deleted_sessions (deleted_at);

revoke all on internal.chat_deleted_sessions from public, anon, authenticated, service_role;
alter table internal.chat_deleted_sessions enable row level security;

create function internal.forget_deleted_sessions() returns void
  language sql
  set search_path = ''
as $$
  -- Skipped is what another transaction deletes: waiting for it would make all deletions wait for each other.
  delete from internal.chat_deleted_sessions d where d.id in (
    select old.id from internal.chat_deleted_sessions old
      where old.deleted_at < now() - interval '1 day'
      for update skip locked
  )
$$;

comment on function internal.forget_deleted_sessions() is 'Deletes the ids of sessions that were deleted more than a day ago.';

revoke all on function internal.forget_deleted_sessions() from public;

create function internal.remember_deleted_sessions() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform internal.forget_deleted_sessions();
  insert into internal.chat_deleted_sessions (id) select d.id from deleted d
    on conflict (id) do update set deleted_at = now();
  return null;
end
$$;

comment on function internal.remember_deleted_sessions() is 'Trigger: keeps the ids of deleted sessions for a day.';

revoke all on function internal.remember_deleted_sessions() from public;

create trigger chat_sessions_remember_deleted
  after delete on public.chat_sessions
  referencing old table as deleted
  for each statement execute function internal.remember_deleted_sessions();

create function internal.chat_was_deleted(session_id uuid) returns boolean
  language plpgsql
  -- Sees what was committed while its caller waited.
  volatile
  security definer
  set search_path = ''
as $$
begin
  return exists (
    select from internal.chat_deleted_sessions d
      where d.id = chat_was_deleted.session_id and d.deleted_at >= now() - interval '1 day'
  );
end
$$;

comment on function internal.chat_was_deleted(uuid) is 'Whether a session was deleted in the last day.';

revoke all on function internal.chat_was_deleted(uuid) from public;
grant execute on function internal.chat_was_deleted(uuid) to evidence_chat;

create function internal.chat_record_turn(
  session_id uuid,
  title text,
  question_id uuid,
  question text,
  answer_id uuid,
  answer text,
  citations jsonb,
  sources uuid[],
  latency_ms integer,
  refusal text,
  hedged boolean
) returns void
  language plpgsql
  -- As evidence_chat, with the claims of the caller.
  security definer
  set search_path = ''
as $$
#variable_conflict use_column
declare
  is_vouched constant boolean := internal.is_vouched();
begin
  if chat_record_turn.title is not null then
    -- Waits for a simultaneous call that creates or deletes the same session.
    insert into public.chat_sessions (id, title)
      values (chat_record_turn.session_id, chat_record_turn.title)
      on conflict do nothing;
  end if;

  -- One turn of a session at a time, and none in a session that is being deleted. What row level security hides is not
  -- found: a session of somebody else and one that does not exist are the same.
  perform from public.chat_sessions s where s.id = chat_record_turn.session_id for no key update;
  if not found or internal.chat_was_deleted(chat_record_turn.session_id) then
    raise exception 'session not found' using errcode = 'insufficient_privilege';
  end if;

  -- The answer is written last, so where it is, the turn is complete.
  if internal.chat_has_message(chat_record_turn.session_id, chat_record_turn.answer_id) then
    return;
  end if;

  -- The Worker has limits of its own. Past it: as much as its usual 20 questions a minute, and text as of 3,000 usual answers.
  if not is_vouched then
    perform internal.use_up('turn', 1, 1200, '1 hour');
    perform internal.use_up(
      'text',
      octet_length(chat_record_turn.question) + octet_length(chat_record_turn.answer)
        + octet_length(chat_record_turn.citations::text),
      32 * 1024 * 1024,
      '1 day'
    );
    if chat_record_turn.title is not null and (select count(*) from public.chat_sessions) > 1000 then
      raise exception 'Too many conversations: at most 1000.'
        using errcode = 'PT429', detail = '60', hint = 'Delete some of them first.';
    end if;
  end if;

  insert into public.chat_messages (session_id, id, role, content, vouched)
    values (
      chat_record_turn.session_id, chat_record_turn.question_id, 'user', chat_record_turn.question, is_vouched
    )
    on conflict do nothing;
  -- A conflict here, after the check above, is an answer with the id of its question: an error, not half a turn.
  insert into public.chat_messages (
      session_id, id, role, content, citations, sources, latency_ms, refusal, hedged, vouched
    )
    values (
      chat_record_turn.session_id, chat_record_turn.answer_id, 'assistant',
      chat_record_turn.answer, chat_record_turn.citations, chat_record_turn.sources, chat_record_turn.latency_ms,
      chat_record_turn.refusal, chat_record_turn.hedged, is_vouched
    );
end
$$;

comment on function internal.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, uuid[], integer, text, boolean) is
  'What public.chat_record_turn does, bound by the policies.';

revoke all
  on function internal.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, uuid[], integer, text, boolean)
  from public;
grant execute
  on function internal.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, uuid[], integer, text, boolean)
  to authenticated;
alter function internal.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, uuid[], integer, text, boolean)
  owner to evidence_chat;

-- A question and its answer reach the history together or not at all, and once, however often they are sent.
create function public.chat_record_turn(
  session_id uuid,
  title text,
  question_id uuid,
  question text,
  answer_id uuid,
  answer text,
  citations jsonb,
  sources uuid[],
  latency_ms integer default null,
  refusal text default null,
  hedged boolean default false
) returns void
  language sql
  security invoker
  set search_path = ''
as $$
  select internal.chat_record_turn(
    session_id, title, question_id, question, answer_id, answer, citations, sources, latency_ms, refusal, hedged
  )
$$;

comment on function
  public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, uuid[], integer, text, boolean) is
  'Writes a question and its answer of the calling user in one transaction. With a title, the session is created if it is not '
  'there and was not deleted in the last day; without one it must be there. A repetition changes nothing. If the session is not '
  'the caller''s it fails and writes nothing. citations: the passages that the answer quotes; sources: ids of the documents it '
  'was made of, whatever it shows; latency_ms: how long the answer took; refusal: the reason if it is none; hedged: whether '
  'its passages may not answer the question. A user who is not vouched for by the Worker may write 1,200 turns an hour, 32 MiB '
  'a day and 1,000 sessions: then PT429.';

revoke all
  on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, uuid[], integer, text, boolean)
  from public, anon, service_role;
grant execute
  on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, uuid[], integer, text, boolean)
  to authenticated;
