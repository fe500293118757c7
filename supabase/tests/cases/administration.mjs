import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, describe, test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";

/** The views for the administrator, and what kb_health reports to `kb doctor`. */
export function administration({ database }) {
  afterEach(() => clearKnowledgeBase(database));

  const run = async (sql, ...parameters) => (await database.query(sql, parameters)).rows;

  describe("rows added by hand", () => {
    for (const [source, name] of Object.entries({
      "handbook/travel.md": "travel.md",
      "handbook/a/b c.pdf": "b c.pdf",
      "example.com/guides/": "guides",
      "example.com/guides// ": "guides",
      "single.md": "single.md",
      "//": "//",
    })) {
      test(`a document from ${JSON.stringify(source)} is named ${JSON.stringify(name)} by default`, async () => {
        const [row] = await run(
          "insert into kb_documents (source) values ($1) returning name, status, enabled",
          source,
        );
        assert.deepEqual(row, { name, status: "pending", enabled: true });
        assert.deepEqual(await run("update kb_documents set name = ' ' returning name"), [{ name }]);
        assert.deepEqual(await run("update kb_documents set name = 'Mine' returning name"), [{ name: "Mine" }]);
      });
    }

    test("chunks without an ordinal go to the end of their document, also several at once", async () => {
      const { id } = await writeDocument(database, { similarities: [0.9, 0.8] });
      await run("update kb_chunks set ordinal = 7 where ordinal = 1");
      await run("insert into kb_chunks (document_id, content) values ($1, 'a'), ($1, 'b')", id);
      const rows = await run("select ordinal from kb_chunks order by ordinal");
      assert.deepEqual(
        rows.map((row) => row.ordinal),
        [0, 7, 8, 9],
      );
      const { id: empty } = await writeDocument(database, { similarities: [] });
      assert.deepEqual(
        await run("insert into kb_chunks (document_id, content) values ($1, 'a') returning ordinal, stale", empty),
        [{ ordinal: 0, stale: false }],
      );
    });

    test("kb_delete_documents deletes documents by id, except hidden and restricted ones if asked, and returns those that stay", async () => {
      const [one, two, three] = [
        await writeDocument(database),
        await writeDocument(database),
        await writeDocument(database),
      ];
      const remove = async (ids, keepRestricted = false) =>
        (await run("select kb_delete_documents($1, $2) as id", ids, keepRestricted)).map((row) => row.id);
      assert.deepEqual(await remove([one.id, two.id, two.id, randomUUID()]), []);
      assert.deepEqual(await run("select id from kb_documents"), [{ id: three.id }]);
      assert.deepEqual(await run("select id from kb_chunks"), [{ id: three.chunkIds[0] }]);
      for (const nothing of [[], null, [one.id]]) assert.deepEqual(await remove(nothing), []);

      const stated = { audience: ["team:hr"], meta: { audience: ["team:hr"] } };
      const hidden = await writeDocument(database, { enabled: false });
      const restricted = await writeDocument(database, { ...stated, audience: ["team:it"] });
      const failed = await writeDocument(database, { status: "failed", enabled: false });
      const ids = [three, hidden, restricted, failed, await writeDocument(database, stated)].map((row) => row.id);
      assert.deepEqual(new Set(await remove(ids, true)), new Set([hidden.id, restricted.id]));
      assert.deepEqual(await remove(ids), []);
    });

    test("kb_set_enabled shows and hides documents by id, and returns those that exist", async () => {
      const [one, two] = [await writeDocument(database), await writeDocument(database, { enabled: false })];
      for (const enabled of [false, true]) {
        const ids = [one.id, two.id, one.id, randomUUID()];
        const changed = await run("select kb_set_enabled($1, $2) as id", ids, enabled);
        assert.deepEqual(new Set(changed.map((row) => row.id)), new Set([one.id, two.id]));
        const found = await run("select searchable from kb_chunks union all select searchable from kb_embeddings");
        assert.deepEqual(found, Array(4).fill({ searchable: enabled }));
      }
      for (const nothing of [[], null]) assert.deepEqual(await run("select kb_set_enabled($1, false)", nothing), []);
    });

    test("deleting a document deletes all of its rows", async () => {
      const { id } = await writeDocument(database, {
        contents: ["one"],
        sentences: [[{ start: 0, end: 3, similarity: 0.5 }]],
      });
      await run("delete from kb_documents where id = $1", id);
      for (const table of ["kb_chunks", "kb_embeddings", "kb_sentences", "kb_lexemes"]) {
        assert.deepEqual(await run(`select from ${table}`), [], table);
      }
    });
  });

  test("every table, view, column and function of the public schema has a comment", async () => {
    const rows = await run(`
      select c.relname || coalesce('.' || a.attname, '') as name
        from pg_class c
        left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
          and (obj_description(c.oid, 'pg_class') is null or col_description(c.oid, a.attnum) is null)
      union all
      select p.proname from pg_proc p
        where p.pronamespace = 'public'::regnamespace and obj_description(p.oid, 'pg_proc') is null`);
    assert.deepEqual(rows, []);
  });

  test("no number of a view is numeric, which the API may write as text", async () => {
    const rows = await run(`
      select table_name, column_name from information_schema.columns
        where table_schema = 'public' and data_type = 'numeric'`);
    assert.deepEqual(rows, []);
  });

  test("slow functions set their own statement_timeout", async () => {
    // PostgREST reads the timeout from the function. The API's default is 8 seconds.
    const rows = await run(`
      select p.proname as name, substring(setting from '=(.*)') as timeout
        from pg_proc p
        cross join unnest(p.proconfig) as setting
        where p.pronamespace = 'public'::regnamespace and setting like 'statement_timeout=%'
        order by 1`);
    assert.deepEqual(Object.fromEntries(rows.map(({ name, timeout }) => [name, timeout])), {
      chat_retain: "10min",
      kb_chunks_to_embed: "10min",
      kb_delete_documents: "10min",
      kb_health: "60s",
      kb_non_latin_documents: "60s",
      kb_publish_document: "10min",
      kb_recount_lexemes: "10min",
      kb_set_enabled: "10min",
      kb_write_chunks: "10min",
      kb_write_vectors: "10min",
    });
  });

  test("every policy has a comment", async () => {
    const rows = await run(`
      select p.polname from pg_policy p join pg_class c on c.oid = p.polrelid
        where c.relnamespace = 'public'::regnamespace and obj_description(p.oid, 'pg_policy') is null`);
    assert.deepEqual(rows, []);
  });

  describe("views", () => {
    let session;
    before(async () => {
      const userId = randomUUID();
      session = randomUUID();
      await run("insert into auth.users (id, email) values ($1, 'views@example.com')", userId);
      await run("insert into chat_sessions (id, user_id) values ($1, $2)", session, userId);
    });
    after(() => run("delete from auth.users where email = 'views@example.com'"));
    afterEach(() => run("delete from chat_messages"));

    /**
     * Writes a message.
     * @param {string} role
     * @param {{ day?: string, latency?: number | null, refusal?: string | null, cites?: string[], fromWorker?: boolean }} [options]
     */
    const say = (role, { day = "2026-11-20", latency = null, refusal = null, cites = [], fromWorker = true } = {}) =>
      run(
        `with written as (
           insert into chat_messages (session_id, role, content, citations, latency_ms, refusal, from_worker)
             values ($1, $2, 'text', $3, $4, $5, $6) returning id
         ) select id from written`,
        session,
        role,
        JSON.stringify(cites.map((id, index) => ({ index, document_id: id }))),
        latency,
        refusal,
        fromWorker,
      ).then(([{ id }]) => run("update chat_messages set created_at = $2 where id = $1", id, `${day}T23:30:00Z`));

    test("kb_overview counts the contents of a document", async () => {
      const { id, chunkIds } = await writeDocument(database, {
        source: "handbook/travel.md",
        contents: ["one", "two"],
        meta: { title: "Travel", url: "https://example.com/travel", content_type: "text/markdown" },
        audience: ["team:sales"],
        storagePath: "originals/1/travel.md",
      });
      await run("update kb_chunks set content = 'edited' where id = $1", chunkIds[0]);
      await run("update kb_embeddings set model = 'old' where chunk_id = $1", chunkIds[1]);
      await say("assistant", { cites: [id, id] });
      await say("assistant", { cites: [id, randomUUID()] });
      const [{ created_at, updated_at, ...row }] = await run(`
        select *, chunks::int as chunks, stale_chunks::int as stale_chunks, times_cited::int as times_cited
          from kb_overview`);
      assert.ok(created_at && updated_at);
      assert.deepEqual(row, {
        id,
        collection: "handbook",
        source: "handbook/travel.md",
        title: "Travel",
        name: "test.md",
        status: "ready",
        failure: null,
        failed_at: null,
        enabled: true,
        audience: ["team:sales"],
        language: "english",
        chunks: 2,
        stale_chunks: 1,
        models: ["old", "test"],
        content_type: "text/markdown",
        url: "https://example.com/travel",
        has_original: true,
        times_cited: 2,
      });
    });

    test("a document that no answer quotes has times_cited 0", async () => {
      const quoted = await writeDocument(database, { source: "handbook/quoted.md", contents: ["one"] });
      const found = await writeDocument(database, { source: "handbook/found.md", contents: ["two"] });
      await say("assistant", { cites: [quoted.id] });
      await say("assistant", { cites: [quoted.id, found.id], fromWorker: false });
      const rows = await run(
        "select source, times_cited::int from kb_overview where id in ($1, $2)",
        quoted.id,
        found.id,
      );
      assert.deepEqual(Object.fromEntries(rows.map((row) => [row.source, row.times_cited])), {
        "handbook/quoted.md": 1,
        "handbook/found.md": 0,
      });
    });

    test("latency_ms and refusal are allowed for answers only", async () => {
      await assert.rejects(say("user", { latency: 5 }), /chat_messages_latency_and_refusal_only_on_answers/);
      await assert.rejects(say("user", { refusal: "no_match" }), /chat_messages_latency_and_refusal_only_on_answers/);
      await assert.rejects(say("assistant", { latency: -1 }), /chat_messages_latency_is_0_to_1_hour/);
      await assert.rejects(say("assistant", { refusal: "tired" }), /chat_messages_refusal_valid/);
      const hedge = (/** @type {string} */ role, /** @type {string | null} */ refusal = null) =>
        run(
          "insert into chat_messages (session_id, role, content, refusal, hedged) values ($1, $2, 'text', $3, true)",
          session,
          role,
          refusal,
        );
      await assert.rejects(hedge("user"), /chat_messages_hedged_only_on_answers/);
      await assert.rejects(hedge("assistant", "no_match"), /chat_messages_hedged_only_on_answers/);
      await hedge("assistant");
      await assert.rejects(
        run(
          "insert into chat_messages (session_id, role, content, mode) values ($1, 'user', 'text', 'generated')",
          session,
        ),
        /chat_messages_generated_only_on_answers/,
      );
      for (const [column, value] of [
        ["searched", "'text'"],
        ["truncated", "true"],
      ]) {
        const insert = `insert into chat_messages (session_id, role, content, ${column}) values ($1, 'user', 'text', ${value})`;
        await assert.rejects(run(insert, session), /chat_messages_searched_only_on_answers/);
      }
    });
  });

  describe("kb_health", () => {
    const health = async () => (await run("select kb_health() as health"))[0].health;
    /** The health in two parts: facts about the schema and the installation, and facts about the contents. */
    const healthParts = async () => {
      const { tables, indexes, worker_secret_set, schema_version, vector_version, ...contents } = await health();
      return { schema: { tables, indexes, worker_secret_set, schema_version, vector_version }, contents };
    };
    const EMPTY = {
      access_changes: [],
      internal_exposed: false,
      retention_days: null,
      retention_ran_at: null,
      has_inactive_anonymous_users: false,
      counts: { counted_day: null, recorded_day: null },
      alerts: { url_set: false, measures: [], pg_net: false, checked_at: null, sent: [] },
      visible_documents: 0,
      anonymous_documents: 0,
      documents: { pending: 0, ready: 0, failed: 0 },
      failed: 0,
      pending_older_than_day: 0,
      documents_without_chunks: 0,
      chunks: 0,
      stale_chunks: 0,
      chunks_without_embedding: 0,
      embeddings_by_model: {},
      visibility_mismatches: 0,
      sentences: 0,
      sentences_missing: 0,
      lexeme_mismatch: false,
      audience_claims: [],
      assistants_without_documents: [],
      storage_bytes: 0,
      missing_files: [],
      missing_file_count: 0,
      orphan_files: [],
      orphan_file_count: 0,
      public_bucket: false,
      widening_policies: [],
    };

    before(() => database.exec("delete from internal.chat_daily; delete from internal.chat_alerts"));

    test("kb_health reports no problem in an empty knowledge base", async () => {
      const { schema, contents } = await healthParts();
      assert.match(schema.schema_version, /^\d{14}$/);
      assert.match(schema.vector_version, /^0\.\d+/);
      assert.ok(schema.tables.length > 8 && schema.tables.every((table) => table.rls));
      assert.ok(schema.indexes.length > 10 && schema.indexes.every((index) => index.exists && index.valid));
      assert.deepEqual(contents, EMPTY);
    });

    test("kb_health reports every kind of problem", async () => {
      const { chunkIds, id } = await writeDocument(database, {
        contents: ["one", "two"],
        audience: ["team:sales", "team:it"],
        storagePath: "originals/a/one.md",
      });
      await run("update kb_chunks set content = 'edited' where id = $1", chunkIds[0]);
      await run("update kb_embeddings set model = 'old' where chunk_id = $1", chunkIds[1]);
      await writeDocument(database, { similarities: [null] });
      await writeDocument(database, { similarities: [] });
      const sentence = { start: 0, end: 1, similarity: 0.5 };
      await writeDocument(database, { status: "failed", sentences: [[sentence, sentence, sentence]] });
      const { id: pending } = await writeDocument(database, { status: "pending" });
      const { chunkIds: copies } = await writeDocument(database, { contents: ["copied"] });
      await run("insert into storage.buckets (id, name) values ('avatars', 'avatars')");
      await run(
        `insert into storage.objects (bucket_id, name, metadata) values
           ('kb', 'originals/b/two.md', '{"size": 3000000000}'), ('kb', 'inbox.md', '{"size": 12}'),
           ('kb', 'folder/.keep', null), ('kb', 'odd', '{"size": "large"}'), ('avatars', 'me.png', '{"size": 5}')`,
      );
      await database.exec("update storage.buckets set public = true where id = 'kb'");
      // Without the triggers that would prevent these states.
      await database.exec("alter table kb_documents disable trigger kb_documents_set_updated_at");
      await run("update kb_documents set updated_at = now() - interval '25 hours' where id = $1", pending);
      await database.exec("alter table kb_documents enable trigger kb_documents_set_updated_at");
      await database.exec("alter table kb_embeddings disable trigger kb_embeddings_set_visibility");
      await run("update kb_embeddings set searchable = false where chunk_id = $1", copies[0]);
      await database.exec("alter table kb_embeddings enable trigger kb_embeddings_set_visibility");
      await database.exec("alter table kb_chunks disable trigger kb_chunks_count_deleted_lexemes");
      await run("delete from kb_chunks where id = $1", copies[0]);
      await database.exec("alter table kb_chunks enable trigger kb_chunks_count_deleted_lexemes");
      try {
        assert.deepEqual((await healthParts()).contents, {
          ...EMPTY,
          documents: { pending: 1, ready: 4, failed: 1 },
          failed: 1,
          visible_documents: 4,
          pending_older_than_day: 1,
          documents_without_chunks: 2,
          chunks: 5,
          stale_chunks: 1,
          chunks_without_embedding: 1,
          embeddings_by_model: { old: 1, test: 3 },
          sentences: 3,
          sentences_missing: 4,
          lexeme_mismatch: true,
          audience_claims: ["team:it", "team:sales"],
          storage_bytes: 3_000_000_012,
          missing_files: [id],
          missing_file_count: 1,
          orphan_files: ["originals/b/two.md"],
          orphan_file_count: 1,
          public_bucket: true,
        });
      } finally {
        await database.exec(`
          update storage.buckets set public = false where id = 'kb';
          delete from storage.objects;
          delete from storage.buckets where id = 'avatars';
          truncate kb_documents cascade`);
      }
    });

    /** The health after these statements, which are rolled back. */
    const healthAfter = (...statements) =>
      database.transaction(async (transaction) => {
        for (const statement of statements) await transaction.query(statement);
        const { rows } = await transaction.query("select kb_health() as health");
        await transaction.rollback();
        return rows[0].health;
      });

    test("kb_health names wrong copies, missing indexes and tables without row level security", async () => {
      await writeDocument(database, { contents: ["one"] });
      const sick = await healthAfter(
        "alter table kb_embeddings disable trigger kb_embeddings_set_visibility",
        "update kb_embeddings set audience = '{team:a}'",
        "drop index kb_embeddings_searchable_hnsw",
        "alter table kb_syncs disable row level security",
      );
      assert.equal(sick.visibility_mismatches, 1);
      assert.deepEqual(
        sick.indexes.filter((index) => !index.valid),
        [{ name: "kb_embeddings_searchable_hnsw", table: "kb_embeddings", exists: false, valid: false }],
      );
      assert.deepEqual(sick.access_changes, [
        { kind: "row level security", name: "public.kb_syncs", change: "changed" },
        { kind: "trigger", name: "public.kb_embeddings.kb_embeddings_set_visibility", change: "changed" },
      ]);
      assert.deepEqual(
        sick.tables.filter((table) => !table.rls).map((table) => table.name),
        ["kb_syncs"],
      );
    });

    const accessChanges = {
      "drop policy kb_chunks_read_visible on kb_chunks": [
        ["policy", "kb_chunks_read_visible on public.kb_chunks", "missing"],
      ],
      "create policy open on kb_documents for select to authenticated using (true)": [
        ["policy", "open on public.kb_documents", "added"],
      ],
      "alter policy chat_messages_read_own on chat_messages using (true)": [
        ["policy", "chat_messages_read_own on public.chat_messages", "changed"],
      ],
      "alter policy kb_files_read_visible on storage.objects using (bucket_id = 'kb')": [
        ["policy", "kb_files_read_visible on storage.objects", "changed"],
      ],
      "grant select on kb_chunks to authenticated": [["grants", "public.kb_chunks", "changed"]],
      "grant select (question) on chat_refusals to anon": [["grants", "public.chat_refusals.question", "changed"]],
      "grant select on assistants to anon": [["grants", "public.assistants", "added"]],
      "create policy open on assistants for select to anon using (true)": [
        ["policy", "open on public.assistants", "added"],
      ],
      "grant select on internal.worker_secrets to authenticated": [["grants", "internal.worker_secrets", "added"]],
      "grant execute on function kb_delete_documents(uuid[], boolean) to public": [
        ["grants", "public.kb_delete_documents(ids uuid[], keep_restricted boolean)", "added"],
      ],
      "alter view chat_feedback set (security_invoker = false)": [["view", "public.chat_feedback", "changed"]],
      "alter function internal.chat_documents(uuid[]) owner to current_user": [
        ["function", "internal.chat_documents(ids uuid[])", "changed"],
        ["grants", "internal.chat_documents(ids uuid[])", "changed"],
      ],
      "create or replace function internal.chat_link_mode(collection text) returns text language sql as 'select ''public'''":
        [["function", "internal.chat_link_mode(collection text)", "changed"]],
      "create function internal.door() returns integer language sql as 'select 1'": [
        ["function", "internal.door()", "added"],
        ["grants", "internal.door()", "added"],
      ],
      "grant evidence_chat to authenticated": [["role", "authenticated", "changed"]],
      "alter table chat_refusals disable trigger chat_refusals_prepare": [
        ["trigger", "public.chat_refusals.chat_refusals_prepare", "changed"],
      ],
      "create trigger mine after insert on kb_documents for each row execute function internal.set_updated_at()": [],
      "update internal.expected_access set definition = 'by another version' where kind in ('server', 'query')": [],
      "update internal.expected_access set definition = 'another' where kind = 'query' and name = 'public.kb_overview'":
        [["query", "public.kb_overview", "changed"]],
      "create function public.kb_of_the_owner() returns integer language sql as 'select 1'": [],
      "create table public.orders (id integer)": [],
    };
    test("access_changes is empty after a restore, which recreates views from their printed definitions", async () => {
      await database.transaction(async (transaction) => {
        await transaction.query("set local search_path = ''");
        const { rows } = await transaction.query(
          `select oid::regclass as name, pg_get_viewdef(oid) as query from pg_class
             where relkind = 'v' and relnamespace = 'public'::regnamespace`,
        );
        for (const { name, query } of rows) {
          await transaction.query(`create or replace view ${name} with (security_invoker = true) as ${query}`);
        }
        const { rows: health } = await transaction.query("select internal.kb_health_access() as changes");
        assert.deepEqual(health[0].changes, []);
        await transaction.rollback();
      });
    });

    test("access_changes covers every table, view and function of the product", async () => {
      const { rows: missing } = await database.transaction(async (transaction) => {
        // As for access_snapshot, so that types have their schema.
        await transaction.query("set local search_path = ''");
        return transaction.query(`
        select c.relname as name from pg_class c
          where c.relnamespace in ('public'::regnamespace, 'internal'::regnamespace) and c.relkind in ('r', 'p', 'v', 'm')
            and not exists (
              select from internal.expected_access e
                where e.kind in ('row level security', 'view') and e.name = format('%s.%s', c.relnamespace::regnamespace, c.relname)
            )
        union all
        select p.proname from pg_proc p
          where p.pronamespace in ('public'::regnamespace, 'internal'::regnamespace)
            and not exists (
              select from internal.expected_access e
                where e.kind = 'function' and e.name
                  = format('%s.%s(%s)', p.pronamespace::regnamespace, p.proname, pg_get_function_identity_arguments(p.oid))
            )`);
      });
      assert.deepEqual(missing, []);
    });

    for (const [statement, expected] of Object.entries(accessChanges)) {
      const verb = expected.length > 0 ? "reports" : "ignores";
      test(`access_changes ${verb} "${statement}"`, async () => {
        const { access_changes: changes } = await healthAfter(statement);
        assert.deepEqual(
          changes.map(({ kind, name, change }) => [kind, name, change]),
          expected,
        );
      });
    }

    test("kb_health reports whether the Worker's secret is set and when chat_retain last ran", async () => {
      const health = await healthAfter(
        `select chat_set_worker_secret(repeat('0', 64))`,
        "update chat_settings set retention_days = 30",
        "select chat_retain()",
      );
      assert.equal(health.worker_secret_set, true);
      assert.equal((await healthAfter("delete from internal.worker_secrets")).worker_secret_set, false);
      assert.equal(health.retention_days, 30);
      assert.ok(Math.abs(Date.parse(health.retention_ran_at) - Date.now()) < 60_000);
    });

    test("kb_health counts the documents that anonymous visitors can see", async () => {
      for (const audience of [
        null,
        ["is_anonymous:true"],
        ["team:sales", "role:authenticated"],
        ["iss:https://a.example"],
      ]) {
        await writeDocument(database, { audience });
      }
      await writeDocument(database, { audience: ["is_anonymous:false"] });
      await writeDocument(database, { audience: ["aal:aal2", "team:sales"] });
      await writeDocument(database, { audience: ["is_anonymous:true"], enabled: false });
      const counts = async (/** @type {string[]} */ ...statements) => {
        const { visible_documents, anonymous_documents } = await healthAfter(...statements);
        return [visible_documents, anonymous_documents];
      };
      assert.deepEqual(await counts(), [6, 3]);
      assert.deepEqual(await counts("update chat_settings set default_audience = '{role:authenticated}'"), [6, 4]);
      assert.deepEqual(await counts("delete from chat_settings"), [6, 3]);
    });

    test("kb_health names the policies that could open the bucket, and no others", async () => {
      const policy = (name, to, using) =>
        `create policy ${name} on storage.objects for select to ${to} using (${using})`;
      const { widening_policies: widening } = await healthAfter(
        policy("everything", "public", "true"),
        policy("this_bucket", "authenticated", "bucket_id = 'kb'"),
        policy("either", "authenticated", "bucket_id = 'avatars' or name like 'a%'"),
        policy("other_bucket", "authenticated", "bucket_id = 'avatars' and name like 'a%'"),
        policy("only_that", "anon", "bucket_id = 'kb-public'"),
        policy("service", "service_role", "true"),
        "create policy uploads on storage.objects for insert to authenticated with check (bucket_id = 'avatars')",
        "create policy all_uploads on storage.objects for insert to authenticated with check (name like '%.pdf')",
      );
      assert.deepEqual(widening, ["all_uploads", "either", "everything", "this_bucket"]);
    });
  });
}
