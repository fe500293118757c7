-- What an answer cites, how long it took and why it was refused: for the administrator's views, and so that a history
-- does not go on telling what its reader may no longer see.

create function internal.chat_cited_documents(citations jsonb) returns uuid[]
  language sql
  immutable
  set search_path = ''
as $$
  -- Users can write anything here.
  select coalesce(array_agg(distinct (c.value ->> 'document_id')::uuid), '{}')
    from jsonb_array_elements(case when jsonb_typeof(citations) = 'array' then citations else '[]' end) as c
    where c.value ->> 'document_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;

comment on function internal.chat_cited_documents(jsonb) is 'The documents that citations name.';
revoke all on function internal.chat_cited_documents(jsonb) from public;
-- Whoever writes a message runs it.
grant execute on function internal.chat_cited_documents(jsonb) to authenticated, service_role;

alter table public.chat_messages
  add column latency_ms integer
    constraint chat_messages_latency_is_0_to_1_hour check (latency_ms between 0 and 3600000),
  add column refusal text
    constraint chat_messages_refusal_known check (refusal in ('no_match', 'weak_evidence', 'empty_kb')),
  add column cited_documents uuid[] generated always as (internal.chat_cited_documents(citations)) stored,
  add constraint chat_messages_measured_are_answers check (role = 'assistant' or (latency_ms, refusal) is null);

comment on column public.chat_messages.latency_ms is
  'Milliseconds from the request to the end of the answer. Empty (NULL) for questions and where it was not measured.';
comment on column public.chat_messages.refusal is
  'Why the question got no answer: no_match, weak_evidence or empty_kb. Empty (NULL) for questions and answers.';
comment on column public.chat_messages.cited_documents is 'Ids of the documents in citations. Worked out from them.';

create index chat_messages_cited_documents_idx on public.chat_messages using gin (cited_documents);

-- Refusals from before: the message after a question that was noted as refused.
update public.chat_messages answer
  set refusal = refused.reason
  from (
    select r.reason, q.session_id, (
        select m.id
          from public.chat_messages m
          where m.session_id = q.session_id and m.created_at > q.created_at
          order by m.created_at
          limit 1
      ) as answer_id
      from public.chat_refusals r
      join public.chat_messages q on q.session_id = r.session_id and q.id = r.id and q.role = 'user'
  ) refused
  where answer.session_id = refused.session_id and answer.id = refused.answer_id
    and answer.role = 'assistant' and answer.refusal is null and answer.citations = '[]';

-- History under audiences -------------------------------------------------

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
          or exists (select from public.chat_messages m where m.cited_documents @> array[d.id])
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

create function internal.chat_may_show(cited_documents uuid[], audiences text[]) returns boolean
  language plpgsql
  stable
  -- Documents that the caller does not see are what it looks for.
  security definer
  set search_path = ''
as $$
begin
  return not exists (
    select from unnest(cited_documents) as cited(id)
      left join public.kb_documents d on d.id = cited.id
      left join internal.kb_restricted_documents gone on gone.id = cited.id
      -- One that is there again under its old id counts as it is.
      where not case when d.id is not null then d.audience else gone.audience end && audiences
  );
end
$$;

comment on function internal.chat_may_show(uuid[], text[]) is
  'Whether none of the documents is, or was when it was deleted, for other audiences only.';
revoke all on function internal.chat_may_show(uuid[], text[]) from public;
grant execute on function internal.chat_may_show(uuid[], text[]) to authenticated, service_role;

drop policy chat_messages_read_own on public.chat_messages;
create policy chat_messages_read_own on public.chat_messages
  for select to authenticated
  using (
    exists (
      select from public.chat_sessions s
      where s.id = chat_messages.session_id and s.user_id = (select auth.uid())
    )
    and (cited_documents = '{}' or internal.chat_may_show(cited_documents, (select internal.kb_audiences())))
  );

comment on policy chat_messages_read_own on public.chat_messages is
  'Users read messages of their own sessions, but no answer that cites a document for other audiences only.';

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
grant execute on function internal.chat_has_message(uuid, uuid) to authenticated, service_role;

drop function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb);

create function public.chat_record_turn(
  session_id uuid,
  title text,
  question_id uuid,
  question text,
  answer_id uuid,
  answer text,
  citations jsonb,
  latency_ms integer default null,
  refusal text default null
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
  -- A conflict here, behind the look above, is an answer with the id of its question: an error, not half a turn.
  insert into public.chat_messages (session_id, id, role, content, citations, latency_ms, refusal)
    values (
      chat_record_turn.session_id, chat_record_turn.answer_id, 'assistant',
      chat_record_turn.answer, chat_record_turn.citations, chat_record_turn.latency_ms, chat_record_turn.refusal
    );
end
$$;

comment on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, integer, text) is
  'Writes a question and its answer in one transaction. With a title, the session is created if it is not there; '
  'without one it must be. A repetition changes nothing. If the session is not the caller''s it fails and writes '
  'nothing. latency_ms: how long the answer took; refusal: the reason if it is none.';

revoke all on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, integer, text)
  from public, anon;
grant execute on function public.chat_record_turn(uuid, text, uuid, text, uuid, text, jsonb, integer, text)
  to authenticated, service_role;
