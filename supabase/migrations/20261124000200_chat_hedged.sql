-- An answer whose passages are about the subject, but may not answer the question, says so; also when its conversation is
-- opened again.

alter table public.chat_messages
  add column hedged boolean not null default false,
  add constraint chat_messages_hedged_are_answers check (not hedged or (role = 'assistant' and refusal is null));

comment on column public.chat_messages.hedged is
  'Whether the answer says that its passages are about the subject, but may not answer the question.';

drop function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, integer, text);

create function public.chat_record_turn(
  session_id uuid,
  title text,
  question_id uuid,
  question text,
  answer_id uuid,
  answer text,
  citations jsonb,
  latency_ms integer default null,
  refusal text default null,
  hedged boolean default false
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
  if internal.chat_has_message(chat_record_turn.session_id, chat_record_turn.answer_id) then
    return;
  end if;

  insert into public.chat_messages (session_id, id, role, content)
    values (chat_record_turn.session_id, chat_record_turn.question_id, 'user', chat_record_turn.question)
    on conflict do nothing;
  -- A conflict here, after the check above, is an answer with the id of its question: an error, not half a turn.
  insert into public.chat_messages (session_id, id, role, content, citations, latency_ms, refusal, hedged)
    values (
      chat_record_turn.session_id, chat_record_turn.answer_id, 'assistant',
      chat_record_turn.answer, chat_record_turn.citations, chat_record_turn.latency_ms, chat_record_turn.refusal,
      chat_record_turn.hedged
    );
end
$$;

comment on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, integer, text, boolean) is
  'Writes a question and its answer in one transaction. With a title, the session is created if it is not there; '
  'without one it must be. A repetition changes nothing. If the session is not the caller''s it fails and writes '
  'nothing. citations: the passages that the answer quotes; latency_ms: how long the answer took; refusal: the reason '
  'if it is none; hedged: whether its passages may not answer the question.';

revoke all on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, integer, text, boolean)
  from public, anon;
grant execute on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, integer, text, boolean)
  to authenticated, service_role;

-- Citations are quoted passages. What was found besides is not stored, and so counts nowhere as cited.
comment on column public.chat_messages.citations is
  'The passages that the answer quotes, as the API sends them, without links to files. Empty for questions and refusals.';
comment on column public.chat_messages.cited_documents is
  'Ids of the documents that the answer quotes. Worked out from citations.';
comment on column public.kb_overview.times_cited is 'How many answers in the histories quote it.';
comment on column public.chat_metrics.cited_documents is 'Different documents that answers quoted.';
