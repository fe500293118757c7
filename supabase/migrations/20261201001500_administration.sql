-- For the administrator: an overview of the documents, and the checks of kb doctor.

-- Documents ---------------------------------------------------------------

create view public.kb_overview
  with (security_invoker = true)
as
-- Subqueries instead of joins, so that columns which a query does not select cost nothing.
select
  d.id,
  d.collection,
  d.source,
  d.meta ->> 'title' as title,
  d.name,
  d.status,
  d.failure,
  d.failed_at,
  d.enabled,
  d.audience,
  d.language,
  (select count(*) from public.kb_chunks c where c.document_id = d.id) as chunks,
  (select count(*) from public.kb_chunks c where c.document_id = d.id and c.stale) as stale_chunks,
  array(
    select distinct e.model
      from public.kb_chunks c
      join public.kb_embeddings e on e.chunk_id = c.id
      where c.document_id = d.id
      order by e.model
  ) as models,
  d.meta ->> 'content_type' as content_type,
  d.meta ->> 'url' as url,
  d.storage_path is not null as has_original,
  (select count(*) from public.chat_messages m where m.from_worker and m.sources @> array[d.id]) as times_cited,
  d.created_at,
  d.updated_at
from public.kb_documents d;

comment on view public.kb_overview is 'One row for each document, with counts of its contents and of the answers that cite it.';
comment on column public.kb_overview.id is 'Id of the document, as in kb_documents.';
comment on column public.kb_overview.collection is 'The folder, bucket, site or list that it comes from.';
comment on column public.kb_overview.source is 'Key of the document: its collection and its path there.';
comment on column public.kb_overview.title is 'Title, if the document has one.';
comment on column public.kb_overview.name is 'File name.';
comment on column public.kb_overview.status is 'pending, ready or failed.';
comment on column public.kb_overview.failure is 'Why its newest version could not be read.';
comment on column public.kb_overview.failed_at is 'Since when.';
comment on column public.kb_overview.enabled is 'Whether searches may find it.';
comment on column public.kb_overview.audience is 'Who can see it; empty (NULL) for chat_settings.default_audience.';
comment on column public.kb_overview.language is 'Language of the text.';
comment on column public.kb_overview.chunks is 'Number of passages.';
comment on column public.kb_overview.stale_chunks is
  'Number of edited passages, which search skips until kb sync has made new vectors.';
comment on column public.kb_overview.models is 'Fingerprints of the models that made its vectors: usually one.';
comment on column public.kb_overview.content_type is 'Type of the original file, such as application/pdf.';
comment on column public.kb_overview.url is 'Address of the original, if it has one.';
comment on column public.kb_overview.has_original is 'Whether the original file is in the storage bucket "kb".';
comment on column public.kb_overview.times_cited is
  'How many answers in the histories are based on it. Counts only answers of the Worker.';
comment on column public.kb_overview.created_at is 'When it was first added.';
comment on column public.kb_overview.updated_at is 'When its row last changed.';

revoke all on public.kb_overview from public, anon, authenticated;
grant select on public.kb_overview to service_role;

-- Health ------------------------------------------------------------------

-- kb_health collects facts; kb doctor reports what to do about them.

create function internal.schema_version() returns text
  language plpgsql stable
  -- The service role may not read the list of migrations.
  security definer set search_path = ''
as $$
declare
  version text;
begin
  -- Postgres without Supabase has no such table, or one that belongs to another role.
  if to_regclass('supabase_migrations.schema_migrations') is not null
    and has_schema_privilege('supabase_migrations', 'usage')
    and has_table_privilege('supabase_migrations.schema_migrations', 'select')
  then
    execute 'select max(version) from supabase_migrations.schema_migrations' into version;
  end if;
  return version;
end
$$;

comment on function internal.schema_version is
  'Version of the newest applied migration; null if there is no record of migrations.';

grant execute on function internal.schema_version to service_role;

create function internal.kb_health_indexes() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_agg(
      jsonb_build_object(
        'name', expected.name,
        'table', expected.table_name,
        'exists', i.indexrelid is not null,
        'valid', coalesce(i.indisvalid and i.indisready, false)
      )
      order by expected.table_name, expected.name
    )
  from (
    values
      ('kb_documents', 'kb_documents_pkey'),
      ('kb_documents', 'kb_documents_one_ready_per_source'),
      ('kb_documents', 'kb_documents_storage_path_unique'),
      ('kb_documents', 'kb_documents_restricted_idx'),
      ('kb_documents', 'kb_documents_visible_recent_idx'),
      ('kb_chunks', 'kb_chunks_pkey'),
      ('kb_chunks', 'kb_chunks_ordinal_unique'),
      ('kb_chunks', 'kb_chunks_searchable_fts'),
      ('kb_chunks', 'kb_chunks_restricted_fts'),
      ('kb_embeddings', 'kb_embeddings_pkey'),
      ('kb_embeddings', 'kb_embeddings_searchable_hnsw'),
      ('kb_embeddings', 'kb_embeddings_restricted_hnsw'),
      ('kb_embeddings', 'kb_embeddings_audience_idx'),
      ('kb_sentences', 'kb_sentences_pkey'),
      ('kb_lexemes', 'kb_lexemes_pkey')
  ) as expected (table_name, name)
  left join pg_catalog.pg_class c on c.relname = expected.name and c.relnamespace = 'public'::regnamespace
  left join pg_catalog.pg_index i on i.indexrelid = c.oid
$$;

comment on function internal.kb_health_indexes is
  'The indexes that the search needs: {name, table, exists, valid}.';

grant execute on function internal.kb_health_indexes to service_role;

-- Who may do what ----------------------------------------------------------

-- A snapshot of grants, policies, functions and views after the last migration, so that kb doctor detects changes.
create table internal.expected_access (
  kind text not null,
  name text not null,
  definition text not null,
  primary key (kind, name)
);

comment on table internal.expected_access is 'What internal.access_snapshot() returned after the last migration.';
comment on column internal.expected_access.kind is
  'grants, row level security, policy, role, function, trigger, view, query (of a view) or server.';
comment on column internal.expected_access.definition is 'Everything that determines who may do what with the object, as text.';

create function internal.access_snapshot() returns table (kind text, name text, definition text)
  language sql stable set search_path = ''
as $$
  with relation as (
    select c.oid, c.relkind, c.relrowsecurity, c.reloptions, c.relacl, format('%s.%s', n.nspname, c.relname) as name
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm')
        and (n.nspname = 'internal' or n.nspname = 'public' and c.relname ~ '^(kb_|chat_|assistants$)')
  ), routine as (
    select p.*, format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as name
      from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'internal' or n.nspname = 'public' and p.proname ~ '^(kb_|chat_|match_chunks$)'
  ), grants as (
    select 'schema internal' as name, n.nspacl as acl from pg_catalog.pg_namespace n where n.nspname = 'internal'
    union all
    select r.name, r.relacl from relation r
    union all
    select format('%s.%s', r.name, a.attname), a.attacl
      from relation r
      join pg_catalog.pg_attribute a on a.attrelid = r.oid
      where a.attacl is not null
    union all
    -- Without an ACL, everybody may execute the function.
    select r.name, coalesce(r.proacl, acldefault('f', r.proowner)) from routine r
  )
  select 'grants', g.name, string_agg(
      concat_ws(' ', case when x.grantee = 0 then 'public' else x.grantee::regrole::text end, x.privilege_type), ', '
      order by x.grantee::regrole::text collate "C", x.privilege_type collate "C"
    )
    from grants g
    cross join lateral aclexplode(g.acl) x
    where x.grantee = 0 or x.grantee::regrole::text in ('anon', 'authenticated', 'evidence_chat')
    group by g.name
  union all
  select 'row level security', r.name, r.relrowsecurity::text from relation r where r.relkind in ('r', 'p')
  union all
  select 'policy', format('%s on %s.%s', p.policyname, p.schemaname, p.tablename),
      concat_ws(' ', p.permissive, p.cmd, array_to_string(p.roles, ', '), p.qual, p.with_check)
    from pg_catalog.pg_policies p
    where format('%s.%s', p.schemaname, p.tablename) in (select r.name from relation r)
      or (p.schemaname, p.tablename, p.policyname) = ('storage', 'objects', 'kb_files_read_visible')
  union all
  select 'function', r.name, concat_ws(
      ' ', case when r.prosecdef then 'definer ' || r.proowner::regrole end, r.proconfig::text, md5(r.prosrc), md5(pg_get_function_sqlbody(r.oid))
    )
    from routine r
  union all
  select 'view', r.name, coalesce(r.reloptions::text, '') from relation r where r.relkind in ('v', 'm')
  union all
  select 'query', r.name, md5(pg_get_viewdef(r.oid)) from relation r where r.relkind in ('v', 'm')
  union all
  -- Triggers hide chunks, delete data and count.
  select 'trigger', format('%s.%s', r.name, t.tgname), t.tgenabled::text
    from pg_catalog.pg_trigger t
    join relation r on r.oid = t.tgrelid
    where not t.tgisinternal
  union all
  -- Rights that a role has without grants on objects.
  select 'role', r.rolname, concat_ws(
      ', ', case when r.rolsuper then 'superuser' end, case when r.rolbypassrls then 'bypassrls' end, (
        select string_agg(format('member of %s', m.rolname), ', ' order by m.rolname collate "C")
          from pg_catalog.pg_roles m
          where m.oid <> r.oid and pg_has_role(r.oid, m.oid, 'member')
            and (
              m.rolname in ('evidence_chat', 'service_role')
              or m.oid = (select c.relowner from pg_catalog.pg_class c where c.oid = 'public.kb_documents'::regclass)
            )
      )
    )
    from pg_catalog.pg_roles r
    where r.rolname in ('anon', 'authenticated', 'evidence_chat')
  union all
  select 'server', 'version', current_setting('server_version_num')::integer / 10000 || ''
$$;

comment on function internal.access_snapshot is
  'Everything in this database that determines what users can access of this product: grants to '
  'them, policies, roles, functions, triggers and views; and the version of the server.';

create function internal.save_access_snapshot() returns void
  language sql security definer set search_path = ''
as $$
  delete from internal.expected_access where true;
  insert into internal.expected_access (kind, name, definition)
    select a.kind, a.name, a.definition from internal.access_snapshot() a;
$$;

comment on function internal.save_access_snapshot is
  'Stores internal.access_snapshot() as the expected state.';

create function internal.kb_health_access() returns jsonb
  language sql stable security definer set search_path = ''
as $$
  with difference as (
    select kind, name,
        case when a.definition is null then 'missing' when e.definition is null then 'added' else 'changed' end as change
      from (select a.kind, a.name, a.definition from internal.access_snapshot() a) a
      full join internal.expected_access e using (kind, name)
      where a.definition is distinct from e.definition
  )
  select coalesce(
      jsonb_agg(jsonb_build_object('kind', d.kind, 'name', d.name, 'change', d.change) order by d.kind, d.name), '[]'
    )
    from difference d
    -- Ignores objects in public that others created under a similar name. Policies on the product's tables always count.
    where case d.kind
      when 'server' then false
      -- Another version of Postgres may print the same query differently.
      when 'query' then not exists (
        select from internal.expected_access e join internal.access_snapshot() a using (kind, name)
          where e.kind = 'server' and e.definition <> a.definition
      )
      when 'trigger' then d.change <> 'added'
      else true
    end
    and (d.change <> 'added' or d.kind = 'policy' or d.name not like 'public.%' or exists (
      select from internal.expected_access known
        where known.kind in ('function', 'view', 'row level security')
          and (d.name = known.name or starts_with(d.name, known.name || '.'))
    ))
$$;

comment on function internal.kb_health_access is
  'Differences from the state after the last migration: {kind, name, change}. change: missing, '
  'added or changed.';

grant execute on function internal.kb_health_access to service_role;

create function internal.kb_health_privacy() returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'worker_secret_set', exists (select from internal.worker_secrets),
    -- The setting of PostgREST, if it is stored in the database.
    'internal_exposed', exists (
      select from pg_catalog.pg_db_role_setting s
        cross join unnest(s.setconfig) as c(setting)
        cross join regexp_split_to_table(substring(c.setting from '^pgrst\.db_schemas=(.*)$'), '\s*,\s*') as x(name)
        where x.name in ('internal', '"internal"')
    ),
    'retention_days', (select s.retention_days from public.chat_settings s),
    'retention_ran_at', (select r.ran_at from internal.chat_retention r),
    'has_inactive_anonymous_users', exists (select from internal.chat_inactive_anonymous_users(1))
  )
$$;

comment on function internal.kb_health_privacy is
  'Whether the secret of the Worker is set, whether the schema internal is exposed, the retention '
  'period, when chat_retain last ran, and whether there are anonymous users whom it will delete.';

grant execute on function internal.kb_health_privacy to service_role;

create function internal.kb_health_insights() returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'counts', jsonb_build_object(
      'counted_day', (select max(d.day) from internal.chat_daily d where d.measure = 'questions'),
      -- Of the conversations that changed last, because messages have no index on the time.
      'recorded_day', (
        select max((m.created_at at time zone 'UTC')::date)
          from (select s.id from public.chat_sessions s order by s.updated_at desc limit 20) s
          join public.chat_messages m on m.session_id = s.id
          where m.from_worker and m.role = 'user'
            -- Older counts are purged.
            and m.created_at > now() - interval '399 days'
      )
    ),
    'alerts', jsonb_build_object(
      'url_set', exists (select from public.chat_settings s where s.alert_url is not null),
      'measures', array(
        select m.name
          from public.chat_settings s
          cross join lateral (
            values ('answered_share', s.alert_answered_share), ('cited_share', s.alert_cited_share)
          ) as m(name, line)
          where m.line is not null
          order by m.name
      ),
      'pg_net', to_regproc('net.http_post') is not null,
      'checked_at', (select max(a.checked_at) from internal.chat_alerts a),
      'sent', (
        select coalesce(jsonb_agg(jsonb_build_object(
            'measure', a.measure, 'is_below', a.is_below, 'sent_at', a.sent_at,
            'is_delivered', coalesce(a.is_delivered, answer.is_delivered), 'status', coalesce(a.status, answer.status)
          ) order by a.measure), '[]')
          from internal.chat_alerts a
          left join lateral internal.chat_alert_answer(a.request_id) answer on true
          where a.sent_at is not null
      )
    )
  )
$$;

comment on function internal.kb_health_insights is
  'counts: the last day with questions in the daily counts, and in the conversations that changed '
  'last. alerts: whether alert_url is set and for which measures there is a line, whether pg_net '
  'is installed, when they were last compared (checked_at), and the last alert of each measure '
  '(sent), with what the webhook answered.';

grant execute on function internal.kb_health_insights to service_role;

create function internal.kb_health_anonymous() returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_build_object(
      'visible_documents', count(*),
      'anonymous_documents', count(*) filter (
        -- The claims that Supabase Auth puts into the token of each anonymous user. The issuer is one of them.
        where a.audience && '{is_anonymous:true,role:authenticated,aud:authenticated,aal:aal1}'
          or exists (select from unnest(a.audience) as e(entry) where starts_with(e.entry, 'iss:'))
      )
    )
    from public.kb_documents d
    left join public.chat_settings s on true
    cross join lateral (select coalesce(d.audience, s.default_audience, '{is_anonymous:false}') as audience) a
    where d.status = 'ready' and d.enabled
$$;

comment on function internal.kb_health_anonymous is
  'The number of documents that are ready and enabled, and how many of them anonymous visitors can '
  'see.';

grant execute on function internal.kb_health_anonymous to service_role;

create function internal.kb_health_files() returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  health jsonb;
begin
  if to_regclass('storage.objects') is null or to_regclass('storage.buckets') is null then
    return '{"storage_bytes": null}';
  end if;
  -- Dynamic, because the schema storage may not exist when this function is created.
  execute $query$
    with missing as (
      select d.id from public.kb_documents d
        where d.storage_path is not null
          and not exists (select from storage.objects o where o.bucket_id = 'kb' and o.name = d.storage_path)
    ), orphan as (
      select o.name from storage.objects o
        where o.bucket_id = 'kb' and starts_with(o.name, 'originals/')
          and not exists (select from public.kb_documents d where d.storage_path = o.name)
    )
    select jsonb_build_object(
      'missing_files', array(select m.id from missing m order by m.id limit 100),
      'missing_file_count', (select count(*) from missing),
      'orphan_files', array(select o.name from orphan o order by o.name limit 1000),
      'orphan_file_count', (select count(*) from orphan),
      'storage_bytes', (
        select coalesce(sum((o.metadata ->> 'size')::bigint), 0)
          from storage.objects o
          where o.bucket_id = 'kb' and jsonb_typeof(o.metadata -> 'size') = 'number'
      ),
      'public_bucket', coalesce((select b.public from storage.buckets b where b.id = 'kb'), false)
    )
  $query$ into health;
  -- Permissive policies are combined with OR, so any of them may open the bucket, except one that is limited to another bucket.
  return health || jsonb_build_object('widening_policies', array(
    select p.policyname
      from pg_catalog.pg_policies p
      cross join lateral concat_ws(' and ', p.qual, p.with_check) as condition
      where p.schemaname = 'storage' and p.tablename = 'objects' and p.permissive = 'PERMISSIVE'
        and p.policyname <> 'kb_files_read_visible'
        and p.roles && array['public', 'anon', 'authenticated']::name[]
        and (condition !~ $pattern$^\(*bucket_id = '(?!kb')[^']*'::text\)$pattern$ or condition ~ ' OR ')
      order by p.policyname
  ));
end
$$;

comment on function internal.kb_health_files is
  'Original files, their size and the access to them. Without storage, only a storage_bytes of '
  'null. widening_policies: policies on storage.objects for users that may cover the bucket kb, '
  'because their condition is not simply one on another bucket.';

grant execute on function internal.kb_health_files to service_role;

create function public.kb_health() returns jsonb
  language plpgsql stable set search_path = ''
  -- Takes some seconds for 100,000 chunks. PostgREST applies this limit to the request.
  set statement_timeout = '60s'
as $$
declare
  chunk_health jsonb;
begin
  -- One scan of all chunks with their documents and vectors.
  select jsonb_build_object(
      'chunks', count(*),
      'stale_chunks', count(*) filter (where c.stale),
      'chunks_without_embedding', count(*) filter (where e.chunk_id is null),
      'visibility_mismatches', count(*) filter (
        where (c.searchable, c.audience, c.collection) is distinct from (
            t.is_findable and d.audience is null, case when t.is_findable then d.audience end, d.collection
          )
          or e.chunk_id is not null
            and (e.searchable, e.audience, e.collection) is distinct from (c.searchable, c.audience, c.collection)
      ),
      'findable_chunks', count(*) filter (where t.is_findable)
    )
    into chunk_health
    from public.kb_chunks c
    join public.kb_documents d on d.id = c.document_id
    cross join lateral (select d.status = 'ready' and d.enabled and not c.stale as is_findable) t
    left join public.kb_embeddings e on e.chunk_id = c.id;

  return jsonb_build_object(
    'schema_version', internal.schema_version(),
    'vector_version', (select x.extversion from pg_catalog.pg_extension x where x.extname = 'vector'),
    'tables', (
      select jsonb_agg(jsonb_build_object('name', c.relname, 'rls', c.relrowsecurity) order by c.relname)
        from pg_catalog.pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    ),
    'indexes', internal.kb_health_indexes(),
    'access_changes', internal.kb_health_access(),
    'documents', (
      select jsonb_object_agg(s.status, coalesce(n.count, 0))
        from (values ('pending'), ('ready'), ('failed')) as s(status)
        left join (select d.status, count(*) as count from public.kb_documents d group by d.status) n using (status)
    ),
    'failed', (select count(*) from public.kb_documents d where d.status = 'failed' or d.failure is not null),
    'pending_older_than_day', (
      select count(*) from public.kb_documents d
        where d.status = 'pending' and d.updated_at < now() - interval '1 day'
    ),
    'documents_without_chunks', (
      select count(*) from public.kb_documents d
        where d.status = 'ready' and not exists (select from public.kb_chunks c where c.document_id = d.id)
    ),
    'embeddings_by_model', (
      select coalesce(jsonb_object_agg(m.model, m.count), '{}')
        from (select e.model, count(*) as count from public.kb_embeddings e group by e.model) m
    ),
    'sentences', (select count(*) from public.kb_sentences),
    'sentences_missing', (
      select count(*) from public.kb_chunks c
        where not exists (select from public.kb_sentences s where s.chunk_id = c.id)
    ),
    -- Checking the counts of single words takes too long. The same triggers change these counts in the same statements.
    'lexeme_mismatch', (
      select coalesce(sum(k.chunks), 0) <> (chunk_health ->> 'findable_chunks')::bigint
        from public.kb_lexemes k
        where k.lexeme = ''
    ),
    'audience_claims', array(
      select distinct a.entry
        from (
          select d.audience from public.kb_documents d where d.audience is not null
          union all
          select s.audience from public.assistants s where s.audience is not null
        ) restricted
        cross join unnest(restricted.audience) as a(entry)
        order by a.entry
    ),
    'assistants_without_documents', array(
      select a.name
        from public.assistants a
        where a.enabled and a.collections is not null
          and not exists (
            select from public.kb_documents d
              where d.status = 'ready' and d.enabled and d.collection = any (a.collections)
          )
        order by a.name
    )
  ) || (chunk_health - 'findable_chunks') || internal.kb_health_files() || internal.kb_health_privacy()
    || internal.kb_health_anonymous() || internal.kb_health_insights();
end
$$;

comment on function public.kb_health is
  'State of the knowledge base, for kb doctor. access_changes, missing_files (at most 100 ids), '
  'orphan_files (at most 1,000 names) and widening_policies should be empty; failed, '
  'pending_older_than_day, documents_without_chunks, stale_chunks, chunks_without_embedding, '
  'visibility_mismatches (wrong copies of searchable, audience and collection) and '
  'sentences_missing 0; counts.counted_day as recorded_day; lexeme_mismatch, public_bucket and '
  'internal_exposed false. storage_bytes is the size of all files in the bucket kb. Without '
  'storage it is null, and everything else about files is left out.';

revoke all on function public.kb_health from public, anon, authenticated;
grant execute on function public.kb_health to service_role;

create function public.kb_non_latin_documents(count integer default 1000) returns table (source text)
  language sql stable set search_path = ''
  -- PostgREST applies this limit to the request.
  set statement_timeout = '60s'
as $$
  select d.source
    from public.kb_documents d
    join public.kb_chunks c on c.document_id = d.id and c.ordinal = 0
    cross join lateral (select left(c.content, 500) as text) t
    where d.status = 'ready' and d.enabled
      -- Letters of Greek, Cyrillic, Arabic, Indic, East Asian and other scripts, compared with Latin letters.
      and length(regexp_replace(t.text, '[^\u0370-\u1cff\u1f00-\u1fff\u3040-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc]', '', 'g'))
        > length(regexp_replace(t.text, '[^A-Za-z\u00c0-\u024f\u1e00-\u1eff]', '', 'g'))
    order by d.source
    limit least(count, 1000)
$$;

comment on function public.kb_non_latin_documents is
  'Ready and enabled documents whose first chunk has more letters of other scripts than Latin '
  'ones, for kb doctor: the embedding model cannot read them. At most 1,000.';

revoke all on function public.kb_non_latin_documents from public, anon, authenticated;
grant execute on function public.kb_non_latin_documents to service_role;

-- End of the migrations -----------------------------------------------------

create procedure internal.end_migration()
  language plpgsql set search_path = ''
as $$
declare
  relation regclass;
begin
  -- Postgres lets everybody execute a new function.
  revoke all on all routines in schema internal from public;
  -- Only functions read and write the tables of this schema.
  revoke all on all tables in schema internal from public, anon, authenticated, service_role;
  for relation in
    select c.oid from pg_catalog.pg_class c
      where c.relnamespace = 'internal'::regnamespace and c.relkind = 'r'
  loop
    execute format('alter table %s enable row level security', relation);
  end loop;
  -- The state that kb doctor compares with.
  perform internal.save_access_snapshot();
end
$$;

comment on procedure internal.end_migration is
  'Protects what is new in the schema internal, and stores the access rights for kb doctor.';

-- A later migration must end with this statement too.
call internal.end_migration();
