// Export and erasure of all data of a user.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertError, bodyOf, eventually, headerOf, open, question, send } from "./support/client.mjs";
import { DAY, MINUTE, SECOND, START, startClockWorker, tokenOf } from "./support/clock.mjs";
import { passage, startUpstream, weakPassage } from "./support/upstream.mjs";
import { closePair, withWorker } from "./support/worker.mjs";

const LIMIT = 20;
const TIMEOUT_MS = 4 * SECOND;
/** How long an object remembers an erasure. */
const REMEMBERED_MS = 10 * MINUTE;

let upstream;
let worker;

before(async () => {
  upstream = await startUpstream();
  worker = await startClockWorker(upstream, {
    CHAT_RATE_LIMIT: String(LIMIT),
    CHAT_UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
  });
});

after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const exportOf = (user) => send(worker.url, "/api/me/export", { token: tokenOf(user) });
const deleteAllOf = (user) => send(worker.url, "/api/me", { method: "DELETE", token: tokenOf(user) });
const byId = (a, b) => (a.id < b.id ? -1 : 1);
const exportedMessage = ({
  session_id,
  refusal,
  hedged,
  mode,
  cut,
  searched,
  truncated,
  sources,
  latency_ms,
  feedback_rating: rating,
  feedback_reason: reason,
  feedback_comment: comment,
  feedback_at,
  ...row
}) => ({
  ...row,
  ...(rating && { feedback: { rating, ...(reason && { reason }), ...(comment && { comment }) } }),
  ...(mode !== "extractive" && { mode }),
  ...(cut && { cut }),
  ...(searched && { searched }),
  ...(truncated && { truncated }),
  ...(sources.length > 0 && { sources }),
  ...(latency_ms !== null && { latency_ms }),
  ...(feedback_at && { feedback_at }),
  ...(row.role === "assistant" && { hedged }),
  ...(refusal && { refusal }),
});
const exportedSession = ({ user_id, ...session }, messages) => ({
  ...session,
  messages: messages.filter((row) => row.session_id === session.id).map(exportedMessage),
});
/** The expected export of a user. */
const keptOf = (user) => ({
  sessions: upstream.history
    .sessionsOf(user)
    .toSorted(byId)
    .map((session) => exportedSession(session, upstream.history.messagesOf(user))),
  refused_questions: upstream.history.refusalsOf(user).map(({ user_id, ...row }) => row),
});

function assertExported({ status, json }, user) {
  assert.equal(status, 200);
  const { exported_at, ...kept } = json;
  assert.ok(!Number.isNaN(Date.parse(exported_at)));
  assert.deepEqual(kept, keptOf(user));
}

describe("export", () => {
  test("the export of a user without data is empty, an attachment, and not cacheable", async () => {
    const user = newUser();
    const reply = await exportOf(user);
    const { exported_at, ...kept } = reply.json;
    assert.deepEqual(kept, { sessions: [], refused_questions: [] });
    assert.equal(reply.headers.get("cache-control"), "no-store");
    assert.equal(reply.headers.get("content-disposition"), 'attachment; filename="evidence-chat-export.json"');
    assert.match(headerOf(reply.headers, "content-type"), /^application\/json\b/);
  });

  test("an export contains the user's answers, refusals and refused questions, and no one else's", async () => {
    const user = newUser();
    await worker.setTime(START);
    const other = newUser();
    await worker.ask(other);
    const { events } = await worker.ask(user);
    const followUp = { session_id: events[0].session_id, truncated: true };
    await worker.ask(user, question(followUp));
    const answer = `/api/sessions/${events[0].session_id}/messages/${events.at(-1).message_id}`;
    const feedback = { rating: "down", reason: "outdated", comment: "Since May it takes 3 days." };
    const given = { method: "PUT", token: tokenOf(user), body: feedback };
    assert.equal((await send(worker.url, `${answer}/feedback`, given)).status, 200);
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [weakPassage()] }) });
    await worker.ask(user, question({ message: 'Is "this" kept?\n\u2028 Ä 🦊' }));
    await eventually(() => upstream.history.refusalsOf(user).length === 1);
    const reply = await exportOf(user);
    assertExported(reply, user);
    assert.deepEqual([reply.json.sessions.length, reply.json.refused_questions.length], [2, 1]);
    const messages = reply.json.sessions.flatMap((session) => session.messages);
    assert.equal(messages.length, 6);
    const answers = messages.filter(({ role, refusal }) => role === "assistant" && !refusal);
    assert.equal(answers.length, 2);
    assert.deepEqual(answers[0].feedback ?? answers[1].feedback, feedback);
    assert.equal(answers.filter(({ feedback_at }) => feedback_at).length, 1);
    for (const { latency_ms, sources } of answers) assert.ok(Number.isInteger(latency_ms) && sources.length > 0);
    assert.deepEqual(answers.map(({ truncated }) => truncated).sort(), [true, undefined]);
    for (const { citations, hedged } of answers) assert.deepEqual([citations.length, hedged], [1, false]);
    for (const { id } of upstream.history.messagesOf(other)) assert.ok(!reply.text.includes(id));
  });

  test("an export is read with the user's token, in pages by key", async () => {
    const user = newUser();
    const sessions = Array.from({ length: 230 }, () => upstream.history.addSession(user));
    for (const [n, session] of sessions.entries()) {
      // One without messages, most with a few, one with many.
      const count = n === 7 ? 450 : n % 4;
      for (let i = 0; i < count; i++) {
        upstream.history.addMessage(session, { role: i % 2 ? "assistant" : "user", content: `${n}-${i}` });
      }
    }
    // Written in one transaction, so the times are equal.
    const created_at = upstream.history.addMessage(sessions[3]).created_at;
    for (let i = 0; i < 250; i++) upstream.history.addMessage(sessions[3], { created_at, id: uuidOf(i) });
    for (let i = 0; i < 210; i++) upstream.history.addRefusal(user);
    const earlier = upstream.calls.length;
    assertSameRows(await exportOf(user), user);
    const calls = upstream.calls.slice(earlier).filter((call) => call.user === user);
    assert.ok(calls.length <= 24, `${calls.length} calls`);
    for (const { query, search, method } of calls) {
      assert.equal(method, "GET");
      assert.equal(query.offset, undefined);
      assert.ok(Number(query.limit) <= 200);
      assert.ok(String(search).length < 8000);
    }
  });

  test("an export is complete even if the database returns fewer rows than requested", async () => {
    const user = newUser();
    for (let i = 0; i < 7; i++) {
      const session = upstream.history.addSession(user);
      for (let j = 0; j < i; j++) upstream.history.addMessage(session);
      upstream.history.addRefusal(user);
    }
    const few = (resource) => (call) => {
      const { body } = upstream.defaults[resource](call);
      return { body: body.slice(0, 3) };
    };
    const tables = ["chat_sessions", "chat_messages", "chat_refusals"];
    upstream.behave(user, Object.fromEntries(tables.map((table) => [table, few(table)])));
    assertExported(await exportOf(user), user);
  });

  test("large rows are read in smaller pages", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    for (let i = 0; i < 40; i++) upstream.history.addMessage(session, { content: `${i} `.padEnd(60_000, "x") });
    for (let i = 0; i < 100; i++) upstream.history.addRefusal(user, { question: `${i} `.padEnd(20_000, "ä") });
    assertExported(await exportOf(user), user);
  });

  test("an export that fails before the first row is an error with a status", async () => {
    for (const [fault, status, code] of [
      [{ status: 500 }, 503, "upstream_unavailable"],
      [{ status: 401, body: {} }, 401, "unauthorized"],
      [{ status: 403, body: {} }, 403, "forbidden"],
      [{ text: "<html>" }, 503, "upstream_unavailable"],
    ]) {
      const user = newUser();
      upstream.behave(user, { chat_sessions: () => fault });
      assertError(await exportOf(user), status, code);
    }
    assertError(await send(worker.url, "/api/me/export"), 401, "unauthorized");
  });

  /** @type {[resource: string, fault: import("./support/upstream/respond.mjs").UpstreamReply, detail: string][]} */
  const MIDWAY = [
    ["chat_messages", { status: 500 }, "chat_messages: HTTP 500"],
    ["chat_messages", { cut: "end" }, "chat_messages: unexpected JSON"],
    ["chat_messages", { cut: "reset" }, "chat_messages: the answer was cut off"],
    ["chat_messages", { hang: true }, "chat_messages: no answer within"],
    ["chat_messages", { body: [{ session_id: crypto.randomUUID() }] }, "chat_messages: unexpected JSON"],
    ["chat_sessions", { status: 500 }, "chat_sessions: HTTP 500"],
    ["chat_refusals", { status: 500 }, "chat_refusals: HTTP 500"],
    ["chat_refusals", { status: 403, body: {} }, "chat_refusals: HTTP 403"],
  ];
  for (const [resource, fault, detail] of MIDWAY) {
    const name = `${resource} ${JSON.stringify(fault).slice(0, 20)}`;
    test(`an export that fails midway is cut off, is not valid JSON, and is logged: ${name}`, async () => {
      const user = newUser();
      const sessions = Array.from({ length: 3 }, () => upstream.history.addSession(user));
      for (const session of sessions) for (let i = 0; i < 90; i++) upstream.history.addMessage(session);
      for (let i = 0; i < 10; i++) upstream.history.addRefusal(user);
      const second = (usual) => {
        let calls = 0;
        return (call) => (calls++ === 0 ? usual(call) : { ...usual(call), ...fault });
      };
      const usual = upstream.defaults[resource];
      upstream.behave(user, { [resource]: resource === "chat_refusals" ? () => fault : second(usual) });
      await withWorker(upstream, {}, async (broken) => {
        const response = await open(broken.url, "/api/me/export", { user });
        assert.equal(response.status, 200);
        let text = "";
        try {
          for await (const piece of bodyOf(response).pipeThrough(new TextDecoderStream())) text += piece;
        } catch {
          // Cloudflare resets the connection; the local runtime ends the body early.
        }
        assert.throws(() => JSON.parse(text), SyntaxError);
        assert.doesNotMatch(text, /\]\}$/);
        const { faults, outcome } = await broken.lineOf(response);
        assert.equal(outcome, "export");
        assert.equal(faults.length, 1);
        assert.ok(faults[0].startsWith(`export incomplete: ${detail}`), faults[0]);
      });
    });
  }

  test("an export stays valid if rows are deleted meanwhile", async () => {
    const user = newUser();
    const sessions = Array.from({ length: 4 }, () => upstream.history.addSession(user));
    for (const session of sessions) upstream.history.addMessage(session);
    let calls = 0;
    const usual = upstream.defaults.chat_messages;
    upstream.behave(user, {
      chat_messages: (call) => {
        if (calls++ === 0) upstream.defaults["rpc/chat_delete_user_data"]({ user });
        return usual(call);
      },
    });
    const { json } = await exportOf(user);
    assert.equal(json.sessions.length, 4);
    for (const { messages } of json.sessions) assert.deepEqual(messages, []);
  });

  test("an export stops when the client disconnects", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    for (let i = 0; i < 3000; i++) upstream.history.addMessage(session, { content: `${i} `.padEnd(10_000, "x") });
    const controller = new AbortController();
    await withWorker(upstream, {}, async ({ url, lineOf }) => {
      const response = await open(url, "/api/me/export", { user, signal: controller.signal });
      await bodyOf(response).getReader().read();
      controller.abort();
      await lineOf(response);
    });
    const read = upstream.callsOf(user, "chat_messages").length;
    assert.ok(read < 25, `${read} pages of about 30 were read`);
  });
});

describe("erasure", () => {
  test("an erasure deletes the user's sessions, refused questions and stored outcomes, and no one else's", async () => {
    await worker.setTime(START);
    const [user, other] = [newUser(), newUser()];
    const sent = question();
    for (const each of [user, other]) {
      await worker.ask(each, sent);
      upstream.history.addRefusal(each);
    }
    const reply = await deleteAllOf(user);
    assert.deepEqual([reply.status, reply.text], [204, ""]);
    assert.deepEqual(keptOf(user), { sessions: [], refused_questions: [] });
    assert.deepEqual((await worker.gateOf(user)).rows.questions, []);
    assertExported(await exportOf(user), user);

    assert.deepEqual([keptOf(other).sessions.length, keptOf(other).refused_questions.length], [1, 1]);
    assert.equal((await worker.gateOf(other)).rows.questions.length, 1);
    const searches = () => upstream.callsOf(other, "rpc/match_chunks").length;
    await worker.ask(other, sent);
    assert.equal(searches(), 1, "the outcome of the other user still comes from memory");
  });

  test("an erasure is idempotent and works for a user without data", async () => {
    const user = newUser();
    for (let i = 0; i < 3; i++) assert.equal((await deleteAllOf(user)).status, 204);
    upstream.history.addRefusal(user);
    assert.equal((await deleteAllOf(user)).status, 204);
    assert.equal((await deleteAllOf(user)).status, 204);
    assert.deepEqual(upstream.history.refusalsOf(user), []);
  });

  test("an erasure needs a token, and other methods are rejected", async () => {
    assertError(await send(worker.url, "/api/me", { method: "DELETE" }), 401, "unauthorized");
    assertError(await send(worker.url, "/api/me", { token: tokenOf(newUser()) }), 405, "invalid_request");
  });

  test("an erasure that fails in the database is an error and can be retried", async () => {
    const user = newUser();
    upstream.history.addSession(user);
    upstream.behave(user, { "rpc/chat_delete_user_data": () => ({ status: 500 }) });
    assertError(await deleteAllOf(user), 503, "upstream_unavailable");
    upstream.behave(user, {});
    assert.equal((await deleteAllOf(user)).status, 204);
    assert.deepEqual(upstream.history.sessionsOf(user), []);
  });

  test("an erasure does not reset the rate limit", async () => {
    const user = newUser();
    await worker.setTime(START);
    for (let i = 0; i < LIMIT; i++) assert.equal((await worker.ask(user)).status, 200);
    assert.equal((await deleteAllOf(user)).status, 204);
    const limited = await worker.ask(user);
    assertError(limited, 429, "rate_limited");
    assert.equal(limited.headers.get("retry-after"), "60");
    await worker.setTime(START + MINUTE);
    assert.equal((await worker.ask(user)).status, 200);
  });

  test("after an erasure the Durable Object soon deletes itself", async () => {
    const user = newUser();
    await worker.setTime(START);
    await worker.ask(user);
    assert.equal((await worker.gateOf(user)).alarm, START + DAY);
    await worker.setTime(START + SECOND);
    await deleteAllOf(user);
    const end = START + SECOND + REMEMBERED_MS;
    assert.equal((await worker.gateOf(user)).alarm, end);
    await worker.setTime(end - 1);
    assert.equal((await worker.ringAlarmOf(user)).alarm, end, "not before it is forgotten");
    await worker.setTime(end);
    const emptied = await worker.ringAlarmOf(user);
    assert.deepEqual([emptied.rows, emptied.alarm], [{}, null]);
    const sent = question();
    const first = await worker.ask(user, sent);
    assert.equal(first.status, 200);
    assert.equal((await worker.gateOf(user)).alarm, end + DAY, "who comes back has a new one");
    assert.deepEqual((await worker.ask(user, sent)).events, first.events);
    await deleteAllOf(user);
    await worker.setTime(end + REMEMBERED_MS);
    assert.deepEqual((await worker.ringAlarmOf(user)).rows, {});
  });

  test("a question after an erasure keeps its alarm", async () => {
    const user = newUser();
    await worker.setTime(START);
    await deleteAllOf(user);
    await worker.setTime(START + MINUTE);
    const sent = question();
    const first = await worker.ask(user, sent);
    await worker.setTime(START + REMEMBERED_MS);
    const { alarm, rows } = await worker.ringAlarmOf(user);
    assert.deepEqual([alarm, rows.erasures], [START + MINUTE + DAY, []]);
    assert.deepEqual((await worker.ask(user, sent)).events, first.events);
  });
});

describe("question in progress during an erasure", () => {
  /** A user whose calls of a function wait for `letGo`, before or after the database has executed them. */
  function userWithHeld(resource, when, behaviour = {}) {
    const user = newUser();
    const held = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
    const usual = behaviour[resource] ?? upstream.defaults[resource];
    upstream.behave(user, {
      ...behaviour,
      [resource]: async (call) => {
        if (when === "after") {
          const reply = usual(call);
          return held.promise.then(() => reply);
        }
        return held.promise.then(() => usual(call));
      },
    });
    const isThere = () => eventually(() => upstream.callsOf(user, resource).length > 0);
    return { user, isThere, letGo: held.resolve };
  }
  const refused = { "rpc/match_chunks": () => ({ body: [weakPassage()] }) };
  const answered = { "rpc/match_chunks": () => ({ body: [passage()] }) };

  for (const [what, behaviour] of Object.entries({ answer: answered, refusal: refused })) {
    for (const [name, resource, when] of [
      ["while it searches", "rpc/match_chunks", "before"],
      ["before its turn is written", "rpc/chat_record_turn", "before"],
      ["after its turn is written", "rpc/chat_record_turn", "after"],
    ]) {
      test(`a question in progress leaves no data behind, ${name} (${what})`, async () => {
        await worker.setTime(START);
        const { user, isThere, letGo } = userWithHeld(resource, when, behaviour);
        const sent = question();
        const asked = worker.ask(user, sent);
        await isThere();
        assert.equal((await deleteAllOf(user)).status, 204);
        letGo();
        const { status, events } = await asked;
        assert.equal(status, 200);
        assert.deepEqual(
          [events.at(-1).type, events.at(-1).persisted],
          [what === "answer" ? "answer_end" : "refusal", false],
        );
        assert.equal(events.at(-1).type === "refusal" && "session_id" in events.at(-1), false);
        await new Promise((resolve) => setTimeout(resolve, 200));
        assert.deepEqual(keptOf(user), { sessions: [], refused_questions: [] });
        const { rows } = await worker.gateOf(user);
        assert.deepEqual(rows.questions, []);
        assert.equal(rows.admissions.length, 1, "it counts all the same");
      });
    }
  }

  test("a question in progress in an erased session leaves no data behind", async () => {
    await worker.setTime(START);
    const { user, isThere, letGo } = userWithHeld("rpc/chat_record_turn", "before");
    const session = upstream.history.addSession(user);
    const asked = worker.ask(user, question({ session_id: session.id }));
    await isThere();
    await deleteAllOf(user);
    letGo();
    assert.equal((await asked).events.at(-1).persisted, false);
    assert.deepEqual(keptOf(user), { sessions: [], refused_questions: [] });
    assert.deepEqual((await worker.gateOf(user)).rows.questions, []);
  });

  test("a waiting repeat is not admitted as a new question", async () => {
    await worker.setTime(START);
    const { user, isThere, letGo } = userWithHeld("rpc/match_chunks", "before");
    const sent = question();
    const asked = worker.ask(user, sent);
    await isThere();
    const repeat = worker.ask(user, sent);
    await eventually(async () => (await worker.gateOf(user)).requests >= 2);
    await deleteAllOf(user);
    assertError(await repeat, 504, "upstream_timeout");
    letGo();
    assert.equal((await asked).events.at(-1).persisted, false);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
    assert.deepEqual(keptOf(user), { sessions: [], refused_questions: [] });
    assert.deepEqual((await worker.gateOf(user)).rows.questions, []);
  });

  test("the same question can be asked again after an erasure", async () => {
    await worker.setTime(START);
    const { user, isThere, letGo } = userWithHeld("rpc/match_chunks", "before");
    const sent = question();
    const asked = worker.ask(user, sent);
    await isThere();
    await deleteAllOf(user);
    const again = worker.ask(user, sent);
    await eventually(() => upstream.callsOf(user, "rpc/match_chunks").length === 2);
    letGo();
    assert.equal((await asked).status, 200);
    const second = await again;
    assert.equal(second.status, 200);
    assert.deepEqual((await worker.ask(user, sent)).events, second.events);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 2, "its outcome is kept");
  });

  test("a question in progress does not affect later questions", async () => {
    await worker.setTime(START);
    const user = newUser();
    await deleteAllOf(user);
    const sent = question();
    const first = await worker.ask(user, sent);
    assert.equal(first.events.at(-1).persisted, true);
    assert.deepEqual((await worker.ask(user, sent)).events, first.events);
    assert.equal(keptOf(user).sessions.length, 1);
  });
});

/** Compares rows; those with the same time may have any order. */
function assertSameRows({ status, json }, user) {
  assert.equal(status, 200);
  const sorted = ({ sessions, refused_questions }) => ({
    sessions: sessions.map((session) => ({ ...session, messages: session.messages.toSorted(byId) })),
    refused_questions,
  });
  assert.deepEqual(sorted(json), sorted(keptOf(user)));
}

const uuidOf = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
