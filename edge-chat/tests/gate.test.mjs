// The gate of a user under a clock that stands still: how often, once only, and what is kept for how long.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { assertError, eventually, question } from "./support/client.mjs";
import { DAY, HOUR, MINUTE, SECOND, START, startClockWorker } from "./support/clock.mjs";
import { passage, startUpstream } from "./support/upstream.mjs";
import { closePair } from "./support/worker.mjs";

const LIMIT = 20;
/** Long enough that no search ends by itself, so that only the clock decides. */
const PATIENCE_MS = 8 * SECOND;
/** Above the time after which a run counts as lost: that of the upstream and what the rest may take. */
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

/** Asks so many new questions at a time after the start. */
async function askAt(time, user, count) {
  await worker.setTime(START + time);
  const replies = [];
  for (let i = 0; i < count; i++) replies.push(await worker.ask(user));
  return replies;
}

const statuses = (replies) => replies.map(({ status }) => status);

describe("the window", () => {
  test("is full after the limit and free again exactly 60 s later", async () => {
    const user = newUser();
    assert.deepEqual(statuses(await askAt(0, user, LIMIT + 1)), [...Array(LIMIT).fill(200), 429]);
    const [last] = await askAt(MINUTE - 1, user, 1);
    assertError(last, 429, "rate_limited");
    assert.equal(last.headers.get("retry-after"), "1");
    assert.match(last.json.message, /faster than I can answer.* 1 second\./);
    assert.deepEqual(statuses(await askAt(MINUTE, user, LIMIT + 1)), [...Array(LIMIT).fill(200), 429]);
  });

  test("slides: what leaves it makes room, and no more", async () => {
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

  test("is told in headers that are right to the second", async () => {
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

  test("takes no note of repeats, conflicts and refused attempts, which are told the same", async () => {
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

  test("is not reached by requests that are invalid", async () => {
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

  test("gives a place back when the fault is ours", async () => {
    const user = newUser();
    await worker.setTime(START);
    let broken = true;
    upstream.behave(user, { "rpc/match_chunks": () => (broken ? { status: 500 } : { body: [passage()] }) });
    const sent = question();
    assertError(await worker.ask(user, sent), 503, "upstream_unavailable");
    assertError(await worker.ask(user), 503, "upstream_unavailable");
    broken = false;
    const again = await worker.ask(user, sent);
    assert.deepEqual([again.status, ...rateLimit(again)], [200, "20", "19", "60"]);
    assert.equal(searchesOf(user), 3);
  });

  for (const status of [401, 403]) {
    test(`gives a place back when only Supabase refuses the token, with ${status}`, async () => {
      const user = newUser();
      await worker.setTime(START);
      let isRefused = true;
      upstream.behave(user, { "rpc/match_chunks": () => (isRefused ? { status, body: {} } : { body: [passage()] }) });
      const sent = question();
      for (let i = 0; i < LIMIT + 1; i++) assert.equal((await worker.ask(user, sent)).status, status);
      isRefused = false;
      const again = await worker.ask(user, sent);
      assert.deepEqual([again.status, ...rateLimit(again)], [200, "20", "19", "60"]);
    });
  }

  test("keeps the place of a question that the client got wrong", async () => {
    const user = newUser();
    await worker.setTime(START);
    const stranger = await worker.ask(user, question({ session_id: crypto.randomUUID() }));
    assertError(stranger, 404, "not_found");
    const model = await worker.ask(user, question({ model: "another-model" }));
    assertError(model, 409, "model_mismatch");
    assert.deepEqual([rateLimit(stranger)[1], rateLimit(model)[1]], ["19", "18"]);
    assert.equal(rateLimit(await worker.ask(user))[1], "17");
  });

  test("gives ten places a minute back at most, however often a user's questions fail", async () => {
    const user = newUser();
    await worker.setTime(START);
    upstream.behave(user, { "rpc/match_chunks": () => ({ status: 500 }) });
    for (let i = 0; i < 10; i++) assertError(await worker.ask(user), 503, "upstream_unavailable");
    upstream.behave(user, {});
    assert.equal(rateLimit(await worker.ask(user))[1], "19");
    upstream.behave(user, { "rpc/match_chunks": () => ({ status: 500 }) });
    for (let i = 0; i < 2; i++) assertError(await worker.ask(user), 503, "upstream_unavailable");
    upstream.behave(user, {});
    assert.equal(rateLimit(await worker.ask(user))[1], "16");
    assert.equal(rateLimit(await worker.ask(newUser()))[1], "19", "nobody else pays for it");
    await worker.setTime(START + MINUTE);
    upstream.behave(user, { "rpc/match_chunks": () => ({ status: 500 }) });
    assertError(await worker.ask(user), 503, "upstream_unavailable");
    upstream.behave(user, {});
    assert.equal(rateLimit(await worker.ask(user))[1], "19");
  });

  test("is remembered: a user who is beyond it reaches the object once, and again when there is room", async () => {
    const user = newUser();
    const sent = question();
    await askAt(0, user, LIMIT - 1);
    await worker.ask(user, sent);
    assert.equal((await worker.ask(user)).status, 429);
    const { requests } = await worker.gateOf(user);
    await worker.setTime(START + 500);
    for (let i = 0; i < 30; i++) {
      const reply = await worker.ask(user, i % 2 ? question() : sent);
      assertError(reply, 429, "rate_limited");
      assert.deepEqual([...rateLimit(reply), reply.headers.get("retry-after")], ["20", "0", "60", "60"]);
    }
    assert.equal((await worker.gateOf(user)).requests, requests);
    assert.equal((await worker.ask(newUser())).status, 200);
    await worker.setTime(START + MINUTE);
    assert.equal((await worker.ask(user)).status, 200);
  });

  test("moves on for a repeat that waits", async () => {
    const user = newUser();
    await askAt(0, user, LIMIT - 1);
    let letGo;
    const held = new Promise((resolve) => (letGo = resolve));
    upstream.behave(user, { "rpc/match_chunks": () => held.then(() => ({ body: [passage()] })) });
    const sent = question({ model: "another-model" });
    await worker.setTime(START + MINUTE - SECOND);
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === LIMIT);
    const repeat = worker.ask(user, sent);
    await sleep(300);
    // The first run fails and counts; the questions of the beginning have left the window by then.
    await worker.setTime(START + MINUTE + SECOND);
    letGo();
    assertError(await first, 409, "model_mismatch");
    const answer = await repeat;
    assertError(answer, 409, "model_mismatch");
    assert.equal(rateLimit(answer)[1], String(LIMIT - 2));
  });

  test("is each user's own, a hundred users at once", async () => {
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

describe("a run that is lost", () => {
  /** A user whose first search is held until it is let go, and whose later ones answer something else. */
  function userWithHeldSearch() {
    const user = newUser();
    let letGo;
    const held = new Promise((resolve) => (letGo = resolve));
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

  test("is taken over when its time is up, and its late result changes nothing", async () => {
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

  test("with its Worker keeps no repeat waiting for longer than a response may take", async () => {
    const patience = SECOND;
    const mortal = await startClockWorker(upstream, { CHAT_UPSTREAM_TIMEOUT_MS: String(patience) });
    try {
      const user = newUser();
      const sent = question();
      const first = await mortal.ask(user, sent);
      // As if the Worker had died between writing the turn and keeping its outcome.
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

  test("leaves its id free: another body under it is no conflict", async () => {
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

  test("is waited for by four repeats at most, and the others are told at once", async () => {
    await worker.setTime(START);
    const { user, letGo } = userWithHeldSearch();
    const sent = question();
    const first = worker.ask(user, sent);
    await eventually(() => searchesOf(user) === 1);
    const repeats = Array.from({ length: 20 }, () => worker.ask(user, sent));
    // Those that may not wait are back while the search is still held.
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

  test("wakes its repeats at once when it ends", async () => {
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

  test("is waited for until then", async () => {
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

describe("outcomes", () => {
  test("are kept for a day and then forgotten by the alarm, all of them", async () => {
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
    assert.deepEqual(emptied.rows, {}, "the object of a user who is gone holds nothing at all");
    assert.equal((await worker.ask(user, { ...sent, message: "Something else?" })).status, 200);
    assert.equal((await worker.gateOf(user)).alarm, START + 2 * DAY, "who comes back has a new one");
  });

  test("of later questions set the alarm anew", async () => {
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

  test("are bounded in number: of too many, the oldest go", async () => {
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

  test("that are as large as passages can make them are kept and come back the same", async () => {
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

  test("of a question that failed are none: it is answered the next time", async () => {
    const user = newUser();
    await worker.setTime(START);
    let rows = { status: 500 };
    upstream.behave(user, { "rpc/match_chunks": () => rows });
    const sent = question();
    assertError(await worker.ask(user, sent), 503, "upstream_unavailable");
    const { rows: kept } = await worker.gateOf(user);
    assert.deepEqual([kept.questions, kept.admissions], [[], []]);
    rows = { body: [passage()] };
    assert.equal((await worker.ask(user, sent)).events.at(-1).type, "answer_end");
  });
});
