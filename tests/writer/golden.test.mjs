// WebAssembly writes what the native build writes, to the bit: its products have their own instructions. The golden texts are
// those of a made-up model (writer/src/tests/writing.rs).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { loadModel, openWriter } from "./support/writer.mjs";

const golden = (name) => new URL(`../../writer/tests/golden.${name}`, import.meta.url);

let file, items, writer;

before(async () => {
  file = await readFile(golden("gguf"));
  items = JSON.parse(await readFile(golden("json"), "utf8"));
  writer = await openWriter();
});

/** @returns {{code?: string, message: string}} what the function throws */
function thrown(run) {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
  assert.fail("nothing was thrown");
}

test("WebAssembly returns the golden texts piece by piece, however the file arrives", () => {
  assert.ok(items.length > 0);
  for (const size of [1000, file.length]) {
    const model = loadModel(writer, file, size);
    for (const { messages, promptTokens, pieces } of items) {
      assert.equal(model.countTokens(JSON.stringify(messages)), promptTokens);
      const session = model.start(JSON.stringify(messages), 40);
      assert.equal(session.promptTokens(), promptTokens);
      while (!session.readPrompt());
      const written = [];
      for (let piece; (piece = session.next()) !== undefined;) written.push(piece);
      assert.deepEqual(written, pieces);
      assert.deepEqual([session.completionTokens(), session.endedBecause()], [40, "length"]);
      session.free();
    }
    model.free();
  }
});

test("files that are no model throw invalid_model, and the message says what to do", () => {
  const cut = thrown(() => loadModel(writer, file.subarray(0, 20_000), 5000));
  assert.equal(cut.code, "invalid_model");
  assert.match(cut.message, /Download it again/);
  const page = thrown(() => loadModel(writer, Buffer.from("<!doctype html><title>Not found</title>"), 10));
  assert.equal(page.code, "invalid_model");
  assert.match(page.message, /not a GGUF file/);
  const loader = writer.Model.loader(Number.NaN);
  assert.equal(thrown(() => loader.push(file)).code, "invalid_model");
});

test("a chat that does not fit or cannot be read has its own code", () => {
  const model = loadModel(writer, file, file.length);
  const long = JSON.stringify([{ role: "user", content: "x".repeat(1000) }]);
  const error = thrown(() => model.start(long, 100));
  const { code, tokens, limit } = /** @type {any} */ (error);
  assert.deepEqual([code, tokens > 1000, limit], ["context_too_long", true, model.contextLength() - 100]);
  for (const messages of ["", "{}", '[{"role":"tool","content":"x"}]', "[".repeat(10_000)]) {
    assert.equal(thrown(() => model.start(messages, 1)).code, "invalid_input", messages.slice(0, 40));
    assert.equal(thrown(() => model.countTokens(messages)).code, "invalid_input", messages.slice(0, 40));
  }
  model.free();
});
