-- Documents and their original files, as users and the Worker reach them. Files are in the private storage bucket "kb". Only the
-- service role, which policies do not bind, writes there.

create function internal.kb_opens_file(path text) returns boolean
  language plpgsql
  stable
  -- As evidence_chat: users do not read kb_documents.
  security definer
  set search_path = ''
as $$
declare
  -- What Storage does for the user. Its names are in src/http/routes/operations.ts of supabase/storage.
  operation constant text := regexp_replace(coalesce(current_setting('storage.operation', true), ''), '^storage\.', '');
begin
  return case internal.chat_link_mode()
      when 'public' then operation in (
        'object.get_authenticated', 'object.get_authenticated_info', 'object.head_authenticated_info',
        'object.sign', 'object.sign_many'
      )
      -- A signed link works for everybody, whatever becomes of the document and its audience.
      when 'authenticated' then operation in (
        'object.get_authenticated', 'object.get_authenticated_info', 'object.head_authenticated_info'
      )
      else false
    end
    -- The path must be the same to the letter.
    and exists (
      select from public.kb_documents d where d.storage_path = path and d.status = 'ready' and d.enabled
    );
end
$$;

comment on function internal.kb_opens_file(text) is
  'Whether the caller may do with a file of the bucket kb what Storage is asked for: chat_settings.link_mode allows it, and '
  'it is the file of a document that the caller sees.';

revoke all on function internal.kb_opens_file(text) from public;
grant execute on function internal.kb_opens_file(text) to authenticated;
alter function internal.kb_opens_file(text) owner to evidence_chat;

-- A plain Postgres has no storage.
do $$
begin
  if to_regclass('storage.objects') is null then
    return;
  end if;

  insert into storage.buckets (id, name, public) values ('kb', 'kb', false) on conflict do nothing;

  create policy kb_files_read_visible on storage.objects
    for select to authenticated
    using (bucket_id = 'kb' and internal.kb_opens_file(name));
end
$$;

-- For the Worker ----------------------------------------------------------

create function internal.chat_documents(ids uuid[]) returns table (id uuid, name text, storage_path text)
  language plpgsql
  stable
  security definer
  set search_path = ''
as $$
#variable_conflict use_column
begin
  if cardinality(ids) > 500 then
    raise exception 'ids must be at most 500, got %', cardinality(ids) using errcode = 'invalid_parameter_value';
  end if;
  return query
    select d.id, d.name, case when internal.chat_link_mode() <> 'none' then d.storage_path end
      from public.kb_documents d
      where d.id = any (ids) and d.status = 'ready' and d.enabled;
end
$$;

comment on function internal.chat_documents(uuid[]) is 'What public.chat_documents does, bound by the policies.';

revoke all on function internal.chat_documents(uuid[]) from public;
grant execute on function internal.chat_documents(uuid[]) to authenticated;
alter function internal.chat_documents(uuid[]) owner to evidence_chat;

create function public.chat_documents(ids uuid[]) returns table (id uuid, name text, storage_path text)
  language sql
  stable
  security invoker
  set search_path = ''
as $$
  select d.id, d.name, d.storage_path from internal.chat_documents(ids) d
$$;

comment on function public.chat_documents(uuid[]) is
  'Those of at most 500 documents that the calling user sees. storage_path: where the original file is in the bucket kb, if there '
  'is one and chat_settings.link_mode lets users open it.';

revoke all on function public.chat_documents(uuid[]) from public, anon, service_role;
grant execute on function public.chat_documents(uuid[]) to authenticated;

create function internal.chat_has_documents() returns boolean
  language plpgsql
  stable
  security definer
  set search_path = ''
as $$
begin
  return exists (select from public.kb_documents d where d.status = 'ready' and d.enabled);
end
$$;

comment on function internal.chat_has_documents() is 'What public.chat_has_documents does, bound by the policies.';

revoke all on function internal.chat_has_documents() from public;
grant execute on function internal.chat_has_documents() to authenticated;
alter function internal.chat_has_documents() owner to evidence_chat;

create function public.chat_has_documents() returns boolean
  language sql
  stable
  security invoker
  set search_path = ''
as $$
  select internal.chat_has_documents()
$$;

comment on function public.chat_has_documents() is 'Whether there is any document that the calling user can find.';

revoke all on function public.chat_has_documents() from public, anon, service_role;
grant execute on function public.chat_has_documents() to authenticated;
