import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, test } from "node:test";
import {
  clearKnowledgeBase,
  embeddingWithSimilarity,
  lexemeCounts,
  QUERY,
  renewVectors,
  writeDocument,
} from "../support/knowledge-base.mjs";
import { as, user } from "../support/roles.mjs";

/** Edited text leaves every search at once and returns with its new vectors. */
export function staleChunks({ database }) {
  afterEach(() => clearKnowledgeBase(database));

  const run = (sql, ...parameters) => database.query(sql, parameters);
  const edit = (id, content) => run("update kb_chunks set content = $2 where id = $1", id, content);
  const found = (/** @type {string | null} */ text = null) =>
    as(database, user(randomUUID()), async (transaction) => {
      const { rows } = await transaction.query("select content from match_chunks($1, 5, -1, $2)", [QUERY, text]);
      return rows.map((row) => row.content);
    });
  const state = async (id) => {
    const { rows } = await run(
      `select c.stale, c.searchable as chunk, e.searchable as embedding
       from kb_chunks c left join kb_embeddings e on e.chunk_id = c.id where c.id = $1`,
      id,
    );
    return rows[0];
  };
  const STALE = { stale: true, chunk: false, embedding: false };
  const FRESH = { stale: false, chunk: true, embedding: true };

  for (const [title, change] of Object.entries({
    content: "content = 'a cold teapot'",
    section: `meta = '{"section": "Tea"}'`,
  })) {
    test(`a chunk whose ${title} is edited is not found until it has new vectors`, async () => {
      const { chunkIds } = await writeDocument(database, { contents: ["a hot kettle", "a cup"] });
      await run(`update kb_chunks set ${change} where id = $1`, chunkIds[0]);
      assert.deepEqual(await state(chunkIds[0]), STALE);
      for (const text of [null, "hot kettle cold teapot"]) assert.deepEqual(await found(text), ["a cup"]);
      const { kept, counted } = await lexemeCounts(database);
      assert.deepEqual(kept, counted);

      assert.deepEqual(await renewVectors(database, chunkIds.slice(0, 1)), chunkIds.slice(0, 1));
      assert.deepEqual(await state(chunkIds[0]), FRESH);
      assert.equal((await found("kettle teapot")).length, 2);
    });
  }

  test("a change outside the text does not make a chunk stale", async () => {
    const { id, chunkIds } = await writeDocument(database, { contents: ["kettle"] });
    await run(`update kb_chunks set content = content, ordinal = 7, meta = '{"page": 3}'`);
    await run("update kb_documents set enabled = false");
    await run("update kb_documents set enabled = true, language = 'german', audience = '{team:a}', name = 'x'");
    await run("update kb_documents set audience = null where id = $1", id);
    assert.deepEqual(await state(chunkIds[0]), FRESH);
  });

  test("a chunk that moves by publishing is not stale, and a stale one stays so", async () => {
    const source = "guide.md";
    const first = await writeDocument(database, { source, contents: ["old"] });
    const second = await writeDocument(database, { source, contents: ["new", "edited"], status: "pending" });
    await edit(second.chunkIds[1], "edited by hand");
    await run("select kb_publish_document($1)", second.id);
    assert.deepEqual(await state(second.chunkIds[0]), FRESH);
    assert.deepEqual(await state(second.chunkIds[1]), STALE);
    assert.deepEqual(await found(), ["new"]);
    assert.equal(await state(first.chunkIds[0]), undefined);
  });

  test("only new vectors make a stale chunk searchable again", async () => {
    const { chunkIds } = await writeDocument(database, { contents: ["kettle"] });
    await edit(chunkIds[0], "teapot");
    const attempts = [
      "update kb_chunks set stale = false",
      "update kb_chunks set searchable = true, audience = '{team:a}', stale = false, content = 'kettle'",
      "update kb_embeddings set searchable = true, audience = '{team:a}', model = 'new'",
      `update kb_embeddings set embedding = '${QUERY}'`,
      "update kb_documents set enabled = false",
      "update kb_documents set enabled = true",
      "update kb_documents set status = 'pending'",
      "update kb_documents set status = 'ready'",
      "delete from kb_embeddings",
      `insert into kb_embeddings (chunk_id, embedding, model, searchable) values ('${chunkIds[0]}', '${QUERY}', 'm', true)`,
    ];
    for (const attempt of attempts) {
      await run(attempt);
      const { chunk, embedding } = await state(chunkIds[0]);
      assert.deepEqual([chunk, embedding ?? false], [false, false], attempt);
      assert.deepEqual(await found("kettle teapot"), [], attempt);
    }
    await renewVectors(database, chunkIds);
    assert.equal((await found()).length, 1);
  });

  test("an administrator can request new vectors of a chunk by marking it stale", async () => {
    const { chunkIds } = await writeDocument(database);
    await run("update kb_chunks set stale = true");
    assert.deepEqual(await state(chunkIds[0]), STALE);
  });

  test("vectors of a text other than the chunk's are not written", async () => {
    const { chunkIds } = await writeDocument(database, { contents: ["kettle", "cup", "spoon"] });
    await run(`update kb_chunks set meta = '{"section": "Küche"}' where id = $1`, chunkIds[2]);
    const write = async (entries) => (await run("select kb_write_vectors($1) as id", JSON.stringify(entries))).rows;
    const entry = (chunk_id, text_hash) => ({ chunk_id, text_hash, embedding: QUERY, model: "new" });
    // md5 of "\nkettle", "\nnot this" and "Küche\nspoon".
    const hashes = (
      await run(
        `select md5(E'\\nkettle') as a, md5(E'\\nnot this') as b, md5(convert_to(E'Küche\\nspoon', 'UTF8')) as c`,
      )
    ).rows[0];
    const written = await write([
      entry(chunkIds[0], hashes.a),
      entry(chunkIds[1], hashes.b),
      entry(chunkIds[1], null),
      entry(chunkIds[2], hashes.c),
      entry(randomUUID(), hashes.a),
    ]);
    assert.deepEqual(
      written.map((row) => row.id),
      [chunkIds[0], chunkIds[2]].sort(),
    );
    const { rows } = await run("select chunk_id from kb_embeddings where model = 'new'");
    assert.equal(rows.length, 2);
  });

  test("new vectors replace the sentences", async () => {
    const sentences = [[{ start: 0, end: 3, similarity: 0.1 }]];
    const { chunkIds } = await writeDocument(database, { contents: ["One. Two."], sentences });
    await edit(chunkIds[0], "Four. Five.");
    assert.deepEqual((await run("select from kb_sentences")).rows, []);
    for (let repetition = 0; repetition < 2; repetition++) {
      await renewVectors(database, chunkIds, {
        sentences: [
          { start: 0, end: 5, kind: "sentence", embedding: embeddingWithSimilarity(0.5) },
          { start: 6, end: 11, kind: "sentence", embedding: JSON.parse(embeddingWithSimilarity(0.25)) },
        ],
      });
    }
    const { rows } = await run("select sentences from match_chunks($1)", QUERY);
    const rounded = rows[0].sentences.map((sentence) => ({
      ...sentence,
      similarity: Number(sentence.similarity.toFixed(3)),
    }));
    assert.deepEqual(rounded, [
      { start: 0, end: 5, similarity: 0.5, kind: "sentence", chain: [] },
      { start: 6, end: 11, similarity: 0.25, kind: "sentence", chain: [] },
    ]);
  });

  test("kb_chunks_to_embed lists chunks with a reason, page by page", async () => {
    const { chunkIds: fresh } = await writeDocument(database, { contents: ["fresh"] });
    const { chunkIds: old } = await writeDocument(database, {
      source: "handbook/old.md",
      contents: ["stale", "of another model"],
      enabled: false,
    });
    const { chunkIds: bare } = await writeDocument(database, {
      similarities: [null],
      contents: ["missing"],
      section: "A",
    });
    await writeDocument(database, { similarities: [null], status: "pending" });
    await edit(old[0], "stale now");
    await run("update kb_embeddings set model = 'old' where chunk_id = $1", old[1]);

    const page = async (after, count) =>
      (await run("select * from kb_chunks_to_embed('test', $1, $2)", after, count)).rows;
    const all = await page(null, 200);
    assert.deepEqual(Object.fromEntries(all.map((row) => [row.chunk_id, [row.reason, row.content, row.section]])), {
      [old[0]]: ["stale", "stale now", null],
      [old[1]]: ["model", "of another model", null],
      [bare[0]]: ["missing", "missing", "A"],
    });
    assert.ok(!all.some((row) => row.chunk_id === fresh[0]));
    const { rows: ofAnyModel } = await run("select * from kb_chunks_to_embed(null)");
    assert.deepEqual(ofAnyModel.map((row) => row.reason).sort(), ["missing", "stale"]);
    const { rows: ofOne } = await run(
      "select chunk_id from kb_chunks_to_embed('test', collection => 'handbook') order by chunk_id",
    );
    assert.deepEqual(
      ofOne.map((row) => row.chunk_id),
      [...old].sort(),
    );
    assert.deepEqual((await run("select from kb_chunks_to_embed('test', collection => 'hand')")).rows, []);
    const pages = [];
    for (let after = null; ;) {
      const rows = await page(after, 1);
      if (rows.length === 0) break;
      pages.push(...rows);
      after = rows[0].chunk_id;
    }
    assert.deepEqual(pages, all);
    for (const count of [0, 1001, null]) await assert.rejects(page(null, count), /count from 1 to 1000/);
  });
}
