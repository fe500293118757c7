-- One kb sync at a time for each collection.

create table public.kb_syncs (
  collection text primary key
    constraint kb_syncs_collection_is_a_first_part_of_sources check (collection ~ '\S' and collection !~ '/'),
  run_id uuid not null,
  started_at timestamptz not null default now(),
  renewed_at timestamptz not null default now(),
  finished_at timestamptz,
  host text,
  summary jsonb
    constraint kb_syncs_summary_is_object check (jsonb_typeof(summary) = 'object')
);

comment on table public.kb_syncs is
  'The last run of kb sync for each collection. A run that goes on renews its row; one that has not for a minute is dead.';
comment on column public.kb_syncs.collection is 'The collection, as in kb_documents.collection.';
comment on column public.kb_syncs.run_id is 'The run that holds the collection, or held it last.';
comment on column public.kb_syncs.started_at is 'When the run began.';
comment on column public.kb_syncs.renewed_at is 'When the run last said that it goes on.';
comment on column public.kb_syncs.finished_at is
  'When the run ended. Empty (NULL) while it goes on, or if it was cut off.';
comment on column public.kb_syncs.host is 'The computer it runs on.';
comment on column public.kb_syncs.summary is
  'How many documents were added, changed, moved, removed, unchanged, skipped and failed, and how many chunks and sentences '
  'were written and chunks reembedded, by these names; {} if the run ended with an error. Empty (NULL) before its end.';

revoke all on public.kb_syncs from public, anon, authenticated;
grant all on public.kb_syncs to service_role;
alter table public.kb_syncs enable row level security;

create function public.kb_begin_sync(collection text, run_id uuid, host text default null) returns jsonb
  language plpgsql
  security invoker
  set search_path = ''
as $$
#variable_conflict use_column
declare
  lease constant interval := interval '60 seconds';
  -- Not the transaction's: it may have waited for another one.
  moment timestamptz;
  holder public.kb_syncs;
begin
  insert into public.kb_syncs (collection, run_id, host)
    values (kb_begin_sync.collection, kb_begin_sync.run_id, kb_begin_sync.host)
    on conflict (collection) do nothing;
  select * into holder from public.kb_syncs s where s.collection = kb_begin_sync.collection for update;
  moment := clock_timestamp();
  if holder.run_id = kb_begin_sync.run_id or holder.finished_at is not null or holder.renewed_at < moment - lease then
    update public.kb_syncs s
      set run_id = kb_begin_sync.run_id,
          host = kb_begin_sync.host,
          started_at = case
            when holder.run_id = kb_begin_sync.run_id and holder.finished_at is null then s.started_at
            else moment
          end,
          renewed_at = moment,
          finished_at = null,
          summary = null
      where s.collection = kb_begin_sync.collection
      returning * into holder;
  end if;
  return jsonb_build_object(
    -- Null if somebody deleted the row this very moment.
    'acquired', coalesce(holder.run_id = kb_begin_sync.run_id, false),
    'run_id', holder.run_id,
    'host', holder.host,
    'started_at', holder.started_at,
    'renewed_at', holder.renewed_at
  );
end
$$;

comment on function public.kb_begin_sync(text, uuid, text) is
  'Takes a collection for a run, unless another one holds it that has renewed it within 60 seconds. Returns {acquired, '
  'run_id, host, started_at, renewed_at} of whoever holds it now. The same run may begin again.';

create function public.kb_renew_sync(collection text, run_id uuid) returns boolean
  language plpgsql
  security invoker
  set search_path = ''
as $$
#variable_conflict use_column
begin
  update public.kb_syncs s
    set renewed_at = clock_timestamp()
    where s.collection = kb_renew_sync.collection and s.run_id = kb_renew_sync.run_id and s.finished_at is null;
  return found;
end
$$;

comment on function public.kb_renew_sync(text, uuid) is
  'Says that a run goes on. False: another run has taken the collection, and this one must stop.';

create function public.kb_end_sync(collection text, run_id uuid, summary jsonb default null) returns boolean
  language plpgsql
  security invoker
  set search_path = ''
as $$
#variable_conflict use_column
begin
  update public.kb_syncs s
    set finished_at = clock_timestamp(), renewed_at = clock_timestamp(), summary = kb_end_sync.summary
    where s.collection = kb_end_sync.collection and s.run_id = kb_end_sync.run_id and s.finished_at is null;
  return found;
end
$$;

comment on function public.kb_end_sync(text, uuid, jsonb) is
  'Gives a collection free, with what the run did. False: another run has taken it meanwhile.';

revoke all on function public.kb_begin_sync(text, uuid, text) from public, anon, authenticated;
revoke all on function public.kb_renew_sync(text, uuid) from public, anon, authenticated;
revoke all on function public.kb_end_sync(text, uuid, jsonb) from public, anon, authenticated;
grant execute on function public.kb_begin_sync(text, uuid, text) to service_role;
grant execute on function public.kb_renew_sync(text, uuid) to service_role;
grant execute on function public.kb_end_sync(text, uuid, jsonb) to service_role;
