-- Questions that got no answer, and what is asked again and again without one.

create table public.chat_refusals (
  -- From the client. For one user it tells a repetition from a new question; across users it means nothing, and nobody can take
  -- an id away from another user or learn that it is taken.
  id uuid not null default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  session_id uuid references public.chat_sessions (id) on delete set null,
  question text not null
    constraint chat_refusals_question_length check (char_length(question) <= 4000)
    constraint chat_refusals_question_not_empty check (question ~ '\S'),
  embedding extensions.vector(384) not null
    constraint chat_refusals_embedding_is_unit check (abs(extensions.vector_norm(embedding) - 1) <= 0.01),
  best_score double precision
    constraint chat_refusals_best_score_is_cosine check (best_score between -1 and 1),
  reason text not null
    constraint chat_refusals_reason_known
      check (reason in ('no_match', 'weak_evidence', 'unreadable_language', 'empty_kb')),
  group_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (user_id, id)
);

comment on table public.chat_refusals is
  'One refused question each. It outlives its session: what the knowledge base lacks stays to be seen.';
comment on column public.chat_refusals.id is
  'The question''s message id, so that a second attempt writes no second row. Unique for its user only.';
comment on column public.chat_refusals.user_id is 'Who asked.';
comment on column public.chat_refusals.session_id is 'Where it was asked; empty (NULL) when that session is gone.';
comment on column public.chat_refusals.question is 'The question, as it was asked.';
comment on column public.chat_refusals.embedding is 'The question''s vector, of unit length.';
comment on column public.chat_refusals.best_score is 'Cosine of the nearest passage; null if there was none.';
comment on column public.chat_refusals.reason is
  'no_match: no passage is near enough. weak_evidence: some are, but are not likely to answer. unreadable_language: the model '
  'cannot read the question''s script, and its words find too little. empty_kb: there is no document.';
comment on column public.chat_refusals.group_id is
  'Shared by similar questions. Set by a trigger, whatever is written here, and hidden from users, to whom it would tell '
  'whether others asked the same.';
comment on column public.chat_refusals.created_at is 'Set by a trigger, whatever is written here.';

create index chat_refusals_embedding_hnsw
  on public.chat_refusals using hnsw (embedding extensions.vector_cosine_ops);
create index chat_refusals_user_idx on public.chat_refusals (user_id, created_at desc);
create index chat_refusals_session_idx on public.chat_refusals (session_id);

revoke all on public.chat_refusals from public, anon, authenticated;
grant select (id, user_id, session_id, question, embedding, best_score, reason, created_at)
  on public.chat_refusals to authenticated;
grant insert on public.chat_refusals to authenticated;
grant all on public.chat_refusals to service_role;
alter table public.chat_refusals enable row level security;

create policy chat_refusals_read_own on public.chat_refusals
  for select to authenticated
  using (user_id = (select auth.uid()));

create policy chat_refusals_insert_own on public.chat_refusals
  for insert to authenticated
  with check (
    user_id = (select auth.uid())
    and (session_id is null or exists (
      select from public.chat_sessions s
      where s.id = chat_refusals.session_id and s.user_id = (select auth.uid())
    ))
  );

comment on policy chat_refusals_read_own on public.chat_refusals is 'Users read their own refused questions.';
comment on policy chat_refusals_insert_own on public.chat_refusals is
  'Users add refused questions of their own, in no session or in one of theirs.';

-- Grouping ----------------------------------------------------------------

create function internal.group_chat_refusal() returns trigger
  language plpgsql
  -- Groups span users, who do not see each other's rows.
  security definer
  set search_path = ''
as $$
declare
  -- Cosine 0.8: the same question in other words.
  max_distance constant double precision := 0.2;
begin
  -- Only this exact shape, ORDER BY distance LIMIT n, can use the vector index, so the condition waits outside.
  select nearest.group_id
    into new.group_id
    from (
      select r.group_id, r.embedding operator(extensions.<=>) new.embedding as distance
      from public.chat_refusals r
      order by r.embedding operator(extensions.<=>) new.embedding
      limit 1
    ) nearest
    where nearest.distance <= max_distance;
  -- Not the question's own id, which another user may have chosen for another question.
  new.group_id := coalesce(new.group_id, gen_random_uuid());
  new.created_at := now();
  return new;
end
$$;

comment on function internal.group_chat_refusal() is
  'Trigger: puts a refused question into the group of the nearest earlier one if their cosine is at least 0.8, else '
  'into a group of its own. Of two first questions at the same time, each may open a group.';

revoke all on function internal.group_chat_refusal() from public;

create trigger chat_refusals_group
  before insert on public.chat_refusals
  for each row execute function internal.group_chat_refusal();

-- For the administrator ---------------------------------------------------

create view public.content_gaps
  with (security_invoker = true)
as
with ranked as (
  select
    r.*,
    row_number() over (
      partition by r.group_id
      order by r.embedding operator(extensions.<=>) middle.embedding, r.created_at desc, r.id
    ) as distance_rank
  from public.chat_refusals r
  join (
    select group_id, extensions.avg(embedding) as embedding
    from public.chat_refusals
    group by group_id
  ) middle using (group_id)
)
select
  group_id,
  min(question) filter (where distance_rank = 1) as question,
  count(*) as questions,
  count(distinct user_id) as users,
  max(best_score) as best_score,
  array_agg(distinct reason order by reason) as reasons,
  min(created_at) as first_asked,
  max(created_at) as last_asked
from ranked
group by group_id
order by questions desc, last_asked desc;

comment on view public.content_gaps is
  'What is asked and not answered: one row for each group of similar questions, most asked first.';
comment on column public.content_gaps.group_id is 'Id of the group of similar questions.';
comment on column public.content_gaps.question is 'The question nearest to the middle of its group.';
comment on column public.content_gaps.questions is 'How often it was asked.';
comment on column public.content_gaps.users is 'By how many users.';
comment on column public.content_gaps.best_score is 'Highest cosine of any passage to any of the questions.';
comment on column public.content_gaps.reasons is 'Why they were refused.';
comment on column public.content_gaps.first_asked is 'When it was first asked.';
comment on column public.content_gaps.last_asked is 'When it was last asked.';

revoke all on public.content_gaps from public, anon, authenticated;
grant select on public.content_gaps to service_role;
