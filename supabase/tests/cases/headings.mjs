import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { clearKnowledgeBase, embeddingWithSimilarity, QUERY, writeDocument } from "../support/knowledge-base.mjs";

/** The heading above a chunk in the search, and questions in scripts that the model cannot read. */
export function headings({ database, alice, service }) {
  afterEach(() => clearKnowledgeBase(database));

  const search = async (query_text, parameters = {}) => {
    const { status, body } = await alice.rpc("match_chunks", { query_embedding: QUERY, query_text, ...parameters });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const writeHeading = (chunkId, similarity) =>
    database.query("insert into kb_headings (chunk_id, embedding) values ($1, $2)", [
      chunkId,
      embeddingWithSimilarity(similarity, 300),
    ]);
  const count = async (chunkId) => (await service.select("kb_headings", `chunk_id=eq.${chunkId}`)).body.length;
  const close = (actual, expected) => assert.ok(Math.abs(actual - expected) < 5e-4, `${actual}, not ${expected}`);
  const sentences = [[{ start: 0, end: 10, similarity: 0.6 }]];
  const contents = ["Tea is hot"];

  for (const { title, heading, sum } of [
    { title: "a heading that is the question counts instead of a less similar passage", heading: 0.9, sum: 0.9 + 0.6 },
    { title: "a heading that is only a title takes nothing from the passage", heading: 0.1, sum: 0.6 + 0.5 },
  ]) {
    test(title, async () => {
      const { chunkIds } = await writeDocument(database, { contents, similarities: [0.5], sentences });
      await writeHeading(chunkIds[0], heading);
      const [row] = await search("tea");
      close(row.heading, heading);
      assert.ok(row.lexical > 0.6);
      close(row.score, (sum + row.lexical) / 3);
    });
  }

  test("a chunk without a heading is scored by its own and its best sentence's cosine", async () => {
    await writeDocument(database, { contents, similarities: [0.5], sentences });
    const [row] = await search("tea");
    assert.equal(row.heading, null);
    close(row.score, (0.5 + 0.6 + row.lexical) / 3);
  });

  test("a chunk below a good heading overtakes one with a better vector, and not without query_text", async () => {
    const { chunkIds } = await writeDocument(database, { contents: ["one", "two"], similarities: [0.6, 0.5] });
    await writeHeading(chunkIds[1], 0.9);
    const ids = async (text) => (await search(text)).map(({ chunk_id }) => chunk_id);
    assert.deepEqual(await ids("three"), [chunkIds[1], chunkIds[0]]);
    assert.deepEqual(await ids(null), chunkIds);
  });

  test("kb_write_chunks and kb_write_vectors write the vectors of headings, and a rewrite without one removes it", async () => {
    const { id } = await writeDocument(database, { similarities: [] });
    const chunk = {
      id: "5e7f5b5c-3c1e-4a52-9e1c-0d6f3f0d8f11",
      document_id: id,
      content: "Tea is hot",
      embedding: embeddingWithSimilarity(0.5),
      model: "test",
    };
    const write = async (values) => {
      const { status, body } = await service.rpc("kb_write_chunks", { chunks: [{ ...chunk, ...values }] });
      assert.ok(status < 300, JSON.stringify(body));
    };
    // The vectors may be multiplied by any number.
    const heading = JSON.stringify(JSON.parse(embeddingWithSimilarity(0.8, 300)).map((x) => Math.round(x * 2 ** 17)));
    await write({ heading });
    close((await search("tea"))[0].heading, 0.8);
    await write({});
    assert.equal(await count(chunk.id), 0);
    assert.equal((await search("tea"))[0].heading, null);

    const rewrite = async (values) => {
      const { rows } = await database.query("select md5(E'\\n' || content) as hash from kb_chunks where id = $1", [
        chunk.id,
      ]);
      const { embedding, model } = chunk;
      const vectors = [{ chunk_id: chunk.id, text_hash: rows[0].hash, embedding, model, ...values }];
      const { status, body } = await service.rpc("kb_write_vectors", { vectors });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body, [chunk.id]);
    };
    await rewrite({ heading });
    close((await search("tea"))[0].heading, 0.8);
    await rewrite({});
    assert.equal(await count(chunk.id), 0);
  });

  test("deleting a document deletes its headings", async () => {
    const { id, chunkIds } = await writeDocument(database, { contents });
    await writeHeading(chunkIds[0], 0.5);
    await service.remove("kb_documents", `id=eq.${id}`);
    assert.equal(await count(chunkIds[0]), 0);
  });

  for (const { title, embedding, message } of [
    {
      title: "a vector of zeros",
      embedding: JSON.stringify(Array(384).fill(0)),
      message: /kb_headings_embedding_not_zero/,
    },
    { title: "a vector of another size", embedding: "[1,2,3]", message: /expected 384 dimensions, not 3/ },
  ]) {
    test(`${title} is rejected for a heading`, async () => {
      const { chunkIds } = await writeDocument(database, { contents });
      const { status, body } = await service.insert("kb_headings", { chunk_id: chunkIds[0], embedding });
      assert.ok(status >= 400, String(status));
      assert.match(body.message, message);
    });
  }

  test("only words count for a question in a script that the model cannot read", async () => {
    const texts = ["الشاي ساخن", "Tea is hot"];
    const { chunkIds } = await writeDocument(database, {
      language: "arabic",
      contents: texts,
      similarities: [0.4, 0.9],
    });
    await writeHeading(chunkIds[1], 0.9);
    const rows = await search("الشاي؟");
    assert.deepEqual(
      rows.map(({ chunk_id }) => chunk_id),
      chunkIds,
    );
    assert.ok(rows[0].lexical > 0.6);
    for (const row of rows) {
      assert.equal(row.heading, null);
      assert.equal(row.score, row.lexical / 3);
    }
  });

  test("a question is readable if at least half of its letters are Latin", async () => {
    const readable = [
      "",
      "2024?",
      "Où est-ce, Łukasz?",
      "“Tea” – 100 % 👍",
      "Tea чай",
      "Chính sách đổi trả",
      "Cafe\u0301",
    ];
    const unreadable = ["ما هي سياسة الإرجاع؟", "退货政策是什么？", "Возврат", "Επιστροφές", "お茶", "tè чай", "환불"];
    for (const { texts, expected } of [
      { texts: readable, expected: true },
      { texts: unreadable, expected: false },
    ]) {
      for (const text of texts) {
        const { rows } = await database.query("select internal.kb_is_readable($1) as is_readable", [text]);
        assert.equal(rows[0].is_readable, expected, text);
      }
    }
  });
}
