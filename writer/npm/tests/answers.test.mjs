// writeAnswer: writer and verifier together, and each fault. In this thread, with a scripted writer and a fake verifier.
import assert from "node:assert/strict";
import { after, before, describe, mock, test } from "node:test";
import { importFakePackage } from "./fake/package.mjs";

let writeAnswer, WriterError;
/** Whether the verifier's file is there. */
let ok = true;
const cleanups = [];

before(async () => {
  ({ writeAnswer, WriterError } = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) }));
  mock.method(globalThis, "fetch", async () => ({ ok }));
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const citations = [{ index: 1, title: "Refunds", excerpt: "Refunds take 5 days." }];

/**
 * A writer that sends these pieces; `end` may throw or wait.
 * @param {string[]} pieces
 * @param {(signal: AbortSignal) => Promise<object>} [end]
 */
function writerOf(pieces, end = async () => ({ promptTokens: 30, completionTokens: pieces.length, ending: "stop" })) {
  const calls = [];
  return {
    calls,
    name: "scripted",
    async write(messages, { onText, signal }) {
      calls.push(messages);
      for (const piece of pieces) {
        await Promise.resolve();
        if (signal.aborted) throw new WriterError("aborted", "The call was aborted.");
        onText(piece);
      }
      return end(signal);
    },
    async dispose() {},
  };
}

const stuck = (signal) =>
  new Promise((_resolve, reject) => {
    const onAbort = () => reject(new WriterError("aborted", "The call was aborted."));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
  });
const failing = (code) => async () => {
  throw new WriterError(code, `It was ${code}.`);
};

function write(writer, options = {}, question = "How long do refunds take?") {
  return writeAnswer(writer, { question, citations, hedged: false }, options);
}

describe("an answer", () => {
  test("has only the sentences that were verified", async () => {
    const { answer, generation, error } = await write(writerOf(["They take", " 5 days. Or wrong", " ones."]));
    assert.deepEqual(answer.deltas, ["They take 5 days. [1]"]);
    assert.deepEqual(answer.citations, citations);
    assert.deepEqual([generation.model, generation.sentences, generation.dropped], ["scripted", 1, { number: 1 }]);
    assert.deepEqual([generation.prompt_tokens, generation.completion_tokens], [30, 3]);
    assert.equal(error, undefined);
  });

  test("is complete as soon as the verifier has enough, without waiting for the model", async () => {
    const { answer, generation } = await write(writerOf(["A. B. C. D."], stuck));
    assert.equal(answer.deltas.length, 3);
    assert.equal(generation.fallback, undefined);
  });

  test("does not take a last sentence that was cut at maxTokens", async () => {
    const cut = async () => ({ ending: "length" });
    assert.equal((await write(writerOf(["One. Two"], cut))).answer.deltas.length, 1);
    assert.equal((await write(writerOf(["One. Two"]))).answer.deltas.length, 2);
  });

  test("is missing if no sentence was verified", async () => {
    const { answer, generation, error } = await write(writerOf(["All wrong."]));
    assert.deepEqual([answer, generation.fallback, error], [undefined, "unsupported", undefined]);
  });
});

describe("a fault", () => {
  for (const code of ["crashed", "out_of_memory", "blocked"]) {
    test(`of the model ends in a fallback that names it: ${code}`, async () => {
      const { answer, generation, error } = await write(writerOf([], failing(code)));
      assert.deepEqual([answer, generation.fallback, error.code], [undefined, "error", code]);
    });
  }

  test("of a page's own writer ends in a fallback", async () => {
    const outcome = await write(
      writerOf([], async () => {
        throw new TypeError("x is not a function");
      }),
    );
    assert.deepEqual([outcome.generation.fallback, outcome.error.code], ["error", "crashed"]);
  });

  test("keeps the sentences that were verified before it", async () => {
    const { answer } = await write(writerOf(["One. "], failing("crashed")));
    assert.deepEqual(answer.deltas, ["One. [1]"]);
  });

  test("a model that is too slow ends in a fallback", async () => {
    const { generation } = await write(writerOf([], stuck), { timeoutMs: 20 });
    assert.equal(generation.fallback, "timeout");
  });

  test("sources that are too long for the model are shortened once", async () => {
    const { write: writeShort, ...writer } = writerOf(["Yes."]);
    const tooLong = (isTooLong) => async (messages, options) => {
      if (isTooLong(messages)) throw new WriterError("context_too_long", "Too long.");
      return writeShort(messages, options);
    };
    const isWhole = (messages) => !messages[1].content.endsWith("(short)");
    assert.equal((await write({ ...writer, write: tooLong(isWhole) })).answer.deltas.length, 1);
    const { generation, error } = await write({ ...writer, write: tooLong(() => true) });
    assert.deepEqual([generation.fallback, error.code], ["error", "context_too_long"]);
  });

  test("of the verifier shows nothing that was not verified, and can be retried", async () => {
    const { writeAnswer: other } = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
    const input = { question: "?", citations, hedged: false };
    ok = false;
    const outcome = await other(writerOf(["One."]), input);
    assert.deepEqual([outcome.answer, outcome.generation.fallback], [undefined, "error"]);
    assert.equal(outcome.error.code, "download_failed");
    ok = true;
    assert.equal((await other(writerOf(["One."]), input)).answer.deltas.length, 1);
  });

  test("of the verifier while it checks ends the text", async () => {
    const writer = writerOf(["One. ", "A crash.", " Two."], stuck);
    const { answer, generation, error } = await write(writer);
    assert.deepEqual([answer, generation.fallback, error.code], [undefined, "error", "crashed"]);
  });

  test("a signal that is aborted while the verifier loads starts no text", async () => {
    const aborting = new AbortController();
    const writer = writerOf(["One."]);
    const writing = write(writer, { signal: aborting.signal });
    aborting.abort();
    await assert.rejects(writing, { name: "AbortError" });
    assert.deepEqual(writer.calls, []);
  });

  test("an aborted signal rejects with its reason, before and while writing", async () => {
    await assert.rejects(write(writerOf(["One."]), { signal: AbortSignal.abort() }), { name: "AbortError" });
    const aborting = new AbortController();
    const writing = write(writerOf(["One."], stuck), { signal: aborting.signal });
    setTimeout(() => aborting.abort(), 10);
    await assert.rejects(writing, { name: "AbortError" });
  });
});
