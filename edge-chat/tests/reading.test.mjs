// What the reader reads, and what its reading changes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { ask, assertError, question, search, searchBody } from "./support/client.mjs";
import { passage, sentence, weakPassage } from "./support/upstream.mjs";
import { closePair, startPair, withSettings } from "./support/worker.mjs";

const CALIBRATION = new URL("../../chat-core/src/evidence/calibration.rs", import.meta.url);
const [, READER] = /READER: &str = "([^"]+)"/.exec(readFileSync(CALIBRATION, "utf8")) ?? [];

let upstream, worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

/** A new user whose search for a text, or for any, finds these rows. */
function userWho(finds) {
  const user = crypto.randomUUID();
  const rows = (call) => (Array.isArray(finds) ? finds : finds[call.body.query_text]) ?? [];
  upstream.behave(user, { "rpc/match_chunks": (call) => ({ body: rows(call) }) });
  return user;
}

const toRead = async (user, overrides = {}) => {
  const body = searchBody({ query: question().message, statements: true, ...overrides });
  return search(worker.url, user, body);
};

/** The reading of these passages with z for each statement, by passage. */
const readingOf = (passages, z) => ({
  reader: READER,
  passages: passages.map(({ chunk_id, hash }, at) => ({ chunk_id, hash, z: z[at] })),
});

const last = ({ events }) => events.at(-1);
const textOf = ({ events }) => events.map(({ text }) => text ?? "").join("");

describe("what the reader reads", () => {
  test("the passages have heading, hash and statements, in the order of their rank", async () => {
    const rows = [weakPassage({ meta: { section: "About › History" } }), passage()];
    const user = userWho(rows);
    const { status, json } = await toRead(user);
    assert.equal(status, 200);
    assert.equal(json.question, question().message);
    assert.deepEqual(
      json.passages.map(({ chunk_id, heading, statements }) => [chunk_id, heading, statements]),
      [
        [rows[1].chunk_id, "Refunds", ["Refunds are paid within 5 days.", "Our shop opened in 1990."]],
        [rows[0].chunk_id, "Refunds › About › History", ["Our shop opened in 1990."]],
      ],
    );
    assert.notEqual(json.passages[0].hash, json.passages[1].hash);
    const calls = upstream.callsOf(user);
    assert.deepEqual(
      calls.map(({ resource, body }) => [resource, body.match_count]),
      [["rpc/match_chunks", 5]],
      "one call, with the number of passages of a question",
    );
  });

  test("a question that leans on the one before it is read with it, and answered from the same search", async () => {
    const [message, before] = ["How long?", question().message];
    const both = `${message} ${before}`;
    const joined = passage({ query_terms: [{ word: "refunds", weight: 3 }] });
    const user = userWho({ [message]: [weakPassage({ similarity: 0.1, query_terms: [] })], [both]: [joined] });
    const previous = { message: before, embedding: question().embedding };
    const { json } = await toRead(user, { query: message, previous });
    assert.deepEqual([json.question, json.passages.map(({ chunk_id }) => chunk_id)], [both, [joined.chunk_id]]);
    const answer = (z) => {
      return ask(worker.url, user, question({ message, previous, reading: readingOf(json.passages, [z]) }));
    };
    const answered = last(await answer([3, -3]));
    assert.deepEqual([answered.type, answered.searched, answered.decided_by], ["answer_end", both, "reader"]);
    const refused = last(await answer([-9, -9]));
    assert.deepEqual([refused.reason, refused.searched, refused.decided_by], ["weak_evidence", both, "reader"]);
  });

  test("vectors of another model are a 409", async () => {
    assertError(await toRead(userWho([passage({ model: "other" })])), 409, "model_mismatch");
  });
});

describe("a reading", () => {
  const content = "Refunds are free. Refunds are paid within 5 days.";
  const row = () =>
    passage({
      content,
      sentences: ["Refunds are free.", "Refunds are paid within 5 days."].map((text) => sentence(content, text, 0.7)),
    });

  test("decides which statement is shown, in a stream and in one document", async () => {
    for (const [z, text] of [
      [[9, -9], "Refunds are free. [1]"],
      [[null, 9], "Refunds are paid within 5 days. [1]"],
    ]) {
      const user = userWho([row()]);
      const reading = readingOf((await toRead(user)).json.passages, [z]);
      const streamed = await ask(worker.url, user, question({ reading }));
      assert.deepEqual([textOf(streamed), last(streamed).decided_by], [text, "reader"]);
      const headers = { accept: "application/json" };
      const { json } = await ask(worker.url, user, question({ reading }), { headers });
      assert.deepEqual([json.text, json.decided_by], [text, "reader"]);
    }
  });

  test("refuses what does not answer, and only orders if the owner turns the confidence off", async () => {
    const user = userWho([row()]);
    const reading = readingOf((await toRead(user)).json.passages, [[-8, -9]]);
    const reply = await ask(worker.url, user, question({ reading }));
    assert.deepEqual([last(reply).reason, last(reply).decided_by], ["weak_evidence", "reader"]);
    const line = await worker.lineOf(reply);
    assert.deepEqual([line.outcome, line.decided_by], ["weak_evidence", "reader"]);
    assert.ok(!worker.linesOf(reply).join("\n").includes("Refunds"), "no text in the log");
    await withSettings(upstream, { evidence_confidence: 0 }, async (open) => {
      const answer = last(await ask(open.url, user, question({ reading })));
      assert.deepEqual([answer.type, answer.decided_by], ["answer_end", "reader"]);
    });
  });

  test("is not part of what makes a repeat the same", async () => {
    const user = userWho([row()]);
    const reading = readingOf((await toRead(user)).json.passages, [[9, -9]]);
    const asked = question();
    const first = await ask(worker.url, user, { ...asked, reading });
    for (const repeat of [asked, { ...asked, reading: { ...reading, passages: [] } }, { ...asked, reading }]) {
      assert.equal((await ask(worker.url, user, repeat)).text, first.text);
    }
    assert.equal(last(first).decided_by, "reader");
  });

  test("is a 400 that names the field if it is malformed, before anything is asked", async () => {
    const user = userWho([row()]);
    const good = { chunk_id: crypto.randomUUID(), hash: "0123456789abcdef", z: [1] };
    const malformed = { reader: READER, passages: [{ ...good, z: ["1"] }] };
    const reply = await ask(worker.url, user, question({ reading: malformed }));
    assertError(reply, 400, "invalid_request");
    assert.ok(reply.json.message.startsWith("reading.passages[0].z "), reply.json.message);
    assert.equal(upstream.callsOf(user).length, 0);
  });

  test("of five passages with 400 statements each fits into a question", async () => {
    const z = Array(400).fill(-99.12345886230469);
    const passages = Array.from({ length: 5 }, () => ({ chunk_id: crypto.randomUUID(), hash: "0123456789abcdef", z }));
    const previous = { message: "x".repeat(1000), embedding: question().embedding };
    const user = userWho([row()]);
    const reply = await ask(worker.url, user, question({ previous, reading: { reader: READER, passages } }));
    assert.equal(reply.status, 200);
  });
});
