-- The state of a hosted Supabase project before the first migration, as far as the migrations and their tests need it. Run by a
-- superuser; the migrations then run as `project_owner`, which is not one.
do $$ begin
  -- Roles belong to the server, so another database may have created them.
  if not exists (select from pg_roles where rolname = 'project_owner') then
    create role anon nologin;
    create role authenticated nologin;
    create role service_role nologin bypassrls;
    -- May set these roles, like PostgREST's role, and create roles, like the owner of a hosted project.
    create role project_owner login createrole in role anon, authenticated, service_role;
  end if;
  execute format('grant create on database %I to project_owner', current_database());
end $$;

create schema extensions authorization project_owner;
create extension vector with schema extensions;
grant create on schema public to project_owner;
grant usage on schema public to anon, authenticated, service_role;
alter default privileges for role project_owner in schema public
  grant all on tables to anon, authenticated, service_role;
alter default privileges for role project_owner in schema public
  grant all on sequences to anon, authenticated, service_role;
alter default privileges for role project_owner in schema public
  grant all on functions to anon, authenticated, service_role;

create schema auth;
create table auth.users (
  id uuid primary key default gen_random_uuid(),
  email text unique,
  raw_user_meta_data jsonb,
  is_anonymous boolean not null default false,
  last_sign_in_at timestamptz,
  created_at timestamptz default now()
);
create function auth.uid() returns uuid language sql stable
  as $$ select (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid $$;
grant usage on schema auth to anon, authenticated, service_role, project_owner;
grant select, insert, delete, references on auth.users to project_owner;

create schema storage authorization project_owner;
set role project_owner;
create table storage.buckets (id text primary key, name text not null, public boolean default false);
create table storage.objects (
  id uuid primary key default gen_random_uuid(),
  bucket_id text references storage.buckets (id),
  name text,
  metadata jsonb,
  unique (bucket_id, name)
);
alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;
grant usage on schema storage to anon, authenticated, service_role;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role;

create schema supabase_migrations;
create table supabase_migrations.schema_migrations (version text primary key, statements text[], name text);
