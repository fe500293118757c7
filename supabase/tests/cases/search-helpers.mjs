import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, QUERY, writeDocument } from "../support/knowledge-base.mjs";

/** The helpers of match_chunks, which only match_chunks may call. */
export function searchHelpers({ database, anon, alice, service }) {
  before(() => writeDocument(database));
  after(() => clearKnowledgeBase(database));

  const functions = async (condition) =>
    (
      await database.query(`
        select p.proname from pg_proc p
          where p.pronamespace = 'internal'::regnamespace and ${condition} order by p.proname`)
    ).rows.map((row) => row.proname);

  test("no search helper can be called through the API", async () => {
    const names = await functions("true");
    assert.ok(names.length > 0);
    const parameters = { query_text: "test", nearest: [], query_embedding: QUERY, max_count: 5, chunk_ids: [] };
    for (const client of [anon, alice, service]) {
      for (const name of names) {
        for (const schema of [undefined, "internal"]) {
          for (const path of [name, `internal.${name}`]) {
            const headers = schema ? { "content-profile": schema, "accept-profile": schema } : {};
            const { status } = await client.request("POST", `/rest/v1/rpc/${path}`, parameters, headers);
            assert.ok(status >= 400, `${name} answered ${status}`);
          }
        }
      }
    }
  });

  test("anon may not use the schema internal", async () => {
    const { rows } = await database.query(
      `select has_schema_privilege('anon', 'internal', 'usage') as usage,
              has_schema_privilege('authenticated', 'internal', 'create') as create`,
    );
    assert.deepEqual(rows, [{ usage: false, create: false }]);
    assert.deepEqual(await functions("has_function_privilege('anon', p.oid, 'execute')"), []);
  });

  test("users may execute helpers that only read, and those that write for them within limits or for administrators", async () => {
    assert.deepEqual(
      await functions("has_function_privilege('authenticated', p.oid, 'execute') and p.provolatile = 'v'"),
      [
        "chat_add_assistant",
        "chat_count_citation_use",
        "chat_delete_assistant",
        "chat_delete_user_data",
        "chat_give_feedback",
        "chat_record_refusal",
        "chat_record_turn",
        "chat_update_assistant",
        "chat_update_settings",
        "limit_concurrency",
        "limit_searches",
      ],
    );
  });

  test("users may execute no helper that reads more than they can see", async () => {
    const names = await functions("has_function_privilege('authenticated', p.oid, 'execute')");
    assert.deepEqual(
      names.filter((name) => /^kb_(nearest|search_words|sentences|part|read)/.test(name)),
      [],
    );
  });

  test("every function with the owner's rights fixes its search path", async () => {
    const { rows } = await database.query(`
      select p.proname from pg_proc p
        where p.pronamespace in ('internal'::regnamespace, 'public'::regnamespace) and p.prosecdef
          and not 'search_path=""' = any (coalesce(p.proconfig, '{}'))`);
    assert.deepEqual(rows, []);
  });

  test("helpers return no sentences of a disabled document", async () => {
    const content = "A hidden sentence.";
    const sentences = [[{ start: 0, end: content.length, similarity: 0.9 }]];
    const { chunkIds } = await writeDocument(database, { enabled: false, contents: [content], sentences });
    const { rows } = await database.query("select * from internal.kb_chunk_sentences($1, $2, null, true)", [
      chunkIds,
      QUERY,
    ]);
    assert.deepEqual(rows, []);
  });

  test("every helper has a comment", async () => {
    assert.deepEqual(await functions("obj_description(p.oid, 'pg_proc') is null"), []);
  });
}
