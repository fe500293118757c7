-- What a Supabase project has before the first migration, as far as the migrations need it. Run by a superuser; the
-- migrations then run as `project_owner`, who is none, as on hosted Supabase.
do $$ begin
  -- Roles belong to the server and may be there from another database.
  if not exists (select from pg_roles where rolname = 'project_owner') then
    create role anon nologin;
    create role authenticated nologin;
    create role service_role nologin bypassrls;
    create role project_owner login createrole;
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
  grant all on functions to anon, authenticated, service_role;

create schema auth;
create table auth.users (id uuid primary key);
create function auth.uid() returns uuid language sql stable
  as $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
grant usage on schema auth to public;
grant select, references on auth.users to project_owner;
