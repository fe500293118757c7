-- Ids of questions come from clients. For one user they tell a repetition from a new question; across users they mean
-- nothing, and nobody can take an id away from somebody else or learn that it is taken.
alter table public.chat_refusals
  drop constraint chat_refusals_pkey,
  add constraint chat_refusals_pkey primary key (user_id, id);

comment on column public.chat_refusals.id is
  'The question''s message id, so that a second attempt writes no second row. Unique for its user only.';

create or replace function public.group_chat_refusal() returns trigger
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

comment on column public.chat_refusals.group_id is
  'Shared by similar questions. Set by a trigger, whatever is written here, and hidden from users, to whom it would tell '
  'whether others asked the same.';
