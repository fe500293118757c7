-- Extensions, the schema for helpers, and functions that several of the following files use.

create schema if not exists extensions;
create extension if not exists vector with schema extensions;
grant usage on schema extensions to authenticated, service_role;

-- Functions that need more rights than their caller run as this role. It owns no table and row level security applies to it, so
-- such a function shows users no more than the policies let them see. It cannot log in.
do $$ begin
  -- Roles belong to the server, so another database may have created it.
  if not exists (select from pg_catalog.pg_roles where rolname = 'evidence_chat') then
    create role evidence_chat nologin;
  end if;
end $$;
-- Needed to make it the owner of functions.
grant evidence_chat to current_user;
grant usage on schema extensions to evidence_chat;

-- Helpers and trigger functions. PostgREST exposes only `public`, so the API does not reach this schema, whatever
-- privileges a role has in it.
create schema internal;
comment on schema internal is
  'Helpers of the functions in public. Not part of the API: never add it to the exposed schemas.';
grant usage on schema internal to authenticated, service_role;
grant usage, create on schema internal to evidence_chat;

-- Functions of the API ----------------------------------------------------

-- A function of the API that needs other rights than its caller's is in internal, because no
-- function in public may be security definer. This creates its counterpart in public.
create procedure internal.create_api_function(
  name text,
  callers text,
  description text,
  runs_as text default current_user
)
  language plpgsql set search_path = ''
as $$
declare
  target pg_catalog.pg_proc;
begin
  select * into strict target
    from pg_catalog.pg_proc p
    where p.pronamespace = 'internal'::regnamespace and p.proname = create_api_function.name;
  execute format(
    'create function public.%1$I(%2$s) returns %3$s
       language sql %4$s security invoker set search_path = ''''
     as $sql$ select * from internal.%1$I(%5$s) $sql$',
    name,
    pg_get_function_arguments(target.oid),
    pg_get_function_result(target.oid),
    case target.provolatile when 's' then 'stable' else 'volatile' end,
    (select string_agg('$' || n, ', ') from generate_series(1, target.pronargs) as n)
  );
  execute format(
    'comment on function internal.%1$I is %2$L', name, format('What public.%s does.', name)
  );
  execute format('comment on function public.%I is %L', name, description);
  -- Supabase lets each role of the API execute a new function in public.
  execute format(
    'revoke all on function public.%I from public, anon, authenticated, service_role', name
  );
  execute format('grant execute on function public.%1$I, internal.%1$I to %2$s', name, callers);
  execute format('alter function internal.%I owner to %I', name, runs_as);
end
$$;

comment on procedure internal.create_api_function is
  'Creates public.name, which passes its arguments to internal.name, and lets only these callers '
  'execute both. runs_as: owner of the security definer function internal.name.';

-- updated_at --------------------------------------------------------------

create function internal.set_updated_at() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.updated_at := now();
  return new;
end
$$;

comment on function internal.set_updated_at is
  'Trigger: sets updated_at on every update of the row.';

-- Locks -------------------------------------------------------------------

-- To avoid deadlocks, all writers take locks in one order: first this advisory lock, then documents, then chunks, then embeddings
-- and sentences. A writer that changes or deletes documents, chunks or embeddings takes the advisory lock before it locks a row.
-- A writer that only adds chunks to a document that nobody sees yet skips it and locks the document FOR SHARE.
--
-- This costs no concurrency: publishing, hiding and editing change kb_lexemes, which only one transaction at a time can do, under
-- the same lock.
create function internal.kb_lock() returns void
  language sql set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('kb_lexemes', 0))
$$;

comment on function internal.kb_lock is
  'Waits until no other transaction changes documents or chunks, and blocks others until this one '
  'ends.';

grant execute on function internal.kb_lock to service_role;

create function internal.kb_lock_before_write() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  perform internal.kb_lock();
  return null;
end
$$;

comment on function internal.kb_lock_before_write is
  'Trigger: takes the lock before the statement locks a row.';
