import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { SessionTracker } = await importTs(new URL("../src/client/session.ts", import.meta.url));

function sessionAfter(...events) {
  const session = new SessionTracker();
  for (const event of events) session.observe(event);
  return session.id;
}
const start = (session_id) => ({ type: "answer_start", session_id });
const end = (persisted) => ({ type: "answer_end", persisted });
const refusal = (session_id, persisted) => ({ type: "refusal", session_id, persisted });

test("the session of a stored answer is kept", () => {
  assert.equal(sessionAfter(start("a"), end(true)), "a");
});

test("a session that may not be stored is kept as unconfirmed, unless there is another one", () => {
  const session = new SessionTracker();
  for (const event of [start("a"), end(false)]) session.observe(event);
  assert.deepEqual([session.id, session.isUnconfirmed], ["a", true]);
  assert.equal(sessionAfter(start("a"), end(true), start("b"), end(false)), "a");
});

test("a truncated answer does not change the session", () => {
  assert.equal(sessionAfter(start("a")), undefined);
});

test("a refusal keeps the session", () => {
  assert.equal(sessionAfter(refusal("a", true)), "a");
  assert.equal(sessionAfter(refusal("a", false)), undefined);
  assert.equal(sessionAfter(start("a"), end(true), refusal(undefined, true)), "a");
});

test("a reset forgets the session", () => {
  const session = new SessionTracker();
  session.observe(start("a"));
  session.observe(end(true));
  session.reset();
  assert.equal(session.id, undefined);
});

test("the session of an interrupted answer is kept as unconfirmed", () => {
  const session = new SessionTracker();
  session.observe(start("a"));
  session.interrupted();
  assert.deepEqual([session.id, session.isUnconfirmed], ["a", true]);
  session.observe(start("a"));
  session.observe(end(true));
  assert.deepEqual([session.id, session.isUnconfirmed], ["a", false]);
});

test("a confirmed session stays confirmed after an interrupted answer", () => {
  const session = new SessionTracker();
  session.resume("a");
  session.observe(start("b"));
  session.interrupted();
  assert.deepEqual([session.id, session.isUnconfirmed], ["a", false]);
});

test("an interruption after a reset leaves no session", () => {
  const session = new SessionTracker();
  session.observe(start("a"));
  session.reset();
  session.interrupted();
  assert.deepEqual([session.id, session.isUnconfirmed], [undefined, false]);
});
