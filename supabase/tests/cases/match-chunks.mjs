import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, QUERY, writeDocument } from "../support/knowledge-base.mjs";

/** Search results on a knowledge base whose results are all known. */
export function matchChunks({ database, anon, alice, service }) {
  let visible;

  before(async () => {
    visible = await writeDocument(database, {
      name: "visible.md",
      meta: { title: "Visible", audience: ["team:board-takeover"] },
      similarities: [0.2, 0.9, 0.36, 0.6, 0.5, 0.4],
    });
    await writeDocument(database, { name: "disabled.md", enabled: false, similarities: [0.99] });
    await writeDocument(database, { name: "pending.md", status: "pending", similarities: [0.98] });
    await writeDocument(database, { name: "failed.md", status: "failed", similarities: [0.97] });
  });
  after(() => clearKnowledgeBase(database));

  const search = async (client, parameters = {}) => {
    const { status, body } = await client.rpc("match_chunks", { query_embedding: QUERY, ...parameters });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const ordinals = (rows) => rows.map((row) => row.ordinal);

  test("the most similar chunks come first, with everything a citation needs and no audience", async () => {
    const rows = await search(alice);
    assert.deepEqual(ordinals(rows), [1, 3, 4, 5, 2]);
    const [{ similarity, ...best }] = rows;
    assert.ok(Math.abs(similarity - 0.9) < 1e-6);
    assert.deepEqual(best, {
      chunk_id: visible.chunkIds[1],
      document_id: visible.id,
      document_name: "visible.md",
      document_meta: { title: "Visible" },
      ordinal: 1,
      content: "visible.md h 1",
      meta: {},
      model: "test",
      lexical: null,
      heading: null,
      score: similarity,
      sentences: [],
      blocks: null,
      parts: [],
      query_terms: null,
    });
  });

  test("chunks of disabled, pending and failed documents never appear, not even for the service role", async () => {
    for (const client of [alice, service]) {
      const rows = await search(client, { match_count: 100, match_threshold: -1 });
      assert.deepEqual(new Set(rows.map((row) => row.document_id)), new Set([visible.id]));
      assert.equal(rows.length, 6);
    }
  });

  test("disabling a document takes effect on the next search", async () => {
    await service.update("kb_documents", `id=eq.${visible.id}`, { enabled: false });
    assert.deepEqual(await search(alice), []);
    await service.update("kb_documents", `id=eq.${visible.id}`, { enabled: true });
    assert.equal((await search(alice)).length, 5);
  });

  test("match_count limits the number of rows", async () => {
    assert.deepEqual(ordinals(await search(alice, { match_count: 2 })), [1, 3]);
  });

  test("a chunk exactly at the threshold is returned, one just below is not", async () => {
    const { similarity } = (await search(alice, { match_threshold: 0 })).find((row) => row.ordinal === 3);
    assert.deepEqual(ordinals(await search(alice, { match_threshold: similarity })), [1, 3]);
    assert.deepEqual(ordinals(await search(alice, { match_threshold: similarity + Number.EPSILON })), [1]);
  });

  test("the threshold defaults to 0.35", async () => {
    assert.deepEqual(ordinals(await search(alice, { match_count: 100 })).includes(0), false);
    assert.deepEqual(ordinals(await search(alice, { match_count: 100, match_threshold: 0 })).at(-1), 0);
  });

  test("anon may not search", async () => {
    const { status, body } = await anon.rpc("match_chunks", { query_embedding: QUERY });
    assert.equal(status, 401);
    assert.equal(body.code, "42501");
  });

  /** @type {[parameters: object, message: RegExp][]} */
  const invalid = [
    [{ match_count: 0 }, /match_count must be between 1 and 100, got 0/],
    [{ match_count: 101 }, /match_count must be between 1 and 100, got 101/],
    [{ match_count: null }, /match_count must be between 1 and 100, got null/],
    [{ match_threshold: 1.5 }, /match_threshold must be between -1 and 1, got 1.5/],
    [{ match_threshold: null }, /match_threshold must be between -1 and 1, got null/],
    [{ query_embedding: "[1,2,3]" }, /query_embedding must have 384 dimensions, got 3/],
    [{ query_embedding: null }, /query_embedding must have 384 dimensions, got null/],
    [{ query_embedding: JSON.stringify(Array(384).fill(0)) }, /query_embedding must not be all zeros/],
  ];
  for (const [parameters, message] of invalid) {
    test(`an invalid ${JSON.stringify(parameters)} is explained`, async () => {
      for (const query_text of [null, "visible"]) {
        const { status, body } = await alice.rpc("match_chunks", { query_embedding: QUERY, query_text, ...parameters });
        assert.ok(status >= 400, String(status));
        assert.match(body.message, message);
      }
    });
  }
}
