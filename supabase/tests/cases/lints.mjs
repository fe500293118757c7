import assert from "node:assert/strict";
import { test } from "node:test";

/**
 * The lints of Supabase's Security and Performance Advisors (https://supabase.com/docs/guides/database/database-advisors), under
 * their numbers, as far as an empty database can be checked. `find` returns the offenders as `name`; `known` lists those that
 * stay, each with its reason. Left out: 5 and 20, which need usage and bloat; 19 and 22, which concern extensions of the platform;
 * and 2, 16, 17, 21 and 23, which concern kinds of objects that the schema does not have, as a test below checks.
 */
const ONLY_SERVICE_ROLE = "only the service role, which bypasses policies, reads it; no other role has a grant";
const ONLY_DEFINERS = "only security definer functions read it; no role has a grant";
const INLINED = "its names are resolved when it is created; with a search path, calls would not be inlined";

const SCHEMAS = "('public'::regnamespace, 'internal'::regnamespace)";

const LINTS = {
  "1: foreign keys without an index": {
    find: `
      select format('%s.%s', c.conrelid::regclass, c.conname) as name from pg_constraint c
        where c.contype = 'f' and c.connamespace in ${SCHEMAS}
          and not exists (
            select from pg_index i
              where i.indrelid = c.conrelid and i.indpred is null
                and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
          )`,
    known: {},
  },
  "3: policies that look up the user for each row": {
    find: `
      select format('%s on %s', p.policyname, p.tablename) as name from pg_policies p
        cross join lateral regexp_replace(
          concat_ws(' ', p.qual, p.with_check), '\\( *SELECT (auth|internal)\\.\\w+\\(\\) AS \\w+\\)', '', 'g'
        ) as rest
        where p.schemaname in ('public', 'storage') and rest ~ '(auth\\.\\w+|kb_caller_audiences|chat_caller_assistants|current_setting)\\('`,
    known: {},
  },
  "4: tables without a primary key": {
    find: `
      select c.oid::regclass::text as name from pg_class c
        where c.relnamespace in ${SCHEMAS} and c.relkind in ('r', 'p')
          and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
    known: {},
  },
  "6: several permissive policies for one operation of one role": {
    find: `
      select format('%s %s %s', p.tablename, role, command) as name
        from pg_policies p
        cross join unnest(p.roles) as role
        cross join unnest(
          case p.cmd when 'ALL' then array['SELECT', 'INSERT', 'UPDATE', 'DELETE'] else array[p.cmd] end
        ) as command
        where p.schemaname in ('public', 'internal', 'storage') and p.permissive = 'PERMISSIVE'
        group by p.schemaname, p.tablename, role, command having count(*) > 1`,
    known: {},
  },
  "7 and 13: tables without row level security": {
    find: `
      select c.oid::regclass::text as name from pg_class c
        where c.relnamespace in ${SCHEMAS} and c.relkind in ('r', 'p') and not c.relrowsecurity`,
    known: {},
  },
  "8: row level security without a policy": {
    find: `
      select c.oid::regclass::text as name from pg_class c
        where c.relnamespace in ${SCHEMAS} and c.relkind in ('r', 'p') and c.relrowsecurity
          and not exists (select from pg_policy p where p.polrelid = c.oid)`,
    known: {
      kb_sentences: ONLY_SERVICE_ROLE,
      kb_headings: ONLY_SERVICE_ROLE,
      kb_lexemes: ONLY_SERVICE_ROLE,
      kb_syncs: ONLY_SERVICE_ROLE,
      kb_watches: ONLY_SERVICE_ROLE,
      kb_calibration: ONLY_SERVICE_ROLE,
      assistants: ONLY_SERVICE_ROLE,
      chat_settings: ONLY_SERVICE_ROLE,
      "internal.chat_alerts": ONLY_DEFINERS,
      "internal.chat_changes": ONLY_DEFINERS,
      "internal.chat_daily": ONLY_DEFINERS,
      "internal.chat_daily_documents": ONLY_DEFINERS,
      "internal.chat_daily_latency": ONLY_DEFINERS,
      "internal.chat_deleted_sessions": ONLY_DEFINERS,
      "internal.chat_retention": ONLY_DEFINERS,
      "internal.expected_access": ONLY_DEFINERS,
      "internal.kb_restricted_documents": ONLY_DEFINERS,
      "internal.refusal_salt": ONLY_DEFINERS,
      "internal.usage": ONLY_DEFINERS,
      "internal.worker_secrets": ONLY_DEFINERS,
    },
  },
  "9: duplicate indexes": {
    find: `
      select string_agg(i.indexrelid::regclass::text, ', ' order by i.indexrelid::regclass::text) as name
        from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relnamespace in ${SCHEMAS}
        group by i.indrelid, regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING ', '') having count(*) > 1`,
    known: {},
  },
  "10: security definer views": {
    find: `
      select c.oid::regclass::text as name from pg_class c
        where c.relnamespace in ${SCHEMAS} and c.relkind = 'v'
          and not 'security_invoker=true' = any (coalesce(c.reloptions, '{}'))`,
    known: {},
  },
  "11: functions without a search path": {
    find: `
      select p.oid::regproc::text as name from pg_proc p
        where p.pronamespace in ${SCHEMAS}
          and not exists (select from unnest(p.proconfig) as setting where setting like 'search_path=%')
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
    known: {
      "internal.chat_retain_all": "a procedure with settings cannot commit, and it names every schema",
      "internal.kb_is_user_editable_claim": INLINED,
      "internal.kb_is_anonymous": INLINED,
      "internal.kb_is_restricted": INLINED,
      "internal.kb_can_find": INLINED,
      "internal.kb_sum_of_two_largest": INLINED,
      "internal.kb_normalize_vector": INLINED,
      "internal.kb_counted_lexemes": INLINED,
      "internal.kb_fold_accents": INLINED,
      "internal.kb_text_hash": INLINED,
    },
  },
  "12: policies that apply to anonymous users": {
    find: `
      select format('%s on %s', p.policyname, p.tablename) as name from pg_policies p
        where p.schemaname in ('public', 'storage') and 'authenticated' = any (p.roles)
          and concat_ws(' ', p.qual, p.with_check) !~ 'is_anonymous'`,
    known: {
      "chat_sessions_own on chat_sessions": "anonymous visitors have conversations of their own",
      "chat_messages_read_own on chat_messages": "anonymous visitors have conversations of their own",
      "chat_refusals_read_own on chat_refusals": "anonymous visitors export their own data",
      "kb_files_read_visible on objects":
        "anonymous visitors open files that they see; the audience is_anonymous:false hides documents from them",
    },
  },
  "14: extensions in the schema public": {
    find: "select extname as name from pg_extension where extnamespace = 'public'::regnamespace",
    known: {},
  },
  "15: policies that use user_metadata": {
    find: `
      select format('%s on %s', p.policyname, p.tablename) as name from pg_policies p
        where concat_ws(' ', p.qual, p.with_check) ~ 'user_metadata'`,
    known: {},
  },
  "18: columns of a reg* type, which store object ids": {
    find: `
      select format('%s.%s', a.attrelid::regclass, a.attname) as name
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace in ${SCHEMAS} and c.relkind in ('r', 'p') and a.attnum > 0
          and a.atttypid::regtype::text ~ '^reg(class|proc|procedure|oper|operator|type|role|namespace|config|dictionary)$'`,
    known: {},
  },
  "24: policies for writing that are always true": {
    find: `
      select format('%s on %s', p.policyname, p.tablename) as name from pg_policies p
        where p.schemaname in ('public', 'internal', 'storage') and p.cmd <> 'SELECT'
          and (p.qual = 'true' or p.with_check = 'true')`,
    known: {},
  },
  "28 and 29: security definer functions that users can call over the API": {
    find: `
      select p.oid::regproc::text as name from pg_proc p
        where p.pronamespace = 'public'::regnamespace and p.prosecdef
          and (has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute'))`,
    known: {
      chat_config: "the widget calls it before sign-in; it takes no arguments and returns no secret",
    },
  },
  // Not an Advisor: hosted projects load pg-safeupdate for the Data API, which rejects such statements, in functions too.
  "statements in functions that delete or update without a condition": {
    find: `
      select distinct p.oid::regproc::text as name from pg_proc p
        cross join regexp_split_to_table(regexp_replace(p.prosrc, '--[^\\n]*', '', 'g'), ';') as statement
        where p.pronamespace in ${SCHEMAS}
          and statement ~* '\\m(delete\\s+from|update)\\s+(public|internal|auth|storage)\\.' and statement !~* '\\mwhere\\M'`,
    known: {},
  },
};

/** Checks the schema as the Advisors do. */
export function lints({ database }) {
  for (const [title, { find, known }] of Object.entries(LINTS)) {
    test(`${title}: the schema has only the known exceptions`, async () => {
      const { rows } = await database.query(find);
      assert.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(known).sort());
    });
  }

  test("lints 2, 16, 17, 21 and 23 do not apply, because the schema has no such objects", async () => {
    const { rows } = await database.query(`
      select c.relkind, c.oid::regclass::text as name from pg_class c
        where c.relnamespace in ${SCHEMAS} and c.relkind not in ('r', 'v', 'i', 'c', 't', 'S')
      union all
      select 'view on auth.users', d.refobjid::regclass::text from pg_depend d join pg_rewrite r on r.oid = d.objid
        where d.refobjid = 'auth.users'::regclass
      union all
      select 'sensitive', format('%s.%s', a.attrelid::regclass, a.attname)
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname ~ '(passw|secret|token|ssn|card|iban)'
      union all
      select 'foreign key to auth', c.conname from pg_constraint c
        where c.contype = 'f' and c.confrelid = 'auth.users'::regclass and c.confkey <> (
          select k.conkey from pg_constraint k where k.conrelid = 'auth.users'::regclass and k.contype = 'p'
        )`);
    assert.deepEqual(rows, []);
  });

  const mistakes = {
    "1: foreign keys without an index":
      "create table public.a (id int primary key, b uuid references public.kb_documents)",
    "3: policies that look up the user for each row":
      "create policy p on chat_settings for select to authenticated using (auth.uid() is not null)",
    "4: tables without a primary key": "create table public.a (b int)",
    "6: several permissive policies for one operation of one role":
      "create policy p on chat_sessions for delete to authenticated using (true)",
    "7 and 13: tables without row level security": "create table public.a (b int primary key)",
    "8: row level security without a policy": "drop policy kb_chunks_read_visible on kb_chunks",
    "9: duplicate indexes": "create index again on public.chat_refusals (session_id)",
    "10: security definer views": "create view public.a as select 1 as b",
    "11: functions without a search path": "create function public.a() returns int language sql as 'select 1'",
    "12: policies that apply to anonymous users":
      "create policy p on chat_settings for select to authenticated using (true)",
    "15: policies that use user_metadata":
      "create policy p on chat_settings for select using (current_setting('x')::jsonb -> 'user_metadata' is not null)",
    "18: columns of a reg* type, which store object ids": "create table public.a (b regclass primary key)",
    "24: policies for writing that are always true": "create policy p on chat_settings for update to anon using (true)",
    "28 and 29: security definer functions that users can call over the API":
      "create function public.a() returns int language sql security definer as 'select 1'",
    "statements in functions that delete or update without a condition":
      "create function public.a() returns void language sql as 'delete from public.chat_sessions'",
  };
  for (const [title, mistake] of Object.entries(mistakes)) {
    test(`${title}: the lint detects a violation`, async () => {
      const { find, known } = LINTS[title];
      const found = await database.transaction(async (transaction) => {
        await transaction.query(mistake);
        const { rows } = await transaction.query(find);
        await transaction.rollback();
        return rows.map(({ name }) => name);
      });
      assert.equal(found.filter((name) => !(name in known)).length, 1, found.join());
    });
  }
}
