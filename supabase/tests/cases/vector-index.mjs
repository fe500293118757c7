import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, lexemeCounts, QUERY, writeDocument, writeManyChunks } from "../support/knowledge-base.mjs";
import { as, user } from "../support/roles.mjs";

const CLOSE_CHUNKS = 2100;

/** Search through the indexes, with more vectors than match_chunks compares one by one. */
export function vectorIndex({ database }) {
  const alice = user(randomUUID());
  let close;
  let far;

  before(async () => {
    close = await writeManyChunks(database, CLOSE_CHUNKS);
    far = await writeDocument(database, { similarities: [0.3, 0.7, 0.6, 0.5, 0.4] });
    await database.exec("analyze kb_documents, kb_chunks, kb_embeddings");
  });
  after(() => clearKnowledgeBase(database));

  const HNSW = "kb_embeddings_searchable_hnsw";
  const GIN = "kb_chunks_searchable_fts";
  const indexScans = async (index = HNSW) => {
    await database.query("select pg_stat_force_next_flush()");
    const { rows } = await database.query("select idx_scan from pg_stat_user_indexes where indexrelname = $1", [index]);
    return Number(rows[0].idx_scan);
  };
  /**
   * The rows that a user finds.
   * @param {{ query_text?: string, match_count?: number, match_threshold?: number }} [parameters]
   */
  const search = (parameters = {}, who = alice) => {
    const all = Object.entries({ query_embedding: QUERY, ...parameters });
    const list = all.map(([name], index) => `${name} => $${index + 1}`).join(", ");
    return as(database, who, async (transaction) => {
      const values = all.map(([, value]) => value);
      return (await transaction.query(`select * from match_chunks(${list})`, values)).rows;
    });
  };
  const setDefaultAudience = (entry) =>
    database.query("update chat_settings set default_audience = array[$1]", [entry]);

  // The index's own scan counter shows that these calls did or did not use it. It does not show that every table size
  // and every statistic leads to the same plan.
  test("match_chunks reads the HNSW index", async () => {
    const before = await indexScans();
    const rows = await search();
    assert.ok(rows.length > 0 && rows.every((row) => row.document_id === close));
    assert.ok((await indexScans()) > before);
  });

  test("match_chunks with query_text reads the HNSW and the GIN index, also in a session that has planned before", async () => {
    for (let call = 0; call < 7; call++) {
      const before = [await indexScans(HNSW), await indexScans(GIN)];
      const rows = await search({ query_text: "chunk 1234", match_count: 5 });
      assert.equal(rows[0].content, "chunk 1234");
      assert.ok((await indexScans(HNSW)) > before[0], "HNSW");
      assert.ok((await indexScans(GIN)) > before[1], "GIN");
    }
  });

  test("an anonymous visitor outside the default audience causes no scan of the HNSW and GIN indexes", async () => {
    const visitor = user(randomUUID(), { is_anonymous: true });
    const scans = async () => [await indexScans(HNSW), await indexScans(GIN)];
    const find = () => search({ query_text: "chunk 1234" }, visitor);
    const before = await scans();
    assert.deepEqual(await find(), []);
    assert.deepEqual(await scans(), before);
    await setDefaultAudience("role:authenticated");
    try {
      assert.equal((await find())[0].content, "chunk 1234");
      for (const [index, count] of (await scans()).entries()) assert.ok(count > before[index]);
    } finally {
      await setDefaultAudience("is_anonymous:false");
    }
  });

  test("hundreds of nearest chunks that are deleted and not vacuumed yet hide no others", async () => {
    const nearest = await writeManyChunks(database, 300, { distance: 0.01 });
    const find = async () => (await search({ match_count: 100 })).map((row) => row.document_id);
    // The first chunk of the other document has exactly the vector of the question.
    assert.equal((await find()).filter((id) => id === nearest).length, 99);
    await database.query("delete from kb_documents where id = $1", [nearest]);
    const found = await find();
    assert.equal(found.length, 100);
    assert.deepEqual(new Set(found), new Set([close]));
  });

  test("after thousands of closer chunks are disabled, all the others are found", async () => {
    await database.query("update kb_documents set enabled = false where id = $1", [close]);
    const before = await indexScans();
    const rows = await search({ match_count: 5, match_threshold: 0 });
    assert.equal(await indexScans(), before);
    assert.deepEqual(
      rows.map((row) => row.ordinal),
      [1, 2, 3, 4, 0],
    );
    assert.ok(rows.every((row) => row.document_id === far.id));
  });

  test("the words of disabled chunks are gone from the counts", async () => {
    const rows = await search({ query_text: "chunk 1234", match_count: 100, match_threshold: -1 });
    assert.equal(rows.length, 5);
    assert.ok(rows.every((row) => row.document_id === far.id && row.lexical === 0));
    const { kept, counted } = await lexemeCounts(database);
    assert.deepEqual(kept, counted);
  });
}
