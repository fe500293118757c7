// The gate of a user with a stopped clock: rate limit, idempotency, expiry and the budget of tokens.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { assertError, eventually, question, send } from "./support/client.mjs";
import { DAY, HOUR, MINUTE, SECOND, START, startClockWorker, tokenOf } from "./support/clock.mjs";
import { passage, startUpstream } from "./support/upstream.mjs";
import { closePair } from "./support/worker.mjs";

const LIMIT = 20;
/** Long enough that no search times out by itself. */
const PATIENCE_MS = 8 * SECOND;
/** Longer than the time after which a run counts as lost. */
const LOST_AFTER = PATIENCE_MS + 5 * SECOND;

const variables = { CHAT_RATE_LIMIT: String(LIMIT), CHAT_UPSTREAM_TIMEOUT_MS: String(PATIENCE_MS) };
let upstream;
let worker;

before(async () => {
  upstream = await startUpstream();
  worker = await startClockWorker(upstream, variables);
});

after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const searchesOf = (user) => upstream.callsOf(user, "rpc/match_chunks").length;
const rateLimit = ({ headers }) =>
  ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers.get(name));
const rowsIn = ({ rows }) => Object.values(rows).flat().length;

/** Asks `count` new questions at a time relative to the start. */
async function askAt(time, user, count) {
  await worker.setTime(START + time);
  const replies = [];
  for (let i = 0; i < count; i++) replies.push(await worker.ask(user));
  return replies;
}

const statuses = (replies) => replies.map(({ status }) => status);

describe("rate limit window", () => {
  test("the window is full after the limit and free again exactly 60 s later", async () => {
    const user = newUser();
    assert.deepEqual(statuses(await askAt(0, user, LIMIT + 1)), [...Array(LIMIT).fill(200), 429]);
    assert.equal(searchesOf(user), LIMIT);
    const [last] = await askAt(MINUTE - 1, user, 1);
    assertError(last, 429, "rate_limited");
    assert.equal(last.headers.get("retry-after"), "1");
    assert.match(last.json.message, /faster than I can answer.* 1 second\./);
    assert.deepEqual(statuses(await askAt(MINUTE, user, LIMIT + 1)), [...Array(LIMIT).fill(200), 429]);
  });

  test("the window slides: each expired admission makes room for one question", async () => {
    const user = newUser();
    await askAt(0, user, 5);
    await askAt(30 * SECOND, user, 15);
    const [full] = await askAt(45 * SECOND, user, 1);
    assert.deepEqual([full.status, full.headers.get("retry-after")], [429, "15"]);
    const replies = await askAt(MINUTE, user, 6);
    assert.deepEqual(statuses(replies), [...Array(5).fill(200), 429]);
    assert.equal(replies[5].headers.get("retry-after"), "30");
    assert.deepEqual(statuses(await askAt(90 * SECOND - 1, user, 1)), [429]);
    assert.deepEqual(statuses(await askAt(90 * SECOND, user, 16)), [...Array(15).fill(200), 429]);
  });

  test("the rate limit headers are exact to the second", async () => {
    const user = newUser();
    const [first] = await askAt(0, user, 1);
    assert.deepEqual(rateLimit(first), ["20", "19", "60"]);
    const [second] = await askAt(10_500, user, 1);
    assert.deepEqual(rateLimit(second), ["20", "18", "50"]);
    const [third] = await askAt(MINUTE, user, 1);
    assert.deepEqual(rateLimit(third), ["20", "18", "11"]);
    const replies = await askAt(MINUTE, user, LIMIT);
    assert.deepEqual(
      replies.map((reply) => Number(reply.headers.get("ratelimit-remaining"))),
      [17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0],
    );
    const limited = replies.at(-1);
    assert.deepEqual(rateLimit(limited), ["20", "0", "11"]);
    assert.equal(limited.headers.get("retry-after"), "11");
  });

  test("repeats, conflicts and rejected attempts do not count but get the headers", async () => {
    const user = newUser();
    await worker.setTime(START);
    const sent = question();
    await worker.ask(user, sent);
    const repeat = await worker.ask(user, sent);
    const conflict = await worker.ask(user, { ...sent, message: "Something else?" });
    assert.deepEqual([rateLimit(repeat), rateLimit(conflict)], Array(2).fill(["20", "19", "60"]));
    for (const reply of await askAt(0, user, LIMIT + 10)) assert.ok([200, 429].includes(reply.status));
    assert.deepEqual(statuses(await askAt(MINUTE, user, LIMIT + 1)), [...Array(LIMIT).fill(200), 429]);
  });

  test("invalid requests do not count", async () => {
    const user = newUser();
    await worker.setTime(START);
    const invalid = await worker.ask(user, question({ message: "" }));
    const untyped = await worker.ask(user, question(), { headers: { "content-type": "text/plain" } });
    const large = await worker.ask(user, question({ padding: "x".repeat(70_000) }));
    const stranger = await worker.ask(user, question(), { token: "x" });
    const replies = [invalid, untyped, large, stranger];
    assert.deepEqual(statuses(replies), [400, 415, 413, 401]);
    for (const reply of replies) assert.deepEqual(rateLimit(reply), [null, null, null]);
    assert.deepEqual(rateLimit(await worker.ask(user)), ["20", "19", "60"]);
  });

  test("a question that fails counts, and is asked again with the same id", async () => {
    const user = newUser();
    await worker.setTime(START);
    const sent = question();
    for (const [status, code] of [
      [500, 503],
      [401, 401],
    ]) {
      upstream.behave(user, { "rpc/match_chunks": () => ({ status, body: {} }) });
      assert.equal((await worker.ask(user, sent)).status, code);
    }
    upstream.behave(user, {});
    const again = await worker.ask(user, sent);
    assert.deepEqual([again.status, ...rateLimit(again)], [200, "20", "17", "60"]);
    assert.equal(searchesOf(user), 3);
  });

  test("a question that fails because of the client counts", async () => {
    const user = newUser();
    await worker.setTime(START);
    const stranger = await worker.ask(user, question({ session_id: crypto.randomUUID() }));
    assertError(stranger, 404, "not_found");
    const model = await worker.ask(user, question({ model: "another-model" }));
    assertError(model, 409, "model_mismatch");
    assert.deepEqual([rateLimit(stranger)[1], rateLimit(model)[1]], ["19", "18"]);
    assert.equal(rateLimit(await worker.ask(user))[1], "17");
  });

  test("a question takes five statements, and what has expired is deleted once a minute", async () => {
    const user = newUser();
    await worker.setTime(START);
    await worker.ask(user);
    const statementsOf = async () => {
      const before = (await worker.gateOf(user)).statements;
      await worker.ask(user);
      return (await worker.gateOf(user)).statements - before;
    };
    // Four for the admission, one for the outcome.
    assert.equal(await statementsOf(), 5);
    await worker.setTime(START + MINUTE - 1);
    assert.equal(await statementsOf(), 5);
    assert.equal((await worker.gateOf(user)).rows.admissions.length, 3);
    await worker.setTime(START + MINUTE);
    assert.ok((await statementsOf()) > 5);
    const { rows } = await worker.gateOf(user);
    assert.deepEqual([rows.admissions.length, rows.questions.length], [2, 4]);
  });

  test("the headers of a waiting repeat reflect the time of its response", async () => {
    const user = newUser();
    await askAt(0, user, LIMIT - 1);
    const { promise: held, resolve: letGo } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
    upstream.behave(user, { "rpc/match_chunks": () => held.then(() => ({ body: [passage()] })) });
    const sent = question({ model: "another-model" });
    await worker.setTime(START + MINUTE - SECOND);
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === LIMIT);
    const repeat = worker.ask(user, sent);
    await sleep(300);
    // The first run fails and counts; by then the first questions have left the window.
    await worker.setTime(START + MINUTE + SECOND);
    letGo();
    assertError(await first, 409, "model_mismatch");
    const answer = await repeat;
    assertError(answer, 409, "model_mismatch");
    assert.equal(rateLimit(answer)[1], String(LIMIT - 2));
  });

  test("a hundred concurrent users have separate limits", async () => {
    await worker.setTime(START);
    const users = Array.from({ length: 100 }, newUser);
    const asked = users.flatMap((user) => [question(), question(), question()].map((sent) => ({ user, sent })));
    const replies = await Promise.all(asked.map(({ user, sent }) => worker.ask(user, sent)));
    assert.deepEqual(new Set(statuses(replies)), new Set([200]));
    assert.ok(replies.every(({ events }) => events.at(-1).persisted));
    for (const user of users) {
      assert.equal(upstream.history.sessionsOf(user).length, 3);
      const written = upstream.history.messagesOf(user).filter(({ role }) => role === "user");
      const sent = asked.filter((question) => question.user === user).map(({ sent }) => sent.message_id);
      assert.deepEqual(new Set(written.map(({ id }) => id)), new Set(sent));
      assert.equal(upstream.history.messagesOf(user).length, 6);
    }
  });
});

describe("lost run", () => {
  /** A user whose first search waits until it is released, and whose later searches find another passage. */
  function userWithHeldSearch() {
    const user = newUser();
    const { promise: held, resolve: letGo } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
    let searches = 0;
    const other = () => passage({ document_meta: { title: "Second" } });
    upstream.behave(user, {
      "rpc/match_chunks": async () => {
        searches += 1;
        if (searches > 1) return { body: [other()] };
        await held;
        return { body: [passage({ document_meta: { title: "First" } })] };
      },
    });
    return { user, letGo };
  }

  const titleIn = ({ events }) => events.find(({ type }) => type === "sources")?.citations[0].title;

  test("a lost run is taken over, and its late result is ignored", async () => {
    await worker.setTime(START);
    const { user, letGo } = userWithHeldSearch();
    const sent = question();
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === 1);
    await worker.setTime(START + LOST_AFTER);
    const second = await worker.ask(user, sent);
    assert.equal(titleIn(second), "Second");
    letGo();
    assert.equal(titleIn(await first), "First");
    const third = await worker.ask(user, sent);
    assert.deepEqual(third.events, second.events);
    assert.equal(searchesOf(user), 2);
  });

  test("a repeat does not wait for a crashed run longer than a response may take", async () => {
    const patience = SECOND;
    const mortal = await startClockWorker(upstream, { CHAT_UPSTREAM_TIMEOUT_MS: String(patience) });
    try {
      const user = newUser();
      const sent = question();
      const first = await mortal.ask(user, sent);
      // As if the Worker had crashed between writing the turn and storing the outcome.
      await mortal.changeGateOf(user, "UPDATE questions SET outcome = NULL");
      await mortal.runFrom(START);
      const started = performance.now();
      const waiting = await mortal.ask(user, sent);
      const ms = performance.now() - started;
      if (waiting.status !== 200) assertError(waiting, 504, "upstream_timeout");
      assert.ok(ms < patience + SECOND / 2, `took ${Math.round(ms)} ms`);

      await mortal.runFrom(START + LOST_AFTER);
      const again = await mortal.ask(user, sent);
      assert.deepEqual(again.events.at(-1), first.events.at(-1));
      assert.equal(upstream.history.messagesOf(user).length, 2);
    } finally {
      await mortal.close();
    }
  });

  test("the id of a lost run can be used with another body", async () => {
    await worker.setTime(START);
    const { user, letGo } = userWithHeldSearch();
    const sent = question();
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === 1);
    const other = { ...sent, message: "Something else?" };
    assertError(await worker.ask(user, other), 409, "conflict");
    await worker.setTime(START + LOST_AFTER);
    assert.equal((await worker.ask(user, other)).status, 200);
    letGo();
    await first;
    assertError(await worker.ask(user, sent), 409, "conflict");
  });

  test("at most four repeats wait for a run; others get an error immediately", async () => {
    await worker.setTime(START);
    const { user, letGo } = userWithHeldSearch();
    const sent = question();
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === 1);
    const repeats = Array.from({ length: 20 }, () => worker.ask(user, sent));
    // The rejected repeats return while the search is still waiting.
    const early = [];
    for (const repeat of repeats) void repeat.then((reply) => early.push(reply));
    await eventually(() => early.length === 16);
    for (const reply of early) assertError(reply, 504, "upstream_timeout");
    letGo();
    const { events } = await first;
    const answered = (await Promise.all(repeats)).filter(({ status }) => status === 200);
    assert.equal(answered.length, 4);
    for (const reply of answered) assert.deepEqual(reply.events, events);
    assert.equal(searchesOf(user), 1);
  });

  test("waiting repeats are woken immediately when the run ends", async () => {
    await worker.setTime(START);
    const { user, letGo } = userWithHeldSearch();
    const sent = question();
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === 1);
    const waiting = worker.ask(user, sent);
    await sleep(200);
    const reads = (await worker.gateOf(user)).statements;
    await sleep(500);
    assert.equal((await worker.gateOf(user)).statements, reads, "nothing is polled");
    letGo();
    assert.deepEqual((await waiting).events, (await first).events);
  });

  test("a repeat waits for a run until it counts as lost", async () => {
    await worker.setTime(START);
    const { user, letGo } = userWithHeldSearch();
    const sent = question();
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === 1);
    await worker.setTime(START + SECOND / 2);
    const second = worker.ask(user, sent);
    setTimeout(letGo, 100);
    assert.deepEqual((await second).events, (await first).events);
    assert.equal(searchesOf(user), 1);
  });
});

describe("stored outcomes", () => {
  test("outcomes are stored for a day and then deleted by the alarm", async () => {
    const user = newUser();
    await worker.setTime(START);
    const sent = question();
    const first = await worker.ask(user, sent);
    assert.equal((await worker.gateOf(user)).alarm, START + DAY);

    await worker.setTime(START + DAY - 1);
    await worker.ringAlarmOf(user);
    assert.deepEqual((await worker.ask(user, sent)).events, first.events);
    assert.equal(searchesOf(user), 1);

    await worker.setTime(START + DAY);
    const emptied = await worker.ringAlarmOf(user);
    assert.equal(rowsIn(emptied), 0, JSON.stringify(emptied));
    assert.equal(emptied.alarm, null);
    assert.deepEqual(emptied.rows, {}, "the object of an inactive user is empty");
    assert.equal((await worker.ask(user, { ...sent, message: "Something else?" })).status, 200);
    assert.equal((await worker.gateOf(user)).alarm, START + 2 * DAY, "who comes back has a new one");
  });

  test("later questions set the alarm again", async () => {
    const user = newUser();
    const sent = question();
    await worker.setTime(START);
    await worker.ask(user);
    await worker.setTime(START + HOUR);
    const later = await worker.ask(user, sent);
    assert.equal((await worker.gateOf(user)).alarm, START + DAY);

    await worker.setTime(START + DAY);
    assert.equal((await worker.ringAlarmOf(user)).alarm, START + DAY + HOUR);
    assert.deepEqual((await worker.ask(user, sent)).events, later.events);

    await worker.setTime(START + DAY + HOUR);
    const emptied = await worker.ringAlarmOf(user);
    assert.deepEqual([rowsIn(emptied), emptied.alarm], [0, null]);
  });

  test("the number of outcomes is bounded; the oldest are deleted", async () => {
    const user = newUser();
    await worker.setTime(START);
    const oldest = question();
    await worker.ask(user, oldest);
    const many = 40_000;
    await worker.changeGateOf(
      user,
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
       INSERT INTO questions (message_id, body_hash, run, started_ms, outcome)
       SELECT 'q' || i, body_hash, run, started_ms + i, outcome FROM n, (SELECT * FROM questions LIMIT 1)`,
    );
    await worker.setTime(START + MINUTE);
    const newest = question();
    const answered = await worker.ask(user, newest);
    const { rows } = await worker.gateOf(user);
    assert.ok(rows.questions.length <= 30_000, `${rows.questions.length} are kept`);
    assert.ok(!rows.questions.some(({ message_id }) => message_id === oldest.message_id));
    assert.deepEqual((await worker.ask(user, newest)).events, answered.events);
  });

  test("an outcome of the maximum size is stored and replayed unchanged", async () => {
    const user = newUser();
    await worker.setTime(START);
    const title = "R".repeat(300);
    const rows = Array.from({ length: 50 }, (_, n) =>
      passage({ document_meta: { title }, meta: { section: `${n}`.padEnd(1000, "§").slice(0, 500) } }),
    );
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: rows }) });
    const sent = question();
    const first = await worker.ask(user, sent);
    assert.ok(first.bytes.length > 50_000, `${first.bytes.length} bytes`);
    const again = await worker.ask(user, sent);
    assert.deepEqual(again.events, first.events);
    const { rows: kept } = await worker.gateOf(user);
    assert.equal(typeof kept.questions[0].outcome, "string");
    assert.equal(upstream.history.messagesOf(user).length, 2, "nothing is written twice");
  });

  test("a failed question has no outcome and is answered on the next attempt", async () => {
    const user = newUser();
    await worker.setTime(START);
    /** @type {import("./support/upstream/respond.mjs").UpstreamReply} */
    let rows = { status: 500 };
    upstream.behave(user, { "rpc/match_chunks": () => rows });
    const sent = question();
    assertError(await worker.ask(user, sent), 503, "upstream_unavailable");
    const { rows: kept } = await worker.gateOf(user);
    assert.deepEqual([kept.questions.length, kept.admissions.length], [0, 1]);
    rows = { body: [passage()] };
    assert.equal((await worker.ask(user, sent)).events.at(-1).type, "answer_end");
  });
});

describe("token budget", () => {
  const SITE = "site";
  const reserve = (name, tokens, limit) => worker.commandGateOf(name, { reserve_tokens: { tokens, limit } });
  const settle = (name, reservation, used) => worker.commandGateOf(name, { settle_tokens: { reservation, used } });
  const usedOf = async (name) => (await worker.gateOf(name)).rows.tokens.map(({ used }) => used);

  for (const whose of ["a user", "the site"]) {
    test(`the budget of ${whose} is exact under 40 concurrent reservations`, async () => {
      const name = whose === "a user" ? newUser() : SITE;
      await worker.setTime(START);
      const reservations = await Promise.all(Array.from({ length: 40 }, () => reserve(name, 10, 105)));
      const granted = reservations.filter(Boolean);
      assert.equal(granted.length, 10);
      assert.deepEqual(granted[0], { day: START / DAY, tokens: 10 });
      assert.deepEqual(await usedOf(name), [100]);
      assert.ok(await reserve(name, 5, 105), "a smaller one still fits");
      assert.equal(await reserve(name, 1, 105), null);
      await Promise.all(granted.map((reservation) => settle(name, reservation, 3)));
      assert.deepEqual(await usedOf(name), [10 * 3 + 5]);
    });
  }

  test("a settlement gives back what was not used, and counts what was used beyond the reservation", async () => {
    const user = newUser();
    await worker.setTime(START);
    const first = await reserve(user, 100, 100);
    assert.equal(await reserve(user, 1, 100), null);
    await settle(user, first, 40);
    assert.deepEqual(await usedOf(user), [40]);
    await settle(user, await reserve(user, 60, 100), 75);
    assert.deepEqual(await usedOf(user), [115]);
    assert.equal(await reserve(user, 1, 100), null);
    assert.ok(await reserve(user, 1, 200), "the limit may be raised during the day");
    await settle(user, first, 0);
    await settle(user, first, 0);
    assert.deepEqual(await usedOf(user), [0], "never below zero");
  });

  test("a limit of zero allows nothing", async () => {
    assert.equal(await reserve(newUser(), 1, 0), null);
  });

  test("each day in UTC has a new budget, which earlier reservations do not change", async () => {
    const user = newUser();
    await worker.setTime(START + DAY - 1);
    const yesterday = await reserve(user, 100, 100);
    await worker.setTime(START + DAY);
    assert.ok(await reserve(user, 100, 100));
    assert.equal(await reserve(user, 1, 100), null);
    await settle(user, yesterday, 0);
    assert.equal(await reserve(user, 1, 100), null);
    await worker.setTime(START + DAY + HOUR);
    await worker.ask(user);
    assert.deepEqual(await usedOf(user), [100], "the row of yesterday is deleted with the next question");
  });

  test("erasing the user's data keeps what counts for the budget, until the day is over", async () => {
    const user = newUser();
    await worker.setTime(START + HOUR);
    await worker.ask(user);
    await reserve(user, 100, 100);
    const reply = await send(worker.url, "/api/me", { method: "DELETE", token: tokenOf(user) });
    assert.equal(reply.status, 204);
    assert.deepEqual(await usedOf(user), [100]);
    assert.equal(await reserve(user, 1, 100), null);

    // Nothing else is left when the erasure is forgotten.
    const { alarm } = await worker.gateOf(user);
    await worker.setTime(alarm);
    const { rows, alarm: next } = await worker.ringAlarmOf(user);
    assert.deepEqual([rows.tokens.length, rows.questions, rows.erasures, next], [1, [], [], START + DAY]);
    await worker.setTime(START + DAY);
    const emptied = await worker.ringAlarmOf(user);
    assert.deepEqual([emptied.rows, emptied.alarm], [{}, null]);
  });

  test("an object that only has a budget deletes itself", async () => {
    const user = newUser();
    await worker.setTime(START + HOUR);
    await reserve(user, 1, 100);
    assert.equal((await worker.gateOf(user)).alarm, START + HOUR + DAY);
    await worker.setTime(START + HOUR + DAY);
    assert.deepEqual((await worker.ringAlarmOf(user)).rows, {});
  });
});
