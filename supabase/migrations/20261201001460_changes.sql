-- The audit trail: who changed settings, assistants, and the visibility of documents, and when. No role of the API can write or
-- delete its rows.

create table internal.chat_changes (
  id bigint generated always as identity primary key,
  changed_at timestamptz not null default clock_timestamp(),
  changed_by text not null,
  relation text not null
    constraint chat_changes_relation_valid check (relation in ('assistants', 'chat_settings', 'kb_documents')),
  name text not null,
  operation text not null
    constraint chat_changes_operation_valid check (operation in ('insert', 'update', 'delete')),
  column_name text
    constraint chat_changes_column_name_only_of_updates check ((operation = 'update') = (column_name is not null)),
  old_value jsonb,
  new_value jsonb
);

comment on table internal.chat_changes is
  'Changes of assistants and chat_settings, and of enabled and audience of documents, one row for each column; added and deleted '
  'assistants, and deleted documents.';
comment on column internal.chat_changes.changed_by is
  'user:<id> for a signed-in user, key:<role> for an API key, database:<role> for a connection to the database, such as the '
  'dashboard.';
comment on column internal.chat_changes.name is 'Name of the assistant, source of the document, or "settings".';
comment on column internal.chat_changes.old_value is 'Value before an update; not that of alert_url, which may be a secret.';
comment on column internal.chat_changes.new_value is 'Value after an update; not that of alert_url.';

create index chat_changes_time_idx on internal.chat_changes (changed_at);

create function internal.chat_changed_by() returns text
  language plpgsql stable set search_path = ''
as $$
declare
  claims jsonb;
begin
  begin
    claims := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  exception when data_exception then
    null;
  end;
  return case
    when claims ->> 'sub' is not null then 'user:' || (claims ->> 'sub')
    when claims ->> 'role' is not null then 'key:' || (claims ->> 'role')
    else 'database:' || session_user
  end;
end
$$;

comment on function internal.chat_changed_by is
  'Who runs the statement, as in chat_changes.changed_by.';

create function internal.chat_record_change() returns trigger
  language plpgsql
  -- No role may write to chat_changes.
  security definer set search_path = ''
as $$
declare
  old_row constant jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) else '{}' end;
  new_row constant jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) else '{}' end;
  any_row constant jsonb := old_row || new_row;
  -- The old name of a renamed assistant, as in the rows before.
  name constant text := coalesce(old_row ->> 'source', any_row ->> 'source', old_row ->> 'name', any_row ->> 'name', 'settings');
begin
  if tg_op <> 'UPDATE' then
    insert into internal.chat_changes (changed_by, relation, name, operation)
      values (internal.chat_changed_by(), tg_table_name, name, lower(tg_op));
    return null;
  end if;
  insert into internal.chat_changes (changed_by, relation, name, operation, column_name, old_value, new_value)
    select
        internal.chat_changed_by(), tg_table_name, name, 'update', c.key,
        case when c.key <> 'alert_url' then old_row -> c.key end,
        case when c.key <> 'alert_url' then c.value end
      from jsonb_each(new_row) c
      where c.value is distinct from old_row -> c.key
        and c.key <> 'updated_at'
        -- kb sync changes everything else.
        and (tg_table_name <> 'kb_documents' or c.key in ('enabled', 'audience'))
      order by c.key;
  return null;
end
$$;

comment on function internal.chat_record_change is 'Trigger: records a change in chat_changes.';

create trigger assistants_record_change
  after insert or update or delete on public.assistants
  for each row execute function internal.chat_record_change();

create trigger chat_settings_record_change
  after insert or update or delete on public.chat_settings
  for each row execute function internal.chat_record_change();

create trigger kb_documents_record_change
  after update of enabled, audience on public.kb_documents
  for each row
  when ((old.enabled, old.audience) is distinct from (new.enabled, new.audience))
  execute function internal.chat_record_change();

-- Each new version is a pending row, deleted when it is published.
create trigger kb_documents_record_delete
  after delete on public.kb_documents
  for each row
  when (old.status = 'ready')
  execute function internal.chat_record_change();

create function internal.chat_purge_changes() returns void
  language sql set search_path = ''
as $$
  delete from internal.chat_changes c where c.changed_at < now() - interval '400 days'
$$;

comment on function internal.chat_purge_changes is 'Deletes changes that are older than 400 days.';

create function internal.chat_insights_changes(max_count integer default 50, before_id bigint default null) returns setof internal.chat_changes
  language plpgsql stable
  -- No role may read chat_changes.
  security definer set search_path = ''
as $$
begin
  perform internal.chat_require_administrator();
  return query
    select c.*
      from internal.chat_changes c
      where chat_insights_changes.before_id is null or c.id < chat_insights_changes.before_id
      order by c.id desc
      limit least(greatest(chat_insights_changes.max_count, 0), 100);
end
$$;

call internal.create_api_function(
  'chat_insights_changes', 'authenticated, service_role',
  'The audit trail, newest first: changes of settings, assistants, and enabled and audience of '
  'documents, and deleted documents. At most max_count, and 100. before_id: the last id of the '
  'page before. changed_by: user:<id>, key:<role> or database:<role>. Values of alert_url are left '
  'out. For administrators.'
);
