-- The list of sessions: ordered by the last message and by nothing that a user writes.

-- Renaming a session is no news in it.
drop trigger chat_sessions_set_updated_at on public.chat_sessions;

-- Columns instead of the whole table: times are the database's, and a session stays with its user.
revoke insert, update on public.chat_sessions from authenticated;
grant insert (id, user_id, title), update (title) on public.chat_sessions to authenticated;

create or replace function public.touch_chat_session() returns trigger
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

comment on column public.chat_sessions.updated_at is
  'When its last message was written, or when it was created. Nothing else moves it.';

-- Keyset paging, newest first: ids tell sessions of the same time apart.
create index chat_sessions_user_newest_idx on public.chat_sessions (user_id, updated_at desc, id desc);
drop index public.chat_sessions_user_recent_idx;
