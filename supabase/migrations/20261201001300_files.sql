-- Access of users and the Worker to documents and their original files. Files are in the private storage bucket "kb". Only the
-- service role, which bypasses policies, writes there.

create function internal.kb_can_open_file(path text) returns boolean
  language plpgsql stable
  -- As evidence_chat, because users may not read kb_documents.
  security definer set search_path = ''
as $$
declare
  document record;
  -- The operation that Storage performs. The names are in src/http/routes/operations.ts of supabase/storage.
  operation constant text := regexp_replace(coalesce(current_setting('storage.operation', true), ''), '^storage\.', '');
begin
  -- The paths must be identical.
  select d.collection into document
    from public.kb_documents d
    where d.storage_path = path and d.status = 'ready' and d.enabled;
  if not found then
    return false;
  end if;
  return case internal.chat_link_mode(document.collection)
      when 'public' then operation in (
        'object.get_authenticated', 'object.get_authenticated_info', 'object.head_authenticated_info',
        'object.sign', 'object.sign_many'
      )
      -- No signing: a signed link works for everybody, even after the document or its audience has changed.
      when 'authenticated' then operation in (
        'object.get_authenticated', 'object.get_authenticated_info', 'object.head_authenticated_info'
      )
      else false
    end;
end
$$;

comment on function internal.kb_can_open_file is
  'Whether the caller may perform the current Storage operation on a file of the bucket kb: it '
  'belongs to a document that the caller can see, and assistants.link_mode allows it.';

grant execute on function internal.kb_can_open_file to authenticated;
alter function internal.kb_can_open_file owner to evidence_chat;

-- Plain Postgres has no schema storage.
do $$
begin
  if to_regclass('storage.objects') is null then
    return;
  end if;

  insert into storage.buckets (id, name, public) values ('kb', 'kb', false) on conflict do nothing;

  create policy kb_files_read_visible on storage.objects
    for select to authenticated
    using (bucket_id = 'kb' and internal.kb_can_open_file(name));
end
$$;

-- For the Worker ----------------------------------------------------------

create function internal.chat_documents(ids uuid[])
  returns table (id uuid, name text, storage_path text, link_mode text)
  language plpgsql stable security definer set search_path = ''
as $$
#variable_conflict use_column
begin
  perform internal.limit_concurrency();
  if cardinality(ids) > 500 then
    raise exception 'ids must be at most 500, got %', cardinality(ids) using errcode = 'invalid_parameter_value';
  end if;
  return query
    with mode as materialized (
      -- Once for each collection.
      select c.collection, internal.chat_link_mode(c.collection) as link_mode
        from (select distinct d.collection from public.kb_documents d where d.id = any (ids)) c
    )
    select d.id, d.name, case when m.link_mode <> 'none' then d.storage_path end, m.link_mode
      from public.kb_documents d
      join mode m on m.collection = d.collection
      where d.id = any (ids) and d.status = 'ready' and d.enabled;
end
$$;

call internal.create_api_function(
  'chat_documents', 'authenticated',
  'The documents among these ids (at most 500) that the calling user can see. storage_path: path '
  'of the original file in the bucket kb, if there is one and link_mode lets users open it. '
  'link_mode: the strictest of the enabled assistants that search the document; none if the caller '
  'may use none of them.',
  runs_as => 'evidence_chat'
);

create function internal.chat_has_documents(assistant text default 'default') returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
declare
  collections constant text[] :=
    (internal.chat_assistant(chat_has_documents.assistant, internal.kb_caller_audiences())).collections;
begin
  perform internal.limit_concurrency();
  return case
    when exists (
      select from public.kb_documents d
        where d.status = 'ready' and d.enabled and (collections is null or d.collection = any (collections))
    ) then true
    -- It sees the documents of all.
    when public.chat_config(chat_has_documents.assistant) ->> 'model' is not null then false
  end;
end
$$;

call internal.create_api_function(
  'chat_has_documents', 'authenticated',
  'Whether there is any document that the calling user can see in the collections of the '
  'assistant; NULL if the knowledge base is empty.',
  runs_as => 'evidence_chat'
);
