// Questions that lean on the one before them, and questions that are longer than the model reads.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, question, send } from "./support/client.mjs";
import { accessToken } from "./support/tokens.mjs";
import { passage, weakPassage } from "./support/upstream.mjs";
import { closePair, startPair } from "./support/worker.mjs";

let upstream;
let worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

const PREVIOUS = "When are refunds paid?";
const FOLLOW_UP = "How long?";
const BOTH = `${FOLLOW_UP} ${PREVIOUS}`;
/** A vector that differs from the question's own. */
const JOINED = Array.from({ length: 384 }, (_, index) => (index === 1 ? 1 : 0));

const previous = (overrides = {}) => ({ message: PREVIOUS, embedding: JOINED, ...overrides });
const followUp = (overrides = {}) => question({ message: FOLLOW_UP, previous: previous(), ...overrides });

/** A row for a search: what the words of the question are is part of each row. */
const found = (row, words) => ({ ...row, query_terms: words.map((word) => ({ word, weight: 3 })) });

/** A new user whose search for a text finds these rows. */
function userWho(searches, behaviour = {}) {
  const user = crypto.randomUUID();
  const find = (call) => searches[call.body.query_text]?.(call) ?? { body: [] };
  upstream.behave(user, { "rpc/match_chunks": find, ...behaviour });
  return user;
}

/** The messages of a user's only session, as the API gives them. */
async function historyOf(user) {
  const [{ id }] = upstream.history.sessionsOf(user);
  const { json } = await send(worker.url, `/api/sessions/${id}/messages`, { token: accessToken(user) });
  return json.messages;
}

const nothing = () => ({ body: [found(weakPassage({ similarity: 0.1 }), [])] });
const refunds = () => ({ body: [found(passage(), ["refunds", "paid"])] });
const searched = (user) => upstream.callsOf(user, "rpc/match_chunks").map(({ body }) => body.query_text);

describe("a question after another one", () => {
  test("is searched for alone and together with it, and answered from what both find", async () => {
    const user = userWho({ [FOLLOW_UP]: nothing, [BOTH]: refunds });
    const { events } = await ask(worker.url, user, followUp());
    assert.deepEqual([events[0].type, events.at(-1).type], ["answer_start", "answer_end"]);
    assert.equal(events.at(-1).searched, BOTH);
    assert.deepEqual(searched(user).sort(), [BOTH, FOLLOW_UP].sort());
    const [alone, both] = [FOLLOW_UP, BOTH].map((text) =>
      upstream.callsOf(user, "rpc/match_chunks").find(({ body }) => body.query_text === text),
    );
    assert.notEqual(alone.body.query_embedding, both.body.query_embedding);
    const [{ turn }] = upstream.callsOf(user, "rpc/chat_record_turn").map(({ body }) => body);
    assert.equal(turn.question, FOLLOW_UP, "the history has what the user asked");
    assert.equal(turn.searched, BOTH);
    const [asked, answered] = await historyOf(user);
    assert.deepEqual([asked.content, "searched" in asked], [FOLLOW_UP, false]);
    assert.deepEqual([answered.searched, "truncated" in answered], [BOTH, false]);
  });

  test("starts both searches at the same time", async () => {
    let waiting = 0;
    let release;
    const bothArrived = new Promise((resolve) => (release = resolve));
    const together = (reply) => async (call) => {
      if (++waiting === 2) release();
      await bothArrived;
      return reply(call);
    };
    const user = userWho({ [FOLLOW_UP]: together(nothing), [BOTH]: together(refunds) });
    assert.equal((await ask(worker.url, user, followUp())).events.at(-1).searched, BOTH);
  });

  test("is answered alone if the search for both fails", async () => {
    const user = userWho({ [FOLLOW_UP]: refunds, [BOTH]: () => ({ status: 400, body: { message: "no" } }) });
    const last = (await ask(worker.url, user, followUp())).events.at(-1);
    assert.deepEqual([last.type, "searched" in last], ["answer_end", false]);
  });

  test("has the same answer, event for event, if it is repeated, and counts once", async () => {
    const user = userWho({ [FOLLOW_UP]: nothing, [BOTH]: refunds });
    const body = followUp();
    const first = await ask(worker.url, user, body);
    const repeat = await ask(worker.url, user, body);
    assert.equal(repeat.text, first.text);
    assert.equal(searched(user).length, 2, "nothing is searched for again");
    const remaining = (reply) => Number(reply.headers.get("ratelimit-remaining"));
    assert.equal(remaining(first), Number(first.headers.get("ratelimit-limit")) - 1);
    assert.equal(remaining(repeat), remaining(first));
    const other = await ask(worker.url, user, { ...body, previous: previous({ message: "Where are you?" }) });
    assert.equal(other.status, 409, "after another question it is another one");
  });

  test("is one JSON document with `searched`", async () => {
    const user = userWho({ [FOLLOW_UP]: nothing, [BOTH]: refunds });
    const { json } = await ask(worker.url, user, followUp(), { headers: { accept: "application/json" } });
    assert.deepEqual([json.type, json.searched], ["answer", BOTH]);
  });

  test("without it, one search is made and the response has no new field", async () => {
    const user = userWho({ [FOLLOW_UP]: refunds });
    const { text } = await ask(worker.url, user, question({ message: FOLLOW_UP, previous: null }));
    assert.deepEqual(searched(user), [FOLLOW_UP]);
    assert.doesNotMatch(text, /searched|truncated/);
  });

  test("is rejected before anything is searched for if the question before is malformed", async () => {
    const user = userWho({});
    const { status, json } = await ask(worker.url, user, followUp({ previous: previous({ embedding: [1] }) }));
    assert.deepEqual([status, json.code], [400, "invalid_request"]);
    assert.ok(json.message.startsWith("previous.embedding must have 384 numbers, got 1"), json.message);
    assert.deepEqual(searched(user), []);
  });
});

describe("a question that is longer than the model reads", () => {
  const last = async (body) => (await ask(worker.url, crypto.randomUUID(), body)).events.at(-1);

  test("is marked where the client says so, in each form", async () => {
    assert.equal((await last(question({ truncated: true }))).truncated, true);
    const user = crypto.randomUUID();
    const json = await ask(worker.url, user, question({ truncated: true }), {
      headers: { accept: "application/json" },
    });
    assert.equal(json.json.truncated, true);
  });

  test("is marked in a refusal too", async () => {
    const user = userWho({});
    const [refusal] = (await ask(worker.url, user, question({ truncated: true }))).events;
    assert.deepEqual([refusal.type, refusal.truncated], ["refusal", true]);
    const [asked, refused] = await historyOf(user);
    assert.deepEqual([refused.refusal, refused.truncated, "truncated" in asked], ["no_match", true, false]);
  });

  test("is marked in the history and in the export, with the answer", async () => {
    const user = crypto.randomUUID();
    await ask(worker.url, user, question({ truncated: true }));
    const marks = (messages) => messages.map(({ role, truncated }) => [role, truncated]);
    const expected = [
      ["user", undefined],
      ["assistant", true],
    ];
    assert.deepEqual(marks(await historyOf(user)), expected);
    const { json } = await send(worker.url, "/api/me/export", { token: accessToken(user) });
    assert.deepEqual(marks(json.sessions[0].messages), expected);
  });
});
