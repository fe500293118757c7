-- Limits for one user. What a user stores in a day is limited for every call. The Worker limits questions itself and proves with a
-- secret that a call is its own; users who call the Data API directly, with the publishable key and a token, are also subject to the
-- rate limits in this file.

-- Calls of the Worker -----------------------------------------------------

create table internal.worker_secrets (
  hash bytea primary key
    constraint worker_secrets_hash_is_sha256 check (octet_length(hash) = 32),
  created_at timestamptz not null default clock_timestamp()
);

comment on table internal.worker_secrets is
  'SHA-256 of the current and the previous secret of the Worker, so that the secret can be rotated while the chat runs.';
comment on column internal.worker_secrets.hash is
  'SHA-256 of CHAT_WORKER_SECRET as UTF-8. The secret is random, so it needs no slow hash.';

create function public.chat_set_worker_secret(secret_hash text) returns void
  language plpgsql
  -- No role has access to the table.
  security definer set search_path = ''
as $$
begin
  if secret_hash is null or secret_hash !~ '^[0-9a-f]{64}$' then
    raise exception 'secret_hash must be the SHA-256 of the secret, as 64 digits from 0 to 9 and a to f'
      using errcode = 'invalid_parameter_value';
  end if;
  insert into internal.worker_secrets (hash) values (decode(secret_hash, 'hex'))
    on conflict (hash) do update set created_at = clock_timestamp();
  delete from internal.worker_secrets w
    where w.hash not in (select k.hash from internal.worker_secrets k order by k.created_at desc limit 2);
end
$$;

comment on function public.chat_set_worker_secret is
  'Sets the secret by which the database recognizes calls of the Worker. secret_hash: SHA-256 of '
  'CHAT_WORKER_SECRET in hexadecimal. The previous secret stays valid until the next call of this '
  'function.';

revoke all on function public.chat_set_worker_secret from public, anon, authenticated;
grant execute on function public.chat_set_worker_secret to service_role;

create function internal.is_worker_request() returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return exists (
    select from internal.worker_secrets w
      where w.hash = sha256(convert_to(
        nullif(current_setting('request.headers', true), '')::jsonb ->> 'x-evidence-chat-worker', 'UTF8'
      ))
  );
exception when data_exception then
  -- Headers that are not JSON are not from PostgREST.
  return false;
end
$$;

comment on function internal.is_worker_request is
  'Whether the request carries the secret of the Worker, in the header x-evidence-chat-worker. '
  'PostgREST sets request.headers.';

grant execute on function internal.is_worker_request to authenticated, evidence_chat, service_role;

-- Concurrent direct calls --------------------------------------------------

create function internal.limit_concurrency() returns boolean
  language plpgsql security definer set search_path = ''
as $$
declare
  max_concurrent constant integer := 3;
begin
  if internal.is_worker_request() then
    return true;
  end if;
  -- Once for each transaction: it could get a second lock that another one has released meanwhile.
  if current_setting('evidence_chat.counted', true) = concat(auth.uid(), ' ', pg_backend_pid()) then
    return true;
  end if;
  perform from generate_series(1, max_concurrent) as s(slot)
    where pg_try_advisory_xact_lock(hashtextextended(concat('request ', s.slot, ' ', auth.uid()), 0))
    limit 1;
  if not found then
    raise exception 'Too many requests: at most % at a time.', max_concurrent
      using errcode = 'PT429', detail = '1', hint = 'Try again when they have ended.';
  end if;
  -- Until the end of the transaction, or of the subtransaction that releases the lock.
  perform set_config('evidence_chat.counted', concat(auth.uid(), ' ', pg_backend_pid()), true);
  return true;
end
$$;

comment on function internal.limit_concurrency is
  'Limits a user to three transactions at once, so that nobody occupies the connections of others; '
  'fails otherwise. Always true, for policies: before a condition of the query, which may be a '
  'slow regular expression, sees a row of the user, Postgres evaluates "(select '
  'internal.limit_concurrency())". Calls of the Worker are not limited.';

grant execute on function internal.limit_concurrency to authenticated, evidence_chat;

-- Usage --------------------------------------------------------------------

-- Unlogged: cheap to write, and a crash of the server only resets the counters.
create unlogged table internal.usage (
  user_id uuid not null,
  operation text not null,
  period_start timestamptz not null,
  consumed bigint not null,
  primary key (user_id, operation)
);

comment on table internal.usage is 'Usage in the current minute, hour or day.';

create function internal.consume_quota(operation text, amount bigint, max_amount bigint, period interval) returns void
  language plpgsql security definer set search_path = ''
as $$
#variable_conflict use_column
declare
  usage internal.usage;
  seconds_left integer;
begin
  if auth.uid() is null then
    raise exception 'The token names no user.' using errcode = 'insufficient_privilege';
  end if;
  -- Calls of one user wait for each other at the row.
  perform internal.limit_concurrency();
  insert into internal.usage as u (user_id, operation, period_start, consumed)
    values (auth.uid(), consume_quota.operation, clock_timestamp(), amount)
    on conflict (user_id, operation) do update
      set period_start = case when u.period_start <= clock_timestamp() - period then clock_timestamp() else u.period_start end,
          consumed = case when u.period_start <= clock_timestamp() - period then 0 else u.consumed end + amount
    returning u.* into usage;
  if usage.consumed > max_amount then
    seconds_left := greatest(1, ceil(extract(epoch from usage.period_start + period - clock_timestamp())))::integer;
    raise exception 'Too many requests: at most % in %.', max_amount, period
      -- PostgREST turns this code into status 429.
      using errcode = 'PT429', detail = seconds_left::text, hint = format('Try again in %s seconds.', seconds_left);
  end if;
end
$$;

comment on function internal.consume_quota is
  'Adds to the usage of the caller. Fails above the limit, which rolls the addition back; the '
  'detail of the error is the number of seconds until the period ends.';

grant execute on function internal.consume_quota to evidence_chat;

create function internal.consume_storage(bytes bigint) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  -- About 400 and 3,000 typical answers.
  max_mebibytes constant bigint := case when internal.kb_is_anonymous(internal.kb_caller_claims()) then 4 else 32 end;
begin
  perform internal.consume_quota('storage', bytes, max_mebibytes * 1024 * 1024, '1 day');
end
$$;

comment on function internal.consume_storage is
  'Limits what the caller stores in a day, with the Worker and without: 4 MiB for anonymous users, '
  '32 MiB for others. bytes: of the texts, and enough for rows, vectors and indexes that their '
  'number is limited, too.';

grant execute on function internal.consume_storage to evidence_chat;

-- A failed request rolls back its row in internal.usage, although its error may reveal what it found: for "select=content::int",
-- the error of PostgREST quotes the content. Only sequences survive a rollback. One per user would be too many, so users share 128.
do $$ begin
  for number in 0 .. 127 loop
    execute format('create sequence internal.search_attempts_%s', number);
  end loop;
end $$;

create function internal.count_search_attempt() returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  max_attempts constant integer := 120;
  counter constant regclass := format('internal.search_attempts_%s', hashtextextended(auth.uid()::text, 0) & 127);
  minute constant bigint := floor(extract(epoch from clock_timestamp()) / 60);
  -- The minute, followed by six digits for the attempts in that minute.
  attempt bigint := nextval(counter);
begin
  if attempt / 1000000 <> minute then
    -- If several first attempts run at once, only one is counted.
    attempt := setval(counter, minute * 1000000 + 1);
  end if;
  if attempt % 1000000 > max_attempts then
    raise exception 'Too many requests: at most % in 1 minute.', max_attempts
      using errcode = 'PT429', detail = '60', hint = 'Try again in a minute.';
  end if;
end
$$;

comment on function internal.count_search_attempt is
  'Counts a search of the caller, even if its transaction is rolled back. All users who share a '
  'sequence may make at most 120 searches a minute together.';

create function internal.limit_searches() returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  if internal.is_worker_request() then
    return;
  end if;
  if auth.uid() is null then
    raise exception 'The token names no user.' using errcode = 'insufficient_privilege';
  end if;
  perform internal.limit_concurrency();
  perform internal.count_search_attempt();
  perform internal.consume_quota('search', 1, 60, '1 minute');
end
$$;

comment on function internal.limit_searches is
  'Limits a user to 60 searches a minute, three requests at once, and 120 attempts a minute. '
  'Searches by the Worker are not counted.';

grant execute on function internal.limit_searches to authenticated;
