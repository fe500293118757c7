-- What users think of answers. A disliked answer counts among the gaps, in the group of its question.

create function internal.chat_question_of(answer public.chat_messages) returns text
  language sql stable set search_path = ''
as $$
  -- "And to Norway?" alone would tell the owner nothing.
  select coalesce(answer.searched, (
    -- An answer of the Worker may follow a question that was written without it.
    select case when m.from_worker = answer.from_worker then m.content end
      from public.chat_messages m
      where m.session_id = answer.session_id and m.role = 'user'
        and m.created_at < answer.created_at
      order by m.created_at desc
      limit 1
  ))
$$;

comment on function internal.chat_question_of is
  'The question of an answer, together with the one before it if the answer is to both.';

grant execute on function internal.chat_question_of to evidence_chat, service_role;

create function internal.chat_give_feedback(
  session_id uuid,
  message_id uuid,
  rating text default null,
  reason text default null,
  comment text default null,
  embedding extensions.vector(384) default null
) returns boolean
  language plpgsql
  -- As evidence_chat, with the claims of the caller.
  security definer set search_path = ''
as $$
#variable_conflict use_column
declare
  is_worker_request constant boolean := internal.is_worker_request();
  answer public.chat_messages;
  asked text;
begin
  perform internal.consume_storage(
    coalesce(octet_length(chat_give_feedback.comment), 0)
      + case when chat_give_feedback.embedding is null then 1024 else 8192 end
  );
  -- Before the answer, in the order in which a deletion locks them.
  perform from public.chat_sessions s where s.id = chat_give_feedback.session_id for key share;
  if not found then
    return false;
  end if;
  -- The policies hide answers of other users, and those that the caller may no longer see.
  select * into answer
    from public.chat_messages m
    where m.session_id = chat_give_feedback.session_id and m.id = chat_give_feedback.message_id
      and m.role = 'assistant' and m.refusal is null
    for no key update;
  if not found then
    return false;
  end if;

  asked := internal.chat_question_of(answer);
  delete from public.chat_refusals r
    where r.session_id = answer.session_id and r.reason = 'disliked' and r.question = asked;
  if chat_give_feedback.rating = 'down' and chat_give_feedback.embedding is not null and asked is not null then
    insert into public.chat_refusals (id, user_id, session_id, assistant, question, embedding, reason, from_worker)
      select answer.id, s.user_id, s.id, s.assistant, asked, chat_give_feedback.embedding, 'disliked',
          is_worker_request and answer.from_worker
        from public.chat_sessions s
        where s.id = answer.session_id
      on conflict do nothing;
  end if;

  -- Last, because its trigger locks the counts of the day, for which all turns of the assistant wait.
  update public.chat_messages m
    set feedback_rating = chat_give_feedback.rating,
        feedback_reason = chat_give_feedback.reason,
        feedback_comment = chat_give_feedback.comment,
        feedback_at = case when chat_give_feedback.rating is not null then now() end
    where m.session_id = answer.session_id and m.id = answer.id;
  return true;
end
$$;

call internal.create_api_function(
  'chat_give_feedback', 'authenticated',
  'Records what the calling user thinks of an answer in their history, in place of what they said '
  'before; without rating, removes it. False: there is no such answer. rating: up or down. reason: '
  'only for down. comment: at most 1,000 characters. embedding: vector of the question, or of what '
  'was searched for it, of unit length; with it, a disliked answer counts among the gaps of the insights, subject '
  'to chat_settings.keep_refusals. Questions that are kept anonymously stay there if the feedback '
  'changes. Limit: what a user may store in a day, as for chat_record_turn; 1 KiB besides the '
  'comment, or 8 KiB with a vector.',
  runs_as => 'evidence_chat'
);

create view public.chat_feedback
  with (security_invoker = true)
as
select
  m.feedback_at,
  s.assistant,
  m.feedback_rating as rating,
  m.feedback_reason as reason,
  m.feedback_comment as comment,
  internal.chat_question_of(m) as question,
  m.content as answer,
  m.session_id,
  m.id as message_id
from public.chat_messages m
join public.chat_sessions s on s.id = m.session_id
where m.feedback_rating is not null and m.from_worker
order by m.feedback_at desc;

comment on view public.chat_feedback is
  'Answers that users liked or disliked, last feedback first. Counts only answers that the Worker recorded.';
comment on column public.chat_feedback.feedback_at is 'When the user said so.';
comment on column public.chat_feedback.assistant is 'The assistant that was asked.';
comment on column public.chat_feedback.rating is 'up or down.';
comment on column public.chat_feedback.reason is 'wrong, incomplete, off_topic, outdated or other, for down.';
comment on column public.chat_feedback.comment is 'The words of the user.';
comment on column public.chat_feedback.question is 'The question, together with the one before it if the answer is to both.';
comment on column public.chat_feedback.answer is 'The answer.';
comment on column public.chat_feedback.session_id is 'The session of the answer.';
comment on column public.chat_feedback.message_id is 'Id of the answer, unique within its session.';

-- The newest feedback, without reading all messages.
create index chat_messages_feedback_idx on public.chat_messages (feedback_at desc) where feedback_rating is not null;
create index chat_messages_comment_idx on public.chat_messages (feedback_at desc) where feedback_comment is not null;

revoke all on public.chat_feedback from public, anon, authenticated;
grant select on public.chat_feedback to service_role;
