-- A question and its answer reach the history together or not at all, and once, however often they are sent.

create function public.chat_record_turn(
  session_id uuid,
  title text,
  question_id uuid,
  question text,
  answer_id uuid,
  answer text,
  citations jsonb
) returns void
  language plpgsql
  security invoker
  set search_path = ''
as $$
#variable_conflict use_column
begin
  if chat_record_turn.title is not null then
    -- Waits for a simultaneous call that creates the same session.
    insert into public.chat_sessions (id, title)
      values (chat_record_turn.session_id, chat_record_turn.title)
      on conflict do nothing;
  end if;

  -- One turn of a session at a time, and none in a session that is being deleted. What row level security hides is not
  -- found: a session of somebody else and one that does not exist are the same.
  perform from public.chat_sessions s where s.id = chat_record_turn.session_id for no key update;
  if not found then
    raise exception 'session not found' using errcode = 'insufficient_privilege';
  end if;

  -- The answer is written last, so where it is, the turn is complete. A question that its user has deleted since must
  -- not come back after it.
  perform from public.chat_messages m
    where m.session_id = chat_record_turn.session_id and m.id = chat_record_turn.answer_id;
  if found then
    return;
  end if;

  insert into public.chat_messages (session_id, id, role, content)
    values (chat_record_turn.session_id, chat_record_turn.question_id, 'user', chat_record_turn.question)
    on conflict do nothing;
  -- A conflict here, behind the look above, is an answer with the id of its question: an error, not half a turn.
  insert into public.chat_messages (session_id, id, role, content, citations)
    values (
      chat_record_turn.session_id, chat_record_turn.answer_id, 'assistant',
      chat_record_turn.answer, chat_record_turn.citations
    );
end
$$;

comment on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb) is
  'Writes a question and its answer in one transaction. With a title, the session is created if it is not there; '
  'without one it must be. A repetition changes nothing. If the session is not the caller''s it fails and writes '
  'nothing.';

revoke all on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb) from public, anon;
grant execute on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb)
  to authenticated, service_role;
