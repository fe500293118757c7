import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, test } from "node:test";
import { clearKnowledgeBase, QUERY, writeDocument, writeManyChunks } from "../support/knowledge-base.mjs";
import { as, user } from "../support/roles.mjs";

const SALES = ["team:sales"];
const INDEX = "kb_embeddings_restricted_hnsw";

/** Audiences and assistants with more vectors than a search compares one by one. */
export function manyPassages({ database }) {
  afterEach(() => clearKnowledgeBase(database));

  const inTeam = (team) => user(randomUUID(), { app_metadata: { team } });
  const inSales = inTeam("sales");
  const inIt = inTeam("it");
  /**
   * The rows that a user gets.
   * @param {import("../support/roles.mjs").Caller} who
   * @param {string} sql
   * @param {...unknown} parameters
   */
  const rowsFor = (who, sql, ...parameters) =>
    as(database, who, async (transaction) => (await transaction.query(sql, parameters)).rows);

  test("restricted chunks are found through the vector index when there are too many to compare one by one", async () => {
    const found = async (who, text) => {
      const rows = await rowsFor(who, "select content from match_chunks($1, 5, -1, $2)", QUERY, text);
      return rows.map((row) => row.content);
    };
    await writeManyChunks(database, 2100, { audience: SALES });
    await writeDocument(database, {
      contents: ["for everybody"],
      similarities: [0.5],
      sentences: [[{ start: 0, end: 3, similarity: 0.5 }]],
    });
    const [nearest] = (
      await database.query(
        "select content from kb_chunks c join kb_embeddings e on e.chunk_id = c.id order by e.embedding operator(extensions.<=>) $1 limit 1",
        [QUERY],
      )
    ).rows;
    const scans = async () => {
      await database.query("select pg_stat_force_next_flush()");
      const { rows } = await database.query("select idx_scan from pg_stat_user_indexes where indexrelname = $1", [
        INDEX,
      ]);
      return Number(rows[0].idx_scan);
    };
    const before = await scans();
    assert.equal((await found(inSales, null))[0], nearest.content);
    assert.ok((await scans()) > before);
    assert.deepEqual(await found(inIt, null), ["for everybody"]);
    assert.equal((await found(inSales, "chunk 1234"))[0], "chunk 1234");

    // Another team has so many more that the index would visit mostly theirs. It is built from all rows, which takes less time.
    const { rows } = await database.query("select pg_get_indexdef($1::regclass) as definition", [INDEX]);
    await database.exec(`drop index ${INDEX}`);
    await writeManyChunks(database, 6500, { audience: ["team:legal"] });
    await database.exec(`${rows[0].definition}; analyze kb_embeddings`);
    const rebuilt = await scans();
    assert.equal((await found(inSales, null))[0], nearest.content);
    assert.equal((await found(inSales, "chunk 1234"))[0], "chunk 1234");
    assert.equal(await scans(), rebuilt);
  });

  // The vectors of `large` are nearer to the question than those of `small`, which has 1 % of all, and whose words are common in
  // `large`. An index scan that filters its first results would find none of them.
  test("with 1 % of the documents in its collections, an assistant finds the same as a scan of all of them", async () => {
    const chunks = `
      with document as (
        insert into kb_documents (source, name, status) values ($1, 'many', 'ready') returning id
      ), chunk as (
        insert into kb_chunks (document_id, ordinal, content)
          select d.id, n, 'A lamp ' || n from document d, generate_series(1, $2::int) n returning id, ordinal
      )
      insert into kb_embeddings (chunk_id, embedding, model)
        select id, array_cat(array[$3::float8], (
            select array_agg(sin(ordinal * 0.37 * axis + $3) * 0.1) from generate_series(1, 383) axis
          ))::extensions.vector, 'test' from chunk`;
    await database.query(chunks, ["large/a.md", 3000, 3]);
    await database.query(chunks, ["small/a.md", 30, 1]);
    await database.exec(`
      analyze kb_documents, kb_chunks, kb_embeddings;
      insert into assistants (name, collections) values ('small', '{small}'), ('large', '{large}')`);
    try {
      for (const words of [null, "a lamp"]) {
        const rows = await rowsFor(
          inIt,
          "select document_name, content from match_chunks($1, 10, -1, $2, 'small')",
          QUERY,
          words,
        );
        assert.equal(rows.length, 10);
      }
      const rows = await rowsFor(inIt, "select content from match_chunks($1, 10, -1, null, 'small')", QUERY);
      const exact = await database.query(
        `select c.content from kb_embeddings e join kb_chunks c on c.id = e.chunk_id where c.collection = 'small'
           order by e.embedding operator(extensions.<=>) $1 limit 10`,
        [QUERY],
      );
      assert.deepEqual(rows, exact.rows);
      const large = await rowsFor(inIt, "select content from match_chunks($1, 100, -1, 'lamp 30', 'large')", QUERY);
      assert.equal(large.length, 100);
      const words = await rowsFor(inIt, "select content from match_chunks($1, 1, -1, 'lamp 30', 'small')", QUERY);
      assert.deepEqual(words, [{ content: "A lamp 30" }]);
    } finally {
      await database.exec(`
        delete from kb_documents where name = 'many';
        delete from assistants where name in ('small', 'large')`);
    }
  });
}
