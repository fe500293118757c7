import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { assertDenied } from "../support/assert-denied.mjs";
import { clearKnowledgeBase, embeddingWithSimilarity, QUERY, writeDocument } from "../support/knowledge-base.mjs";
import { WORKER } from "../support/client.mjs";
import { as, user } from "../support/roles.mjs";

const TABLES = { kb_documents: "id", kb_chunks: "id", kb_embeddings: "chunk_id" };
/** Tables of the knowledge base that only match_chunks reads on behalf of users. */
const INNER_TABLES = ["kb_sentences", "kb_lexemes"];
const CHANGES = { kb_documents: { name: "changed" }, kb_chunks: { content: "changed" }, kb_embeddings: { model: "x" } };

/** Access of each role to the knowledge base. */
export function kbAccess({ database, anon, alice, bob, service, signUp }) {
  const documents = {};

  before(async () => {
    documents.visible = await writeDocument(database);
    documents.disabled = await writeDocument(database, { enabled: false });
    documents.pending = await writeDocument(database, { status: "pending" });
    documents.failed = await writeDocument(database, { status: "failed" });
  });
  after(() => clearKnowledgeBase(database));

  for (const [table, key] of Object.entries(TABLES)) {
    test(`anon may not read ${table}`, async () => assertDenied(await anon.select(table), 401, table));

    test(`a user may not read ${table}`, async () => assertDenied(await alice.select(table), 403, table));

    test(`evidence_chat sees only rows of ready and enabled documents in ${table} when it acts for a user`, async () => {
      const rows = await as(database, { ...user(alice.id), role: "evidence_chat" }, async (transaction) => {
        return (await transaction.query(`select ${key} as id from ${table}`)).rows;
      });
      const expected = table === "kb_documents" ? [documents.visible.id] : documents.visible.chunkIds;
      assert.deepEqual(
        rows.map(({ id }) => id),
        expected,
      );
    });

    test(`the service role sees all of ${table}`, async () => {
      const { body } = await service.select(table);
      assert.equal(body.length, Object.keys(documents).length);
    });

    for (const [role, client] of Object.entries({ anon, user: alice })) {
      test(`${role} cannot change or delete rows of ${table}`, async () => {
        const before = (await service.select(table, `order=${key}`)).body;
        const filter = `${key}=not.is.null`;
        const status = client === anon ? 401 : 403;
        assertDenied(await client.update(table, filter, CHANGES[table]), status, table);
        assertDenied(await client.remove(table, filter), status, table);
        assert.deepEqual((await service.select(table, `order=${key}`)).body, before);
      });
    }
  }

  for (const table of INNER_TABLES) {
    test(`anon and users can neither read nor write ${table}`, async () => {
      for (const [client, status] of [
        [anon, 401],
        [alice, 403],
      ]) {
        const key = table === "kb_lexemes" ? "chunks" : "ordinal";
        assertDenied(await client.select(table), status, table);
        assertDenied(await client.insert(table, { [key]: 1 }), status, table);
        assertDenied(await client.update(table, `${key}=gte.0`, { [key]: 1 }), status, table);
        assertDenied(await client.remove(table, `${key}=gte.0`), status, table);
      }
    });
  }

  test("not even the service role writes kb_lexemes, but it reads them", async () => {
    assertDenied(await service.update("kb_lexemes", "chunks=gte.0", { chunks: 7 }), 403, "kb_lexemes");
    assert.ok((await service.select("kb_lexemes")).body.length > 0);
  });

  test("anon and users cannot insert documents, chunks or embeddings", async () => {
    const { id, chunkIds } = await writeDocument(database, { status: "pending", similarities: [null] });
    const rows = {
      kb_documents: { source: "intruder.md", name: "intruder.md" },
      kb_chunks: { document_id: id, ordinal: 7, content: "intruder" },
      kb_embeddings: { chunk_id: chunkIds[0], embedding: embeddingWithSimilarity(1), model: "test" },
    };
    for (const client of [anon, alice]) {
      for (const [table, row] of Object.entries(rows)) {
        assertDenied(await client.insert(table, row), client === anon ? 401 : 403, table);
      }
    }
    await service.remove("kb_documents", `id=eq.${id}`);
  });

  test("the service role writes documents, and an update sets updated_at", async () => {
    const created = await service.insert("kb_documents", { source: "a.md", name: "a.md" });
    assert.equal(created.status, 201);
    const [document] = created.body;
    assert.equal(document.status, "pending");
    assert.equal(document.enabled, true);

    const { body } = await service.update("kb_documents", `id=eq.${document.id}`, { enabled: false });
    assert.ok(Date.parse(body[0].updated_at) > Date.parse(document.updated_at));
    assert.equal((await service.remove("kb_documents", `id=eq.${document.id}`)).body.length, 1);
  });

  test("an update of an embedding does not lock its document, which others lock before their embeddings", async () => {
    const { id, chunkIds } = await writeDocument(database);
    const documentLocks = (statement, parameters) =>
      database.transaction(async (transaction) => {
        await transaction.query(statement, parameters);
        const { rows } = await transaction.query(
          "select mode from pg_locks where relation = 'kb_documents'::regclass and mode = 'RowShareLock'",
        );
        await transaction.rollback();
        return rows.length;
      });
    assert.equal(await documentLocks("update kb_embeddings set model = 'new' where chunk_id = $1", chunkIds), 0);
    await database.query("delete from kb_embeddings where chunk_id = $1", chunkIds);
    const insert = "insert into kb_embeddings (chunk_id, embedding, model) values ($1, $2, 'test')";
    assert.equal(await documentLocks(insert, [...chunkIds, embeddingWithSimilarity(1)]), 1);
    await service.remove("kb_documents", `id=eq.${id}`);
  });

  test("searchable follows the document and overrides written values", async () => {
    const { id, chunkIds } = await writeDocument(database, { enabled: false });
    const embedding = `chunk_id=eq.${chunkIds[0]}`;
    const searchable = async () =>
      (await service.select("kb_embeddings", `select=searchable&${embedding}`)).body[0].searchable;
    await service.update("kb_embeddings", embedding, { searchable: true });
    assert.equal(await searchable(), false);
    await service.update("kb_documents", `id=eq.${id}`, { enabled: true });
    assert.equal(await searchable(), true);
    await service.update("kb_documents", `id=eq.${id}`, { status: "failed" });
    assert.equal(await searchable(), false);
    await service.remove("kb_documents", `id=eq.${id}`);
  });

  test("deleting a document deletes its chunks and embeddings", async () => {
    const { id, chunkIds } = await writeDocument(database);
    await service.remove("kb_documents", `id=eq.${id}`);
    assert.deepEqual((await service.select("kb_chunks", `document_id=eq.${id}`)).body, []);
    assert.deepEqual((await service.select("kb_embeddings", `chunk_id=eq.${chunkIds[0]}`)).body, []);
  });

  test("every table of the public schema has row level security", async () => {
    const { rows } = await database.query(
      "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and not relrowsecurity",
    );
    assert.deepEqual(rows, []);
  });

  test("anon may call only chat_config, and users only the functions that they need", async () => {
    const callable = async (role) => {
      const { rows } = await database.query(
        `select proname from pg_proc
          where pronamespace = 'public'::regnamespace and has_function_privilege($1, oid, 'execute') order by proname`,
        [role],
      );
      return rows.map(({ proname }) => proname);
    };
    assert.deepEqual(await callable("anon"), ["chat_config"]);
    assert.deepEqual(await callable("authenticated"), [
      "chat_add_assistant",
      "chat_config",
      "chat_count_citation_use",
      "chat_delete_assistant",
      "chat_delete_user_data",
      "chat_documents",
      "chat_give_feedback",
      "chat_has_documents",
      "chat_insights",
      "chat_insights_assistants",
      "chat_insights_changes",
      "chat_insights_comments",
      "chat_insights_days",
      "chat_insights_documents",
      "chat_insights_gaps",
      "chat_insights_health",
      "chat_insights_uncited",
      "chat_read_settings",
      "chat_record_refusal",
      "chat_record_turn",
      "chat_update_assistant",
      "chat_update_settings",
      "match_chunks",
    ]);
  });

  test("evidence_chat owns no table, bypasses no policy and cannot log in", async () => {
    const { rows } = await database.query(`
      select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,
          exists (select from pg_class c where c.relowner = r.oid) as owns_tables,
          array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid) as member_of,
          array(
            select m.member::regrole::text from pg_auth_members m
              where m.roleid = r.oid and m.member::regrole::text in ('anon', 'authenticated', 'service_role')
          ) as members
        from pg_roles r where rolname = 'evidence_chat'`);
    assert.deepEqual(rows, [
      {
        rolsuper: false,
        rolbypassrls: false,
        rolcanlogin: false,
        rolcreaterole: false,
        rolcreatedb: false,
        owns_tables: false,
        member_of: [],
        members: [],
      },
    ]);
  });

  test("every function that runs as evidence_chat has a fixed search path and stays out of the API", async () => {
    const { rows } = await database.query(`
      select p.oid::regprocedure::text as name, p.prosecdef, n.nspname, p.proconfig::text
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where p.proowner = 'evidence_chat'::regrole`);
    assert.ok(rows.length >= 7);
    for (const { name, prosecdef, nspname, proconfig } of rows) {
      assert.deepEqual([prosecdef, nspname], [true, "internal"], name);
      assert.match(proconfig, /search_path=/, name);
    }
  });

  test("kb_health reports when the schema internal is exposed", async () => {
    for (const { schemas, expected } of [
      { schemas: "public, internal", expected: true },
      { schemas: "internal", expected: true },
      { schemas: "public, graphql_public", expected: false },
      { schemas: "public, internal_tools", expected: false },
    ]) {
      const exposed = await database.transaction(async (transaction) => {
        // Only a superuser may set it; hosted Supabase does so.
        await transaction.query("create role of_the_api");
        await transaction.query(`alter role of_the_api set pgrst.db_schemas = '${schemas}'`);
        const { rows } = await transaction.query("select kb_health() as health");
        await transaction.rollback();
        return rows[0].health.internal_exposed;
      });
      assert.equal(exposed, expected, schemas);
    }
  });

  test("a user may search 60 times a minute directly, and without limit through the Worker", async () => {
    await database.exec("delete from internal.usage");
    const search = (client, headers) => client.directRpc("match_chunks", { query_embedding: QUERY }, headers);
    const statuses = async (count, ...parameters) => {
      const all = [];
      for (let turn = 0; turn < count; turn++) all.push((await search(...parameters)).status);
      return all;
    };
    assert.deepEqual(await statuses(70, alice, WORKER), Array(70).fill(200));
    assert.deepEqual(await statuses(60, alice), Array(60).fill(200));
    for (const headers of [{}, { "x-evidence-chat-worker": `${WORKER["x-evidence-chat-worker"]}x` }]) {
      const { status, body } = await search(alice, headers);
      assert.deepEqual([status, body.code], [429, "PT429"]);
      assert.ok(Number(body.details) >= 1 && Number(body.details) <= 60, body.details);
    }
    assert.equal((await search(bob)).status, 200, "a search of another user");
    assert.equal((await search(service)).status, 200);
    assert.equal((await search(alice, WORKER)).status, 200);
    await database.exec("update internal.usage set period_start = now() - interval '1 minute'");
    assert.equal((await search(alice)).status, 200, "a minute later");
    await database.exec("delete from internal.usage");
  });

  test("a search whose request fails counts too, because its error can reveal what it found", async () => {
    const { directRpc, request } = await signUp("fails@example.com", {});
    const fail = () => request("POST", "/rest/v1/rpc/match_chunks?select=content::int", { query_embedding: QUERY });
    assert.match((await fail()).body.message, /invalid input syntax for type integer: "test\.md h 0"/);
    // At most 120 in each of two minutes.
    let last = await fail();
    for (let attempt = 2; attempt <= 240 && last.status === 400; attempt++) last = await fail();
    assert.deepEqual([last.status, last.body.code], [429, "PT429"]);
    assert.equal((await directRpc("match_chunks", { query_embedding: QUERY }, WORKER)).status, 200);
    await database.exec(`select setval(oid, 1) from pg_class where relkind = 'S' and relname like 'search_attempts_%'`);
    assert.equal((await directRpc("match_chunks", { query_embedding: QUERY })).status, 200, "a minute later");
  });

  test("a token without a user searches only through the Worker", async () => {
    const nobody = await signUp("nobody@example.com", { sub: undefined });
    const { status, body } = await nobody.directRpc("match_chunks", { query_embedding: QUERY });
    assert.deepEqual([status, body.code], [403, "42501"], body.message);
  });

  test("chat_documents returns visible documents, with their file only if links are on", async () => {
    const all = Object.values(documents).map(({ id }) => id);
    await service.update("kb_documents", `id=eq.${documents.visible.id}`, { storage_path: "a/visible.md" });
    for (const { mode, path } of [
      { mode: "none", path: null },
      { mode: "authenticated", path: "a/visible.md" },
      { mode: "public", path: "a/visible.md" },
    ]) {
      await service.update("assistants", "name=eq.default", { link_mode: mode });
      const { body } = await alice.rpc("chat_documents", { ids: all });
      assert.deepEqual(body, [{ id: documents.visible.id, name: "test.md", storage_path: path, link_mode: mode }]);
    }
    await service.update("assistants", "name=eq.default", { link_mode: "none" });
    const ids = Array.from({ length: 500 }, () => randomUUID());
    assert.deepEqual((await alice.rpc("chat_documents", { ids })).body, []);
    assert.equal((await alice.rpc("chat_documents", { ids: [...ids, randomUUID()] })).status, 400);
  });
}
