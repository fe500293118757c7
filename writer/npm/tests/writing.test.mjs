// Calls of a writer: protocol, order, abort at each stage, crashes. In this thread, with a fake engine.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { importFakePackage, MODEL, sha256 } from "./fake/package.mjs";

let createWriter, WriterError, requests, modelUrl, wasmUrl;
const cleanups = [];

before(async () => {
  const fake = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
  ({ createWriter, WriterError, requests } = fake);
  modelUrl = new URL("model.gguf", fake.url);
  wasmUrl = new URL("writer_bg.wasm", fake.url);
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const model = { byteLength: MODEL.length, sha256: sha256(MODEL) };
const options = (more = {}) => ({ modelUrl, wasmUrl, model, ...more });
/** A writer that is disposed after the test. */
async function writerFor(t, ...more) {
  const writer = await createWriter(options(), ...more);
  t.after(() => writer.dispose());
  return writer;
}

const scripted = (script) => [{ role: "user", content: JSON.stringify(script) }];
const LONG = { parts: 5, tokens: 1, pieces: Array(1000).fill("a ") };
/** Like `assert.rejects`, and asserts that the error is of this package's class. */
const rejects = (promise, code, message = /./) =>
  assert.rejects(promise, (/** @type {import("../src/index.ts").WriterError} */ error) => {
    assert.ok(error instanceof WriterError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
const alive = () => /** @type {any} */ (globalThis).fakeWriter.alive;
const last = () => /** @type {any} */ (globalThis).fakeWriter.last;

describe("writing", () => {
  test("a text arrives in pieces, with its usage and its ending", async (t) => {
    const writer = await writerFor(t);
    assert.equal(writer.name, "model");
    const pieces = [];
    const script = { parts: 3, pieces: ["Refunds", "", " take", " 5 days."], tokens: 42 };
    const result = await writer.write(scripted(script), { onText: (piece) => pieces.push(piece) });
    assert.deepEqual(pieces, ["Refunds", " take", " 5 days."]);
    assert.deepEqual(result, { promptTokens: 42, completionTokens: 4, ending: "stop" });
    assert.equal(last().promptParts, 3);
    assert.equal(alive().sessions, 0);
  });

  test("a text ends at maxTokens, by default 200", async (t) => {
    const writer = await writerFor(t);
    assert.deepEqual(await writer.write(scripted(LONG), { maxTokens: 7 }), {
      promptTokens: 1,
      completionTokens: 7,
      ending: "length",
    });
    assert.equal((await writer.write(scripted(LONG))).completionTokens, 200);
  });

  test("overlapping calls run one after the other, each with its own text", async (t) => {
    const writer = await writerFor(t);
    const text = async (letter) => {
      const pieces = [];
      await writer.write(scripted({ pieces: [letter, letter] }), { onText: (piece) => pieces.push(piece) });
      return pieces.join("");
    };
    const counted = writer.countTokens(scripted({ tokens: 9 }));
    assert.deepEqual(await Promise.all([text("a"), text("b"), counted]), ["aa", "bb", 9]);
  });

  test("messages that are too long reject with context_too_long, and the writer still works", async (t) => {
    const writer = await writerFor(t);
    await rejects(writer.write(scripted({ tokens: 1001 })), "context_too_long", /too many tokens/);
    assert.equal((await writer.write(scripted({}))).ending, "stop");
  });

  test("arguments of the wrong type reject with invalid_input and name the argument", async (t) => {
    const writer = await writerFor(t);
    for (const messages of [undefined, [], [{ role: "robot", content: "x" }], [{ role: "user" }], "text"]) {
      await rejects(writer.write(messages), "invalid_input", /^messages must be/);
      await rejects(writer.countTokens(messages), "invalid_input", /^messages must be/);
    }
    for (const maxTokens of [0, -1, 1.5, Number.NaN, "9"]) {
      await rejects(writer.write(scripted({}), { maxTokens }), "invalid_input", /^maxTokens must be/);
    }
    await rejects(writer.write([{ role: "user", content: "" }]), "invalid_input", /empty/);
  });
});

describe("aborting", () => {
  /** Lets a text reach a state, aborts it there, and checks that the engine stops and the next call works. */
  async function abortWhen(t, isReached) {
    const writer = await writerFor(t);
    const aborting = new AbortController();
    const writing = writer.write(scripted(LONG), {
      maxTokens: 1000,
      signal: aborting.signal,
      onText: () => isReached() && aborting.abort(),
    });
    writing.catch(() => undefined);
    while (!aborting.signal.aborted) {
      await sleep(0);
      if (isReached()) aborting.abort();
    }
    await rejects(writing, "aborted");
    const { tokens } = last();
    await sleep(20);
    assert.ok(last().tokens <= tokens + 1, `the engine went on to ${last().tokens} tokens`);
    assert.equal(alive().sessions, 0);
    assert.equal((await writer.write(scripted({}))).completionTokens, 2);
  }

  test("a call whose signal is already aborted sends nothing", async (t) => {
    const writer = await writerFor(t);
    const before = requests.length;
    await rejects(writer.write(scripted({}), { signal: AbortSignal.abort() }), "aborted");
    assert.equal(requests.length, before);
  });

  test("a text can be stopped while the prompt is read", (t) => abortWhen(t, () => last().promptParts > 0));

  test("a text can be stopped while it is written", (t) => abortWhen(t, () => last().tokens > 3));

  test("a waiting call can be cancelled without touching the running one", async (t) => {
    const writer = await writerFor(t);
    const aborting = new AbortController();
    const running = writer.write(scripted({ parts: 3, pieces: ["a"] }));
    const waiting = writer.write(scripted({ pieces: ["b"] }), { signal: aborting.signal });
    aborting.abort();
    await rejects(waiting, "aborted");
    assert.equal((await running).completionTokens, 1);
  });

  test("dispose rejects pending and later calls", async (t) => {
    const writer = await writerFor(t);
    const pending = writer.write(scripted(LONG));
    await writer.dispose();
    await rejects(pending, "aborted", /disposed/);
    await rejects(writer.write(scripted({})), "aborted", /disposed/);
  });
});

describe("crashes", () => {
  for (const [stage, trapAt] of [
    ["at the start of the prompt", 0],
    ["in the middle of the prompt", 2],
  ]) {
    test(`a trap ${stage} rejects all calls with crashed and says what to do`, async (t) => {
      const writer = await writerFor(t);
      const calls = [writer.write(scripted({ parts: 5, trapAt })), writer.write(scripted({}))];
      for (const call of calls) await rejects(call, "crashed", /unreachable.*Create a new one/);
      await rejects(writer.countTokens(scripted({})), "crashed");
    });
  }

  test("a worker that dies rejects all calls with crashed", async (t) => {
    /** @type {(reason: string) => void} */
    let end = () => undefined;
    const writer = await writerFor(t, (given) => (end = given));
    const pending = writer.write(scripted(LONG));
    end("out of memory");
    await rejects(pending, "crashed", /out of memory/);
  });
});
