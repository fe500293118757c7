-- What administrators may change: assistants, and some of chat_settings. They have no rights on the tables; these functions are the
-- only way, list the columns, and check that nobody else has changed the row since the administrator read it. Who is an
-- administrator, who sees documents, where alerts are sent, and what is logged stays with the owner.

create function internal.chat_check_unchanged(updated_at timestamptz, expected_updated_at timestamptz) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  if updated_at is distinct from expected_updated_at then
    raise exception 'Somebody else has changed this since you read it.'
      -- PostgREST turns this code into status 409.
      using errcode = 'PT409', hint = 'Read it again, and decide whether your changes are still right.';
  end if;
end
$$;

comment on function internal.chat_check_unchanged(timestamptz, timestamptz) is
  'Fails with PT409 if a row has another updated_at than its reader knows.';

create function internal.chat_reject_values(problems jsonb) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  if problems <> '{}' then
    raise exception 'Some values are not allowed: %', (select string_agg(p.value, '; ' order by p.key) from jsonb_each_text(problems) p)
      -- PostgREST turns this code into status 422.
      using errcode = 'PT422', detail = problems::text;
  end if;
end
$$;

comment on function internal.chat_reject_values(jsonb) is
  'Fails with PT422 if there are problems: an object from columns to sentences, which is the detail of the error.';

create function internal.chat_write_columns(target regclass, key_column text, key text, editable text[], changes jsonb) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  change record;
  constraint_name text;
  problems jsonb := '{}';
begin
  if jsonb_typeof(changes) is distinct from 'object' then
    raise exception 'changes must be an object' using errcode = 'invalid_parameter_value';
  end if;
  for change in select c.key as name, c.value from jsonb_each(changes) c order by c.key loop
    if change.name <> all (editable) then
      problems := problems || jsonb_build_object(change.name, format('%s cannot be changed here', change.name));
      continue;
    end if;
    -- One column at a time, so that an error is about this column.
    begin
      execute format(
        'update %1$s set %2$I = (jsonb_populate_record(null::%1$s, $1)).%2$I where %3$I::text = $2', target, change.name, key_column
      ) using jsonb_build_object(change.name, change.value), key;
    exception
      when not_null_violation then
        problems := problems || jsonb_build_object(change.name, format('%s must have a value', change.name));
      when check_violation then
        -- The names of the constraints are sentences, such as assistants_title_is_1_to_100_characters.
        get stacked diagnostics constraint_name = constraint_name;
        problems := problems || jsonb_build_object(
          change.name, replace(regexp_replace(constraint_name, '^(assistants|chat_settings)_', ''), '_', ' ')
        );
      when data_exception then
        problems := problems || jsonb_build_object(change.name, format('%s: %s', change.name, sqlerrm));
    end;
  end loop;
  perform internal.chat_reject_values(problems);
end
$$;

comment on function internal.chat_write_columns(regclass, text, text, text[], jsonb) is
  'Writes columns of one row, from a JSON object of names and values. Fails with PT422 and writes nothing if a column is not editable '
  'or a value is not allowed.';

-- Reading -----------------------------------------------------------------

create function internal.chat_read_settings() returns jsonb
  language plpgsql
  stable
  -- Users may not read the tables.
  security definer
  set search_path = ''
as $$
begin
  perform internal.chat_require_administrator();
  return jsonb_build_object(
    'settings', (
      select jsonb_build_object(
          'keep_refusals', s.keep_refusals,
          'gap_users', s.gap_users,
          'retention_days', s.retention_days,
          'anonymous_retention_days', s.anonymous_retention_days,
          'alert_answered_share', s.alert_answered_share,
          'alert_cited_share', s.alert_cited_share,
          -- Not the address, which can contain a secret.
          'has_alert_url', s.alert_url is not null,
          'updated_at', s.updated_at
        )
        from public.chat_settings s
    ),
    'assistants', (
      select coalesce(jsonb_agg(
            to_jsonb(a) || jsonb_build_object(
              'has_conversations',
              exists (select from public.chat_sessions s where s.assistant = a.name)
                or exists (select from public.chat_refusals r where r.assistant = a.name)
            )
            order by a.name <> 'default', a.name
          ), '[]')
        from public.assistants a
    )
  );
end
$$;

call internal.create_api_function(
  'chat_read_settings', 'authenticated, service_role',
  'The settings that administrators may change, {settings, assistants}: columns of chat_settings, '
  'with has_alert_url instead of the address; all columns of each assistant, with '
  'has_conversations. For administrators.'
);

-- Settings for all assistants ---------------------------------------------

create function internal.chat_update_settings(changes jsonb, expected_updated_at timestamptz) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  old_row public.chat_settings;
  new_row public.chat_settings;
  modes constant text[] := '{off,anonymous,full}';
  problems jsonb := '{}';
begin
  perform internal.chat_require_administrator();
  select * into old_row from public.chat_settings s for update;
  if not found then
    raise exception 'The table chat_settings has no row.'
      using errcode = 'PT404', hint = 'Ask the owner of the project to run: insert into chat_settings default values';
  end if;
  perform internal.chat_check_unchanged(old_row.updated_at, expected_updated_at);
  perform internal.chat_write_columns(
    'public.chat_settings', 'id', 'true',
    '{keep_refusals,gap_users,retention_days,anonymous_retention_days,alert_answered_share,alert_cited_share}', changes
  );
  select * into new_row from public.chat_settings s;
  -- What limits administrators and protects visitors: administrators may only make it stricter, so that they cannot raise their own
  -- power.
  if array_position(modes, new_row.keep_refusals) > array_position(modes, old_row.keep_refusals) then
    problems := problems || '{"keep_refusals": "only the owner may keep more of refused questions"}';
  end if;
  if new_row.gap_users < old_row.gap_users then
    problems := problems || '{"gap_users": "only the owner may show questions of fewer users"}';
  end if;
  -- Empty means never.
  if coalesce(new_row.retention_days, 'infinity'::float8) > coalesce(old_row.retention_days, 'infinity'::float8) then
    problems := problems || '{"retention_days": "only the owner may keep conversations longer"}';
  end if;
  if coalesce(new_row.anonymous_retention_days, 'infinity'::float8) > coalesce(old_row.anonymous_retention_days, 'infinity'::float8) then
    problems := problems || '{"anonymous_retention_days": "only the owner may keep anonymous users longer"}';
  end if;
  perform internal.chat_reject_values(problems);
end
$$;

call internal.create_api_function(
  'chat_update_settings', 'authenticated, service_role',
  'Changes columns of chat_settings: keep_refusals, gap_users, retention_days and '
  'anonymous_retention_days, which may only become stricter, alert_answered_share and '
  'alert_cited_share. Writes all changes or none. expected_updated_at: that of the row as it was '
  'read. Fails with PT409 if somebody else has changed it since, with PT422 if a value is not '
  'allowed; the detail of the error is then an object from columns to sentences. For '
  'administrators.'
);

-- Assistants --------------------------------------------------------------

create function internal.chat_write_assistant(assistant text, changes jsonb) returns void
  language sql
  set search_path = ''
as $$
  select internal.chat_write_columns(
    'public.assistants', 'name', assistant,
    '{enabled,title,collections,audience,allowed_origins,evidence_threshold,evidence_confidence,match_count,link_mode,citations,'
      'answer_mode,refusal_message,refusal_suggestions,support_url,greeting,suggested_questions}',
    changes
  )
$$;

comment on function internal.chat_write_assistant(text, jsonb) is
  'Writes columns of an assistant: all but its name, which pages and conversations refer to.';

create function internal.chat_locked_assistant(assistant text, expected_updated_at timestamptz) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  updated_at timestamptz;
begin
  select a.updated_at into updated_at from public.assistants a where a.name = chat_locked_assistant.assistant for update;
  if not found then
    raise exception 'There is no assistant of this name.' using errcode = 'PT404';
  end if;
  perform internal.chat_check_unchanged(updated_at, expected_updated_at);
end
$$;

comment on function internal.chat_locked_assistant(text, timestamptz) is
  'Locks the row of an assistant. Fails with PT404 if there is none, and with PT409 if it was changed.';

create function internal.chat_update_assistant(assistant text, changes jsonb, expected_updated_at timestamptz) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform internal.chat_require_administrator();
  perform internal.chat_locked_assistant(assistant, expected_updated_at);
  perform internal.chat_write_assistant(assistant, changes);
end
$$;

call internal.create_api_function(
  'chat_update_assistant', 'authenticated, service_role',
  'Changes columns of an assistant, all or none; not its name. expected_updated_at and errors: as '
  'for chat_update_settings; PT404 if there is no such assistant. For administrators.'
);

create function internal.chat_add_assistant(assistant text, changes jsonb default '{}') returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform internal.chat_require_administrator();
  begin
    insert into public.assistants (name) values (chat_add_assistant.assistant);
  exception
    when unique_violation then
      perform internal.chat_reject_values('{"name": "there is an assistant of this name"}');
    when check_violation or not_null_violation then
      perform internal.chat_reject_values('{"name": "name is 1 to 63 lower case letters digits or hyphens"}');
  end;
  perform internal.chat_write_assistant(assistant, changes);
end
$$;

call internal.create_api_function(
  'chat_add_assistant', 'authenticated, service_role',
  'Adds an assistant of this name. changes: columns that differ from their defaults. Fails with '
  'PT422 as chat_update_settings does. For administrators.'
);

create function internal.chat_delete_assistant(assistant text, expected_updated_at timestamptz) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform internal.chat_require_administrator();
  perform internal.chat_locked_assistant(assistant, expected_updated_at);
  if assistant = 'default' then
    perform internal.chat_reject_values('{"name": "the assistant \"default\" answers where a page names none, so it can only be disabled"}');
  end if;
  delete from public.assistants a where a.name = chat_delete_assistant.assistant;
exception when foreign_key_violation then
  perform internal.chat_reject_values('{"name": "an assistant with conversations can only be disabled"}');
end
$$;

call internal.create_api_function(
  'chat_delete_assistant', 'authenticated, service_role',
  'Deletes an assistant and its counts in the insights. Fails with PT422 for the assistant '
  '"default", and for one with conversations or refused questions, which can only be disabled. For '
  'administrators.'
);
