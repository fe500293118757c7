import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { clearKnowledgeBase, embeddingWithSimilarity, QUERY, writeDocument } from "../support/knowledge-base.mjs";

/** Sentences of chunks: in search results, and after changes of the text. */
export function sentences({ database, alice, service }) {
  afterEach(() => clearKnowledgeBase(database));

  const contents = ["Tea is hot. Milk is cold."];
  const written = [
    { start: 0, end: 11, similarity: 0.3 },
    { start: 12, end: 25, similarity: 0.7 },
  ];
  const search = async (query_text, match_threshold = 0.35) => {
    const parameters = { query_embedding: QUERY, query_text, match_threshold };
    const { status, body } = await alice.rpc("match_chunks", parameters);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const count = async (chunkId) => (await service.select("kb_sentences", `chunk_id=eq.${chunkId}`)).body.length;
  const close = (actual, expected) => assert.ok(Math.abs(actual - expected) < 5e-4, `${actual}, not ${expected}`);

  test("sentences come in order, with offsets and cosines, with and without query_text", async () => {
    await writeDocument(database, { contents, similarities: [0.5], sentences: [written] });
    for (const text of [null, "milk"]) {
      const [row] = await search(text);
      assert.deepEqual(
        row.sentences.map(({ start, end }) => [start, end]),
        [
          [0, 11],
          [12, 25],
        ],
      );
      row.sentences.forEach((sentence, index) => close(sentence.similarity, written[index].similarity));
      assert.equal(contents[0].slice(row.sentences[1].start, row.sentences[1].end), "Milk is cold.");
    }
  });

  test("the best sentence counts as much as the similarity and the words", async () => {
    await writeDocument(database, { contents, similarities: [0.5], sentences: [written] });
    const [row] = await search("milk");
    assert.equal(row.score, (row.similarity + row.sentences[1].similarity + row.lexical) / 3);
    const [plain] = await search(null);
    assert.equal(plain.score, plain.similarity);
  });

  test("a chunk with a good sentence overtakes one with a better vector", async () => {
    const { chunkIds } = await writeDocument(database, {
      contents: ["first", "second"],
      similarities: [0.6, 0.5],
      sentences: [[{ start: 0, end: 5, similarity: 0.5 }], [{ start: 0, end: 6, similarity: 0.9 }]],
    });
    const ids = async (text) => (await search(text)).map((row) => row.chunk_id);
    assert.deepEqual(await ids("third"), [chunkIds[1], chunkIds[0]]);
    assert.deepEqual(await ids(null), chunkIds);
    assert.deepEqual(
      (await search("third", 0.55)).map((row) => row.chunk_id),
      [chunkIds[0]],
    );
  });

  test("the length of the question's vector does not matter", async () => {
    await writeDocument(database, { contents, similarities: [0.5], sentences: [written] });
    const [expected] = await search("milk");
    for (const scale of [1e-6, 1e6]) {
      const query_embedding = JSON.stringify(JSON.parse(QUERY).map((value) => value * scale));
      const { body } = await alice.rpc("match_chunks", { query_embedding, query_text: "milk" });
      close(body[0].score, expected.score);
    }
  });

  test("a change of the text deletes the sentences, other changes do not", async () => {
    const { chunkIds } = await writeDocument(database, { contents, sentences: [written] });
    const chunk = `id=eq.${chunkIds[0]}`;
    await service.update("kb_chunks", chunk, { content: contents[0], meta: { section: "Drinks" } });
    assert.equal(await count(chunkIds[0]), 2);
    await service.update("kb_chunks", chunk, { content: "Tea is cold." });
    assert.equal(await count(chunkIds[0]), 0);
  });

  test("deleting a document deletes its sentences", async () => {
    const { id, chunkIds } = await writeDocument(database, { contents, sentences: [written] });
    await service.remove("kb_documents", `id=eq.${id}`);
    assert.equal(await count(chunkIds[0]), 0);
  });

  /** @type {Record<string, [change: object, message: RegExp]>} */
  const invalid = {
    "a sentence that ends where it starts": [{ start: 3, end: 3 }, /kb_sentences_range/],
    "a sentence that starts before the text": [{ start: -1 }, /kb_sentences_range/],
    "a negative ordinal": [{ ordinal: -1 }, /kb_sentences_ordinal_is_0_to_255/],
    "an ordinal above 255": [{ ordinal: 256 }, /kb_sentences_ordinal_is_0_to_255/],
    "a vector of zeros": [{ embedding: JSON.stringify(Array(384).fill(0)) }, /kb_sentences_embedding_not_zero/],
    "a vector of another size": [{ embedding: "[1,2,3]" }, /expected 384 dimensions, not 3/],
  };
  for (const [title, [change, message]] of Object.entries(invalid)) {
    test(`${title} is rejected`, async () => {
      const { chunkIds } = await writeDocument(database, { contents });
      const embedding = embeddingWithSimilarity(0.5);
      const row = { chunk_id: chunkIds[0], ordinal: 0, start: 0, end: 3, embedding, kind: "sentence" };
      const { status, body } = await service.insert("kb_sentences", { ...row, ...change });
      assert.ok(status >= 400, String(status));
      assert.match(body.message, message);
    });
  }
}
