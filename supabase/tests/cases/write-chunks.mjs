import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, test } from "node:test";
import {
  clearKnowledgeBase,
  embeddingWithSimilarity,
  lexemeCounts,
  QUERY,
  writeDocument,
} from "../support/knowledge-base.mjs";

/** kb_write_chunks: chunks with their vectors and sentences, in one call. */
export function writeChunks({ database }) {
  afterEach(() => clearKnowledgeBase(database));

  const write = (chunks) => database.query("select kb_write_chunks($1)", [JSON.stringify(chunks)]);
  const pending = async () => (await writeDocument(database, { status: "pending", similarities: [] })).id;
  const chunk = (documentId, changes = {}) => ({
    id: randomUUID(),
    document_id: documentId,
    content: "Tea is hot. Milk is cold.",
    embedding: QUERY,
    model: "test",
    sentences: [
      { start: 0, end: 11, kind: "sentence", embedding: embeddingWithSimilarity(0.5) },
      { start: 12, end: 25, kind: "sentence", embedding: embeddingWithSimilarity(0.25) },
    ],
    ...changes,
  });
  const contents = async () => {
    const { rows } = await database.query(`
      select c.id, c.ordinal, c.content, c.meta, c.stale, e.model, e.embedding::text,
        (select jsonb_agg(jsonb_build_array(s.ordinal, s.start, s."end") order by s.ordinal)
           from kb_sentences s where s.chunk_id = c.id) as sentences
      from kb_chunks c left join kb_embeddings e on e.chunk_id = c.id order by c.ordinal`);
    return rows;
  };

  test("kb_write_chunks writes everything, and a repetition changes nothing", async () => {
    const id = await pending();
    const chunks = [
      chunk(id, { ordinal: 0, meta: { section: "Drinks", page: 2 } }),
      chunk(id, { ordinal: 1, sentences: [] }),
      chunk(id, { sentences: undefined }),
    ];
    await write(chunks);
    const written = await contents();
    assert.deepEqual(
      written.map((row) => [row.id, row.ordinal, row.meta, row.sentences, row.embedding]),
      [
        [
          chunks[0].id,
          0,
          { section: "Drinks", page: 2 },
          [
            [0, 0, 11],
            [1, 12, 25],
          ],
          QUERY,
        ],
        [chunks[1].id, 1, {}, null, QUERY],
        [chunks[2].id, 2, {}, null, QUERY],
      ],
    );
    await write(chunks);
    await write(chunks.slice(1));
    assert.deepEqual(await contents(), written);
    await write([]);
    await database.query("select kb_publish_document($1)", [id]);
    const { rows } = await database.query("select content from match_chunks($1, query_text => 'milk')", [QUERY]);
    assert.equal(rows.length, 3);
  });

  test("an existing chunk is overwritten with its vectors and is not stale", async () => {
    const { id, chunkIds } = await writeDocument(database, {
      contents: ["old"],
      sentences: [[{ start: 0, end: 3, similarity: 1 }]],
    });
    await write([chunk(id, { id: chunkIds[0], ordinal: 0, content: "new words", model: "new", sentences: [] })]);
    const [row] = await contents();
    assert.deepEqual([row.content, row.model, row.stale, row.sentences], ["new words", "new", false, null]);
    const { kept, counted } = await lexemeCounts(database);
    assert.deepEqual(kept, counted);
    await database.query("update kb_chunks set content = 'by hand'");
    assert.equal((await contents())[0].stale, true);
  });

  test("embeddings may be scaled or given as lists", async () => {
    const id = await pending();
    const numbers = JSON.parse(embeddingWithSimilarity(0.6));
    const times = (factor) => numbers.map((number) => Math.round(number * factor));
    await write([
      chunk(id, { embedding: numbers }),
      chunk(id, { embedding: JSON.stringify(times(2 ** 28)) }),
      chunk(id, {
        embedding: times(2 ** 17),
        sentences: [{ start: 0, end: 3, kind: "sentence", embedding: JSON.stringify(times(2 ** 17)) }],
      }),
    ]);
    const { rows } = await database.query(
      `select extensions.vector_norm(e.embedding) as length, 1 - (e.embedding operator(extensions.<=>) $1) as similarity
         from kb_embeddings e
       union all
       select extensions.l2_norm(s.embedding), 1 - (s.embedding operator(extensions.<=>) $1::extensions.halfvec) from kb_sentences s where start = 0 and "end" = 3`,
      [QUERY],
    );
    assert.equal(rows.length, 4);
    for (const { length, similarity } of rows) {
      // The tolerance of half precision.
      assert.ok(Math.abs(length - 1) < 1e-3, String(length));
      assert.ok(Math.abs(similarity - 0.6) < 3e-4, String(similarity));
    }
  });

  const wrong = {
    "a chunk without a vector": [{ embedding: undefined }, /null value in column "embedding"/],
    "a vector of another size": [{ embedding: "[1,2]" }, /expected 384 dimensions, not 2/],
    "an embedding that is not a vector": [{ embedding: "1,2" }, /invalid input syntax for type vector/],
    "an empty sentence": [
      { sentences: [{ start: 3, end: 3, kind: "sentence", embedding: QUERY }] },
      /kb_sentences_range/,
    ],
    "an unknown document": [{ document_id: randomUUID() }, /kb_chunks_document_id_fkey/],
    "empty content": [{ content: " " }, /kb_chunks_content_not_blank/],
    "no content": [{ content: undefined }, /null value in column "content"/],
  };
  for (const [title, [changes, message]] of Object.entries(wrong)) {
    test(`${title} is rejected with the whole batch`, async () => {
      const id = await pending();
      await assert.rejects(write([chunk(id), chunk(id, changes)]), message);
      assert.deepEqual(await contents(), []);
    });
  }
}
