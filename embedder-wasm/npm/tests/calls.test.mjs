// Calls: order, cancelling, bad input, crashes. In this thread, with a fake engine.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { IDENTITY, importFakePackage } from "./fake/package.mjs";

let createEmbedder, EmbedderError, downloadBytes, modelBytes, MAX_TOKENS;
const cleanups = [];

before(async () => {
  const t = { after: (cleanup) => cleanups.push(cleanup) };
  ({ createEmbedder, EmbedderError, downloadBytes, modelBytes, MAX_TOKENS } = await importFakePackage(t));
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

async function embedderFor(t) {
  const embedder = await createEmbedder();
  t.after(() => embedder.dispose());
  return embedder;
}

const lengths = (embeddings) => embeddings.map(({ vector }) => vector[0]);
/** Like `assert.rejects`, and asserts that the error is of this package's class. */
const rejects = (promise, code, message = /./) =>
  assert.rejects(promise, (/** @type {import("../src/index.ts").EmbedderError} */ error) => {
    assert.ok(error instanceof EmbedderError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

test("overlapping calls each resolve with their own embeddings", async (t) => {
  const embedder = await embedderFor(t);
  const [one, many, none] = await Promise.all([
    embedder.embed("four"),
    embedder.embedBatch(Array.from({ length: 100 }, (_, index) => "x".repeat(index))),
    embedder.embedBatch([]),
  ]);
  assert.deepEqual(one, { vector: one.vector, tokens: 6, truncated: false });
  assert.equal(one.vector.length, 384);
  assert.deepEqual(
    lengths(many),
    Array.from({ length: 100 }, (_, index) => index),
  );
  assert.deepEqual(none, []);
});

test("each vector of a batch has its own buffer", async (t) => {
  const embedder = await embedderFor(t);
  const [first, second] = await embedder.embedBatch(["a", "bb"]);
  assert.equal(first.vector.buffer.byteLength, 384 * 4);
  assert.notEqual(first.vector.buffer, second.vector.buffer);
});

test("every string is valid input: empty, blank, half a surrogate pair, NUL, a megabyte", async (t) => {
  const embedder = await embedderFor(t);
  const texts = ["", " \n\t", "\ud800", "a\0b", "word ".repeat(200_000)];
  const embeddings = await embedder.embedBatch(texts);
  assert.deepEqual(
    lengths(embeddings),
    texts.map((text) => text.length),
  );
  assert.deepEqual(
    embeddings.map(({ truncated }) => truncated),
    [false, false, false, false, true],
  );
});

test("a value that is not a string rejects with code bad_input and names the argument", async (t) => {
  const embedder = await embedderFor(t);
  for (const value of [undefined, null, 7, {}, new String("boxed")]) {
    await rejects(embedder.embed(value), "bad_input", /^text must be a string, not /);
  }
  await rejects(embedder.embedBatch("text"), "bad_input", /texts must be an array/);
  await rejects(embedder.embedBatch(["a", null]), "bad_input", /^texts\[1\] must be a string, not null/);
  await rejects(embedder.embedBatch(new Array(1)), "bad_input", /^texts\[0\] must be a string, not undefined/);
});

test("a short call resolves before a long batch that started earlier", async (t) => {
  const embedder = await embedderFor(t);
  const ended = [];
  const batch = embedder.embedBatch(Array(100).fill("busy 1")).then(() => ended.push("batch"));
  await embedder.embed("short").then(() => ended.push("short"));
  await batch;
  assert.deepEqual(ended, ["short", "batch"]);
});

test("countTokens returns the same count as embed for any text", async (t) => {
  const embedder = await embedderFor(t);
  for (const text of ["", " \n\t", "\ud800", "a\0b", "x".repeat(254), "x".repeat(255), "word ".repeat(200_000)]) {
    const { tokens, truncated } = await embedder.embed(text);
    assert.equal(await embedder.countTokens(text), tokens);
    assert.equal(tokens > MAX_TOKENS, truncated);
  }
  for (const value of [undefined, null, 7, ["a"]]) {
    await rejects(embedder.countTokens(value), "bad_input", /^text must be a string, not /);
  }
});

test("counts run before all waiting embeddings, and in their order", async (t) => {
  const embedder = await embedderFor(t);
  const ended = [];
  const note = (name) => () => ended.push(name);
  await Promise.all([
    embedder.embedBatch(Array(40).fill("busy 1")).then(note("batch")),
    embedder.embed("one").then(note("one")),
    embedder.countTokens("first").then(note("first")),
    embedder.countTokens("second").then(note("second")),
  ]);
  assert.deepEqual(ended, ["first", "second", "one", "batch"]);
});

test("a cancelled count rejects with code aborted, and a count can fail or crash like any call", async (t) => {
  const embedder = await embedderFor(t);
  const controller = new AbortController();
  const cancelled = embedder.countTokens("trap", { signal: controller.signal });
  controller.abort();
  await rejects(cancelled, "aborted");
  assert.equal(await embedder.countTokens("four"), 6, "the cancelled text, which would trap, is not counted");
  await rejects(embedder.countTokens("x", { signal: AbortSignal.abort() }), "aborted");
  await rejects(embedder.countTokens("fail"), "bad_input", /cannot be counted/);
  await rejects(embedder.countTokens("trap"), "crashed", /unreachable/);
  await rejects(embedder.countTokens("later"), "crashed");
});

test("modelBytes and downloadBytes return the sizes of the model and of its file before anything is loaded", () => {
  assert.deepEqual([modelBytes(), downloadBytes()], [IDENTITY.byteLength, IDENTITY.downloadBytes]);
});

test("a cancelled call rejects at once, and its remaining texts are skipped", async (t) => {
  const embedder = await embedderFor(t);
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = embedder.embed("busy 5000", { signal });
  const running = embedder.embedBatch(Array(10_000).fill("busy 1"), { signal });
  const started = performance.now();
  const reason = new Error("typed on");
  controller.abort(reason);
  for (const call of [waiting, running]) {
    await assert.rejects(
      call,
      (/** @type {import("../src/index.ts").EmbedderError} */ error) =>
        error.code === "aborted" && error.cause === reason,
    );
  }
  await embedder.embed("next");
  assert.ok(performance.now() - started < 1000, "the cancelled texts would take seconds");
});

test("an aborted signal rejects the call; aborting after the call has no effect", async (t) => {
  const embedder = await embedderFor(t);
  await rejects(embedder.embed("x", { signal: AbortSignal.abort() }), "aborted");
  const controller = new AbortController();
  const { tokens } = await embedder.embed("four", { signal: controller.signal });
  controller.abort();
  assert.equal(tokens, 6);
});

test("a failed call does not affect the others", async (t) => {
  const embedder = await embedderFor(t);
  const [failed, good] = await Promise.allSettled([embedder.embed("fail"), embedder.embed("good")]);
  assert.ok(failed.status === "rejected");
  assert.equal(failed.reason.code, "bad_input");
  assert.match(failed.reason.message, /cannot be embedded/);
  assert.equal(good.status, "fulfilled");
});

test("a batch that does not fit in memory rejects with code bad_input", async (t) => {
  const embedder = await embedderFor(t);
  const { Float32Array } = globalThis;
  t.after(() => Object.assign(globalThis, { Float32Array }));
  class NoMemory {
    constructor() {
      throw new RangeError("Array buffer allocation failed");
    }
  }
  Object.assign(globalThis, { Float32Array: NoMemory });
  await rejects(embedder.embedBatch(["a", "b"]), "bad_input", /not enough memory for 2 vectors.*several batches/);
});

test("after a crash all pending and later calls reject with code crashed", async (t) => {
  const embedder = await embedderFor(t);
  const pending = [embedder.embed("trap"), embedder.embed("good"), embedder.embedBatch(["a", "b"])];
  for (const call of pending) await rejects(call, "crashed", /unreachable.*Create a new one/);
  await rejects(embedder.embed("later"), "crashed");
});

test("dispose rejects all pending and later calls with code aborted, and frees all memory", async () => {
  const embedder = await createEmbedder();
  const { alive } = globalThis.fakeWasm;
  const before = alive.embedders;
  const pending = embedder.embed("busy 10");
  embedder.dispose();
  embedder.dispose();
  await rejects(pending, "aborted", /disposed/);
  await rejects(embedder.embed("later"), "aborted", /disposed/);
  assert.equal(alive.embedders, before - 1);
  assert.equal(alive.loaders, 0);
});
