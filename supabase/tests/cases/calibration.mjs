import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";

const MEASURED = { id: true, model: "m", language: "english", mean: -4.2, deviation: 2, questions: 80 };

/** The calibration that kb sync measured, and who may read it. */
export function calibration({ database, anon, alice, service }) {
  afterEach(async () => {
    await database.exec("delete from kb_calibration");
    await clearKnowledgeBase(database);
  });

  const writeDocumentOf = async (model) => {
    const { chunkIds } = await writeDocument(database, {});
    await database.query("update kb_embeddings set model = $1 where chunk_id = any($2)", [model, chunkIds]);
  };
  const write = async (values) => service.insert("kb_calibration", { ...MEASURED, ...values });

  test("chat_config returns the calibration to everybody if it matches the model of the vectors", async () => {
    await writeDocumentOf("m");
    assert.equal((await write({})).status, 201);
    for (const client of [anon, alice, service]) {
      const { body } = await client.rpc("chat_config", {});
      assert.deepEqual([body.model, body.calibration], ["m", { mean: -4.2, deviation: 2 }]);
    }
  });

  test("chat_config returns no calibration for another model or an empty knowledge base", async () => {
    await write({});
    assert.equal((await service.rpc("chat_config", {})).body.calibration, null);
    await writeDocumentOf("another");
    const { body } = await service.rpc("chat_config", {});
    assert.deepEqual([body.model, body.calibration], ["another", null]);
  });

  test("kb_calibration has one row, and measuring again sets updated_at", async () => {
    await write({});
    const [before] = (await service.select("kb_calibration")).body;
    assert.match((await write({ mean: -3 })).body.message, /kb_calibration_pkey/);
    assert.match((await write({ id: false })).body.message, /kb_calibration_only_one_row/);
    const [after] = (await service.update("kb_calibration", "id=is.true", { mean: -3 })).body;
    assert.ok(after.updated_at > before.updated_at);
  });

  test("kb_calibration rejects numbers that the evidence gate cannot use", async () => {
    for (const values of [
      { mean: "NaN" },
      { mean: "-Infinity" },
      { deviation: 0 },
      { deviation: "NaN" },
      { questions: 0 },
    ]) {
      const { status, body } = await write(values);
      assert.ok(status >= 400, JSON.stringify(values));
      assert.match(body.message, /kb_calibration_(mean|deviation|questions)_/);
    }
  });

  test("kb_non_latin_documents lists documents whose letters are mostly not Latin", async () => {
    const documents = {
      "test/arabic.md": "ما هي سياسة الإرجاع؟ a@example.com",
      "test/chinese.md": "退货政策是什么？请在三十天内联系我们。",
      "test/english.md": "Returns are free — for 30 days… “Ω” is a letter, 👍 is not.",
      "test/french.md": "Où êtes-vous né, Łukasz?",
      "test/greek.md": "Επιστροφές εντός 30 ημερών.",
      "test/numbers.md": "2024: 12 €, 100 %",
      "test/russian.md": "Возврат в течение 30 дней.",
      "test/vietnamese.md": "Chính sách đổi trả hàng là gì?",
    };
    for (const [source, text] of Object.entries(documents)) await writeDocument(database, { source, contents: [text] });
    await writeDocument(database, { source: "test/hidden.md", contents: ["Возврат"], enabled: false });
    const { body } = await service.rpc("kb_non_latin_documents", {});
    assert.deepEqual(
      body.map(({ source }) => source),
      ["test/arabic.md", "test/chinese.md", "test/greek.md", "test/russian.md"],
    );
    assert.equal((await service.rpc("kb_non_latin_documents", { count: 2 })).body.length, 2);
  });
}
