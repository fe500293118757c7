-- Deletion: all data of a user on request, and data that is older than the retention period.

create function internal.chat_delete_user_data() returns void
  language plpgsql
  -- As evidence_chat, with the claims of the caller.
  security definer set search_path = ''
as $$
begin
  -- The policies limit this to the rows of the caller. Hosted projects reject DELETE statements without a WHERE clause. Deleting
  -- the sessions also deletes their messages and most refused questions.
  delete from public.chat_sessions where true;
  delete from public.chat_refusals where true;
end
$$;

call internal.create_api_function(
  'chat_delete_user_data', 'authenticated',
  'Deletes all conversations and refused questions of the calling user. Refused questions that '
  'were kept anonymously stay.',
  runs_as => 'evidence_chat'
);

-- Retention ---------------------------------------------------------------

create table internal.chat_retention (
  id boolean primary key default true
    constraint chat_retention_only_one_row check (id),
  ran_at timestamptz,
  last_user uuid
);

comment on table internal.chat_retention is 'When chat_retain last finished, and how far it got.';
comment on column internal.chat_retention.ran_at is 'When it last left nothing to delete. Empty (NULL): never.';
comment on column internal.chat_retention.last_user is
  'The next piece begins after this inactive anonymous user, so that users who cannot be deleted do not keep the others. Empty (NULL): '
  'with the first.';

create function internal.chat_inactive_anonymous_users(max_count integer, last_user uuid default null) returns setof uuid
  language plpgsql stable set search_path = ''
as $$
declare
  days constant integer :=
    case when exists (select from public.chat_settings) then (select s.anonymous_retention_days from public.chat_settings s) else 30 end;
  since constant timestamptz := now() - make_interval(days => days);
begin
  return query
    select u.id
      from auth.users u
      -- Only users whom the widget created: other parts of a site may use anonymous sign-ins for other data, such as a cart. Users
      -- can change this value, but only to keep or lose their own data.
      where (last_user is null or u.id > last_user)
        and u.is_anonymous and u.raw_user_meta_data ->> 'created_by' = 'evidence-chat'
        and greatest(u.created_at, u.last_sign_in_at) < since
        and not exists (select from public.chat_sessions s where s.user_id = u.id and s.updated_at >= since)
        and not exists (select from public.chat_refusals r where r.user_id = u.id and r.created_at >= since)
      order by u.id
      limit max_count;
end
$$;

comment on function internal.chat_inactive_anonymous_users is
  'Anonymous users whom the widget created and who have been inactive for '
  'chat_settings.anonymous_retention_days: at most max_count, those after last_user, by id.';

create function internal.chat_delete_users(ids uuid[]) returns integer
  language plpgsql set search_path = ''
as $$
declare
  user_id uuid;
  deleted integer;
begin
  -- A table that refers to them and is only checked at the end would fail the whole transaction.
  set constraints all immediate;
  begin
    delete from auth.users u where u.id = any (ids);
    get diagnostics deleted = row_count;
    return deleted;
  exception
    when insufficient_privilege then
      -- Some installations of Supabase Auth do not let the owner of this function delete users.
      return 0;
    when others then
      -- Another table of the project refers to one of them, or a trigger forbids it. That must not keep the others.
      null;
  end;
  deleted := 0;
  foreach user_id in array ids loop
    begin
      delete from auth.users u where u.id = user_id;
      deleted := deleted + 1;
    exception when others then
      null;
    end;
  end loop;
  return deleted;
end
$$;

comment on function internal.chat_delete_users is
  'Deletes those of these users whom the database lets it delete. Returns how many.';

create function public.chat_retain() returns jsonb
  language plpgsql
  -- It also clears tables that no other role can access.
  security definer set search_path = ''
  -- PostgREST applies this limit to the request. It has no effect on chat_retain_all.
  set statement_timeout = '10min'
  -- Otherwise later pieces use plans for tables that were small when the first piece ran.
  set plan_cache_mode = force_custom_plan
as $$
declare
  before constant timestamptz := now() - make_interval(days => (select s.retention_days from public.chat_settings s));
  refusal_mode constant text := internal.chat_refusal_mode();
  max_rows constant integer := 1000;
  -- Deleting a user also deletes rows in many tables of Supabase Auth and, perhaps slowly, of the project.
  max_users constant integer := 100;
  inactive uuid[] := '{}';
  sessions uuid[];
  session_count bigint;
  refusal_count bigint;
  other_refusal_count bigint;
  anonymous_count bigint;
  anonymous_user_count bigint := 0;
  undeletable_user_count bigint := 0;
  usage_count bigint;
  forgotten_count bigint;
  more boolean;
begin
  -- One piece at a time. It skips rows that users are writing or deleting at the moment; the next run finds them.
  perform pg_advisory_xact_lock(hashtextextended('chat_retain', 0));
  insert into internal.chat_retention default values on conflict do nothing;
  sessions := array(
    select s.id from public.chat_sessions s where s.updated_at < before limit max_rows for update skip locked
  );
  if cardinality(sessions) < max_rows then
    inactive := array(
      select internal.chat_inactive_anonymous_users(max_users, (select r.last_user from internal.chat_retention r))
    );
    -- Also of users who cannot be deleted.
    sessions := sessions || array(
      select s.id from public.chat_sessions s where s.user_id = any (inactive) limit max_rows for update skip locked
    );
  end if;
  -- Before the sessions, which would delete them uncounted.
  delete from public.chat_refusals r where r.session_id = any (sessions);
  get diagnostics refusal_count = row_count;
  delete from public.chat_sessions s where s.id = any (sessions);
  get diagnostics session_count = row_count;
  delete from public.chat_refusals r where r.ctid = any (array(
    select expired.ctid from public.chat_refusals expired
      where refusal_mode = 'off' or expired.created_at < before or expired.user_id = any (inactive)
      limit max_rows
      for update skip locked
  ));
  get diagnostics other_refusal_count = row_count;
  update public.chat_refusals r
    set user_id = null, session_id = null, created_at = date_trunc('day', r.created_at, 'UTC')
    where r.ctid = any (array(
      select identified.ctid from public.chat_refusals identified
        where refusal_mode = 'anonymous' and identified.user_id is not null
        limit max_rows
        for update skip locked
    ));
  get diagnostics anonymous_count = row_count;
  delete from internal.usage u where u.ctid = any (array(
    select expired.ctid from internal.usage expired
      where expired.period_start < now() - interval '2 days'
      limit max_rows
      for update skip locked
  ));
  get diagnostics usage_count = row_count;
  delete from internal.chat_deleted_sessions d where d.ctid = any (array(
    select expired.ctid from internal.chat_deleted_sessions expired
      where expired.deleted_at < now() - interval '1 day'
      limit max_rows
      for update skip locked
  ));
  get diagnostics forgotten_count = row_count;

  more := max_rows <= greatest(
    cardinality(sessions), other_refusal_count, anonymous_count, usage_count, forgotten_count
  );
  if not more then
    anonymous_user_count := internal.chat_delete_users(inactive);
    undeletable_user_count := cardinality(inactive) - anonymous_user_count;
    more := cardinality(inactive) = max_users;
    update internal.chat_retention set last_user = case when more then inactive[max_users] end where id;
  end if;
  if not more then
    perform internal.chat_purge_daily_counts();
    perform internal.chat_purge_changes();
    perform internal.chat_check_alerts();
    update internal.chat_retention set ran_at = now() where id;
  end if;
  return jsonb_build_object(
    'sessions', session_count, 'refusals', refusal_count + other_refusal_count, 'anonymous', anonymous_count,
    'anonymous_users', anonymous_user_count, 'undeletable_users', undeletable_user_count,
    'scheduled', internal.chat_schedule_retention(), 'more', more
  );
end
$$;

comment on function public.chat_retain is
  'Deletes a piece of the conversations and refused questions that are older than '
  'chat_settings.retention_days, applies chat_settings.keep_refusals to stored refused questions, '
  'and deletes anonymous users whom the widget created and who have been inactive for '
  'chat_settings.anonymous_retention_days. At most about 1,000 rows and 100 users, so that it ends '
  'within any limit on the time of a statement: call it until more is false. Returns the numbers '
  'of deleted sessions, refusals and anonymous_users, of undeletable_users (whose conversations '
  'are deleted, but whom another table of the project or the database keeps), and of refusals made '
  'anonymous, and whether pg_cron runs this every night (scheduled). The last call also deletes '
  'daily counts and changes that are older than 400 days, and sends alerts (chat_check_alerts).';

revoke all on function public.chat_retain from public, anon, authenticated;
grant execute on function public.chat_retain to service_role;

create procedure internal.chat_retain_all()
  language plpgsql
  -- Without search_path, because a procedure with settings cannot commit.
as $$
declare
  -- Hosted projects stop a job after two minutes.
  time_limit constant interval := nullif(current_setting('statement_timeout')::interval, '0');
  stop_at constant timestamptz := clock_timestamp() + time_limit / 2;
begin
  while (public.chat_retain() ->> 'more')::boolean loop
    commit;
    exit when clock_timestamp() > stop_at;
  end loop;
end
$$;

comment on procedure internal.chat_retain_all is
  'The nightly job: calls chat_retain and commits until nothing is left, or for half of the time '
  'that a statement may take. The next night continues.';

create function internal.chat_schedule_retention() returns boolean
  language plpgsql security definer set search_path = ''
as $$
begin
  if to_regprocedure('cron.schedule(text, text, text)') is null then
    return false;
  end if;
  -- Dynamic, because cron may not exist when this function is created. A job of the same name is replaced.
  execute $job$ select cron.schedule('evidence-chat-retention', '23 3 * * *', 'call internal.chat_retain_all()') $job$;
  return true;
exception when insufficient_privilege then
  return false;
end
$$;

comment on function internal.chat_schedule_retention is
  'Schedules chat_retain_all every night if pg_cron is installed. Returns whether it did.';

create function internal.chat_reschedule_retention() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform internal.chat_schedule_retention();
  return null;
end
$$;

comment on function internal.chat_reschedule_retention is
  'Trigger: schedules the nightly job when retention settings change, in case pg_cron was '
  'installed meanwhile.';

create trigger chat_settings_schedule_retention
  after update of retention_days, anonymous_retention_days, keep_refusals on public.chat_settings
  for each row
  when (
    (old.retention_days, old.anonymous_retention_days, old.keep_refusals)
      is distinct from (new.retention_days, new.anonymous_retention_days, new.keep_refusals)
  )
  execute function internal.chat_reschedule_retention();

select internal.chat_schedule_retention();
