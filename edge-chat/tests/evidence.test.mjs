// How the Worker handles evidence: the thresholds, the record of a refusal, and robustness against any row of the database.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, eventually, question } from "./support/client.mjs";
import { passage, weakPassage } from "./support/upstream.mjs";
import { closePair, startPair, TIMEOUT_MS, withSettings } from "./support/worker.mjs";

let upstream;
let worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

/** A new user whose searches find these rows. */
function userWho(finds, behaviour = {}) {
  const user = crypto.randomUUID();
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: finds }), ...behaviour });
  return user;
}

const noted = (user) => upstream.callsOf(user, "rpc/chat_record_refusal");
describe("evidence thresholds", () => {
  test("a passage that the answer does not quote is listed in also_found and is not a stored source", async () => {
    const other = weakPassage({
      document_id: "d0000000-0000-4000-8000-000000000002",
      document_meta: { title: "About us" },
      meta: { section: "About us › History" },
    });
    const user = userWho([passage(), other, { ...other, chunk_id: crypto.randomUUID() }]);
    const { events } = await ask(worker.url, user);
    const { citations, also_found } = events.find((event) => event.type === "sources");
    assert.deepEqual(
      citations.map(({ title, quotes }) => [title, quotes.length > 0]),
      [["Refunds", true]],
    );
    assert.deepEqual(
      also_found.map(({ title, section, excerpt }) => [title, section, excerpt]),
      [["About us", "About us › History", other.content]],
      "one passage of a section",
    );
    const [{ turn }] = upstream.callsOf(user, "rpc/chat_record_turn").map(({ body }) => body);
    assert.deepEqual(
      turn.citations.map(({ title }) => title),
      ["Refunds"],
    );
    assert.ok(!JSON.stringify(turn).includes("About us"));
  });

  for (const [confidence, expected] of Object.entries({ 0: "answer_end", 1: "refusal" })) {
    test(`a confidence threshold of ${confidence} ${expected === "refusal" ? "refuses everything" : "leaves only the similarity threshold"}`, async () => {
      await withSettings(upstream, { evidence_confidence: Number(confidence) }, async (configured) => {
        for (const row of [weakPassage(), passage()]) {
          assert.equal((await ask(configured.url, userWho([row]))).events.at(-1).type, expected);
        }
        const below = await ask(configured.url, userWho([weakPassage({ similarity: 0.34 })]));
        assert.equal(below.events[0].reason, "no_match");
      });
    });
  }
});

describe("record of a refused question", () => {
  test("a refusal is recorded once, as the user, with vector, best score and reason", async () => {
    const user = userWho([weakPassage(), weakPassage({ similarity: 0.2 })]);
    const sent = question();
    const { events } = await ask(worker.url, user, sent);
    const call = await eventually(() => noted(user)[0]);
    assert.equal(call.method, "POST");
    assert.equal(call.headers.prefer, undefined, "that it is written once is the function's business");
    const { embedding, ...row } = call.body;
    assert.deepEqual(JSON.parse(embedding), sent.embedding);
    assert.deepEqual(row, {
      id: sent.message_id,
      session_id: events[0].session_id,
      assistant: "default",
      question: sent.message,
      best_score: 0.36,
      reason: "weak_evidence",
    });
    assert.deepEqual((await ask(worker.url, user, sent)).events, events);
    assert.equal(noted(user).length, 1, "a repeat notes nothing");
    const [{ turn }] = upstream.callsOf(user, "rpc/chat_record_turn").map(({ body }) => body);
    assert.equal(turn.refusal, "weak_evidence", "the history says why, too");
  });

  test("a refusal without passages is recorded without a score", async () => {
    const empty = userWho([], { "rpc/chat_has_documents": () => ({ body: false }) });
    await ask(worker.url, empty);
    const { body } = await eventually(() => noted(empty)[0]);
    assert.deepEqual([body.best_score, body.reason], [null, "no_access"]);
  });

  test("a refusal is recorded without session if the history could not be written", async () => {
    const user = userWho([weakPassage()], { "rpc/chat_record_turn": () => ({ status: 500 }) });
    const { events } = await ask(worker.url, user);
    assert.equal(events[0].persisted, false);
    assert.equal((await eventually(() => noted(user)[0])).body.session_id, null);
  });

  test("an answered question is not recorded as a refusal", async () => {
    const user = userWho([passage()]);
    await ask(worker.url, user);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(noted(user), []);
  });

  for (const { name, fault, detail } of [
    { name: "fails", fault: { status: 500 }, detail: "chat_record_refusal: HTTP 500" },
    { name: "is not possible in an older database", fault: { status: 404 }, detail: "chat_record_refusal: HTTP 404" },
    { name: "hangs", fault: { hang: true }, detail: "chat_record_refusal: no answer within" },
  ]) {
    test(`the client gets the refusal immediately even if recording it ${name}`, async () => {
      const user = userWho([weakPassage()], { "rpc/chat_record_refusal": () => fault });
      const started = Date.now();
      const reply = await ask(worker.url, user, question({ message: "my-private-words refunds" }));
      assert.ok(Date.now() - started < TIMEOUT_MS, "the client does not wait for the note");
      assert.deepEqual([reply.events[0].reason, reply.events[0].persisted], ["weak_evidence", true]);
      const { faults } = await worker.lineOf(reply);
      assert.ok(faults[0].startsWith(`refusal not recorded: ${detail}`), faults[0]);
      assert.ok(!worker.log.some((entry) => entry.includes("my-private-words")));
    });
  }
});

describe("rows of a search", () => {
  const content = "👩‍👧 Größe: refunds are paid within 5 days. 字 Refunds are free. Paid at noon.";
  const at = (/** @type {unknown} */ start, /** @type {unknown} */ end, /** @type {unknown} */ similarity = 0.8) => ({
    start,
    end,
    similarity,
    kind: "sentence",
    chain: [],
  });
  const hostile = {
    huge: [at(2 ** 32, 2 ** 32 + 1), at(0, Number.MAX_SAFE_INTEGER), at(0, 1e300)],
    "no numbers": [at("0", "5"), at(null, null), { kind: "row" }],
    "ten thousand, one character each": Array.from({ length: 10_000 }, (_, n) => at(n, n + 1)),
  };
  for (const [name, sentences] of Object.entries(hostile)) {
    test(`rows with invalid sentences are used: ${name}`, async () => {
      const { status, events } = await ask(worker.url, userWho([passage({ content, sentences }), passage()]));
      assert.equal(status, 200);
      assert.equal(events.at(-1).type, "answer_end");
      for (const { excerpt, quotes } of events.find((event) => event.type === "sources").citations) {
        for (const { start, end, text } of quotes) assert.equal(excerpt.slice(start, end), text);
      }
    });
  }

  for (const columns of [{ sentences: { 0: at(0, 5) } }, { query_terms: "refunds" }, { content: null }]) {
    test(`rows of another shape are an upstream error: ${JSON.stringify(columns)}`, async () => {
      const { status, json } = await ask(worker.url, userWho([passage(columns)]));
      assert.deepEqual([status, json.code, json.retryable], [503, "upstream_unavailable", true]);
    });
  }
});
