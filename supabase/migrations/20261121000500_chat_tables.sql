-- Conversations. A user reaches only their own sessions, and messages only through a session of their own.

create table public.chat_sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  title text
    constraint chat_sessions_title_length check (char_length(title) between 1 and 200),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on table public.chat_sessions is 'One conversation of one user.';
comment on column public.chat_sessions.title is 'Beginning of the first question.';
comment on column public.chat_sessions.updated_at is 'Also moved on by every new message, to list recent sessions first.';

create index chat_sessions_user_recent_idx on public.chat_sessions (user_id, updated_at desc);

create trigger chat_sessions_set_updated_at
  before update on public.chat_sessions
  for each row execute function public.set_updated_at();

create table public.chat_messages (
  id uuid primary key default gen_random_uuid(),
  session_id uuid not null references public.chat_sessions (id) on delete cascade,
  role text not null
    constraint chat_messages_role_known check (role in ('user', 'assistant')),
  content text not null
    constraint chat_messages_content_not_empty check (content ~ '\S'),
  citations jsonb not null default '[]'
    constraint chat_messages_citations_is_array check (jsonb_typeof(citations) = 'array'),
  created_at timestamptz not null default now()
);

comment on table public.chat_messages is 'Questions and answers of a session. A transcript is added to, never edited.';
comment on column public.chat_messages.citations is 'What the answer cites, as it was sent to the user; empty for questions.';

comment on column public.chat_messages.created_at is 'Strictly increasing within a session, so that it orders the transcript.';

create index chat_messages_session_idx on public.chat_messages (session_id, created_at);

create function public.stamp_chat_message() returns trigger
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
  return new;
end
$$;

comment on function public.stamp_chat_message() is 'Trigger: gives a new message a created_at after the last one of its session.';
revoke all on function public.stamp_chat_message() from public, anon, authenticated;

create trigger chat_messages_stamp
  before insert on public.chat_messages
  for each row execute function public.stamp_chat_message();

create function public.touch_chat_session() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  update public.chat_sessions set updated_at = now() where id = new.session_id;
  return null;
end
$$;

comment on function public.touch_chat_session() is 'Trigger: a new message moves its session''s updated_at on.';
revoke all on function public.touch_chat_session() from public, anon, authenticated;

create trigger chat_messages_touch_session
  after insert on public.chat_messages
  for each row execute function public.touch_chat_session();

-- Privileges and row level security ---------------------------------------

revoke all on public.chat_sessions, public.chat_messages from public, anon, authenticated;
grant select, insert, update, delete on public.chat_sessions to authenticated;
grant select, insert, delete on public.chat_messages to authenticated;
grant all on public.chat_sessions, public.chat_messages to service_role;

alter table public.chat_sessions enable row level security;
alter table public.chat_messages enable row level security;

-- "(select auth.uid())" is evaluated once per query instead of once per row.

create policy chat_sessions_own on public.chat_sessions
  for all to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));

create policy chat_messages_read_own on public.chat_messages
  for select to authenticated
  using (exists (
    select from public.chat_sessions s
    where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
  ));

create policy chat_messages_insert_own on public.chat_messages
  for insert to authenticated
  with check (exists (
    select from public.chat_sessions s
    where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
  ));

create policy chat_messages_delete_own on public.chat_messages
  for delete to authenticated
  using (exists (
    select from public.chat_sessions s
    where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
  ));

comment on policy chat_sessions_own on public.chat_sessions is 'Users reach their own sessions.';
comment on policy chat_messages_read_own on public.chat_messages is 'Users read messages of their own sessions.';
comment on policy chat_messages_insert_own on public.chat_messages is 'Users add messages to their own sessions.';
comment on policy chat_messages_delete_own on public.chat_messages is 'Users delete messages of their own sessions.';
