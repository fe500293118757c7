// The built Worker in the real runtime, against a stand-in for Supabase that can fail on demand.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorker } from "../src/worker.mjs";
import { JWT_SECRET, accessToken, ask, question } from "./support/client.mjs";
import { passage, startUpstream } from "./support/upstream.mjs";

const ORIGIN = "https://page.test";
const TIMEOUT_MS = 600;
const log = [];
let upstream;
let worker;

before(async () => {
  upstream = await startUpstream();
  worker = await startWorker({ onLog: (line) => log.push(line), variables: variables() });
});

after(async () => {
  await worker?.close();
  upstream?.close();
});

const variables = () => ({
  SUPABASE_URL: upstream.url,
  SUPABASE_PUBLISHABLE_KEY: "publishable-key",
  SUPABASE_JWT_SECRET: JWT_SECRET,
  CHAT_ALLOWED_ORIGINS: `${ORIGIN}, https://other.test`,
  CHAT_UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
});

const newUser = () => crypto.randomUUID();

function assertError(reply, status, code, retryable = false) {
  assert.equal(reply.status, status);
  assert.equal(reply.json.code, code);
  assert.equal(reply.json.retryable, retryable);
  assert.ok(reply.json.message);
  assert.equal(reply.json.request_id, reply.headers.get("x-request-id"));
  assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
  assert.equal(reply.headers.get("cache-control"), "no-store");
}

describe("an answer", () => {
  test("streams its text, its sources and its end", async () => {
    const user = newUser();
    const sent = question();
    const { status, events, headers } = await ask(worker.url, user, sent);
    assert.equal(status, 200);
    assert.match(headers.get("x-request-id"), /^[0-9a-f-]{36}$/);
    assert.deepEqual(
      events.map((event) => event.type),
      ["answer_start", "answer_delta", "sources", "answer_end"],
    );
    const [start, delta, sources, end] = events;
    assert.equal(delta.text, "Refunds are paid within 5 days. [1]");
    assert.deepEqual(sources.referenced_indices, [1]);
    assert.equal(sources.citations[0].title, "Refunds");
    assert.equal(sources.citations[0].quotes[0].text, "Refunds are paid within 5 days.");
    assert.equal(end.persisted, true);

    const [search] = upstream.callsOf(user, "rpc/match_chunks");
    assert.equal(search.headers.apikey, "publishable-key");
    assert.equal(JSON.parse(search.body.query_embedding).length, 384);
    assert.deepEqual([search.body.match_count, search.body.match_threshold], [5, -1]);
    const [session] = upstream.callsOf(user, "chat_sessions");
    assert.deepEqual(session.body, { id: start.session_id, title: "When are refunds paid?" });
    const [asked, answered] = upstream.callsOf(user, "chat_messages")[0].body;
    assert.deepEqual([asked.id, asked.role, asked.content], [sent.message_id, "user", "When are refunds paid?"]);
    assert.deepEqual([answered.id, answered.role, answered.content], [end.message_id, "assistant", delta.text]);
    assert.equal(answered.citations.length, 1);
    assert.deepEqual(upstream.callsOf(user, "kb_documents"), [], "no further question to an upstream that has rows");
  });

  test("comes as one document when JSON is asked for", async () => {
    const { json } = await ask(worker.url, newUser(), question(), { headers: { accept: "application/json" } });
    assert.equal(json.type, "answer");
    assert.equal(json.text, "Refunds are paid within 5 days. [1]");
    assert.equal(json.persisted, true);
    assert.deepEqual(json.referenced_indices, [1]);
  });

  test("has neither markers nor sources when they are not wanted", async () => {
    const { events } = await ask(worker.url, newUser(), question({ include_citations: false }));
    assert.equal(events[1].text, "Refunds are paid within 5 days.");
    assert.deepEqual([events[2].citations, events[2].referenced_indices], [[], []]);
  });

  test("starts before the history is written", async () => {
    const user = newUser();
    let written = false;
    upstream.behave(user, {
      chat_messages: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        written = true;
        return { status: 201 };
      },
    });
    const response = await fetch(`${worker.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${accessToken(user)}` },
      body: JSON.stringify(question()),
    });
    const reader = response.body.getReader();
    let text = "";
    while (!text.includes("event: sources")) text += new TextDecoder().decode((await reader.read()).value);
    assert.equal(written, false);
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      text += new TextDecoder().decode(piece.value);
    }
    assert.match(text, /event: answer_end\ndata: .*"persisted":true/);
  });

  test("goes on in a session of the user without creating one", async () => {
    const user = newUser();
    const session_id = crypto.randomUUID();
    const { events } = await ask(worker.url, user, question({ session_id }));
    assert.equal(events[0].session_id, session_id);
    const calls = upstream.callsOf(user, "chat_sessions");
    assert.deepEqual(
      calls.map((call) => call.method),
      ["GET"],
    );
    assert.equal(calls[0].query.id, `eq.${session_id}`);
  });

  test("a session of somebody else does not exist", async () => {
    const user = newUser();
    upstream.behave(user, { chat_sessions: () => ({ body: [] }) });
    assertError(await ask(worker.url, user, question({ session_id: crypto.randomUUID() })), 404, "not_found");
    assert.deepEqual(upstream.callsOf(user, "chat_messages"), []);
  });
});

describe("a refusal", () => {
  test("says that nothing matches, names what is near and is kept in the history", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage({ similarity: 0.34 })] }) });
    const { events } = await ask(worker.url, user);
    assert.equal(events.length, 1);
    const [refusal] = events;
    assert.equal(refusal.type, "refusal");
    assert.equal(refusal.reason, "no_match");
    assert.match(refusal.message, /^I don't have enough information/);
    assert.deepEqual(refusal.suggestions, ["Contact support", "Rephrase your question"]);
    assert.deepEqual(refusal.nearest, ["Refunds"]);
    assert.equal(refusal.persisted, true);
    assert.equal(upstream.callsOf(user, "chat_messages")[0].body[1].content, refusal.message);
    assert.equal(upstream.callsOf(user, "chat_messages")[0].body[1].session_id, refusal.session_id);
  });

  test("the floor is inclusive", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage({ similarity: 0.35 })] }) });
    assert.equal((await ask(worker.url, user)).events[0].type, "answer_start");
  });

  test("tells an empty knowledge base from a question without a match", async () => {
    const empty = newUser();
    const none = () => ({ body: [] });
    upstream.behave(empty, { "rpc/match_chunks": none, kb_documents: none });
    const refusal = (await ask(worker.url, empty)).events[0];
    assert.equal(refusal.reason, "empty_kb");
    assert.equal(refusal.message, "The knowledge base is empty. Please contact an admin.");

    const unmatched = newUser();
    upstream.behave(unmatched, { "rpc/match_chunks": none });
    assert.equal((await ask(worker.url, unmatched)).events[0].reason, "no_match");
  });

  test("names no session when it could not be written", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [] }), chat_sessions: () => ({ status: 500 }) });
    const [refusal] = (await ask(worker.url, user)).events;
    assert.equal(refusal.persisted, false);
    assert.ok(!("session_id" in refusal));
  });
});

describe("who may ask", () => {
  const hostile = {
    "no token": () => "",
    garbage: () => "garbage",
    "another secret": (user) => accessToken(user, { secret: "x".repeat(40) }),
    expired: (user) => accessToken(user, { claims: { exp: Math.floor(Date.now() / 1000) - 30 } }),
    "not valid yet": (user) => accessToken(user, { claims: { nbf: Math.floor(Date.now() / 1000) + 30 } }),
    "another audience": (user) => accessToken(user, { claims: { aud: "other" } }),
    "the anonymous role": (user) => accessToken(user, { claims: { role: "anon" } }),
    "no user": () => accessToken("nobody"),
    "algorithm none": (user) => accessToken(user, { header: { alg: "none" } }).replace(/[^.]*$/, ""),
    "a swapped algorithm": (user) => accessToken(user, { header: { alg: "RS256" } }),
  };
  for (const [name, token] of Object.entries(hostile)) {
    test(`${name} is turned away`, async () => {
      const user = newUser();
      const reply = await ask(worker.url, user, question(), { token: token(user) });
      assertError(reply, 401, "unauthorized");
      assert.equal(reply.headers.get("www-authenticate"), "Bearer");
      assert.deepEqual(upstream.callsOf(user), []);
    });
  }

  test("a token Supabase no longer accepts is unauthorized too", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ status: 401, body: { message: "JWT expired" } }) });
    assertError(await ask(worker.url, user), 401, "unauthorized");
  });
});

describe("what may be asked", () => {
  test("the body is validated with a sentence that says what to change", async () => {
    const reply = await ask(worker.url, newUser(), question({ embedding: Array(383).fill(0.1) }));
    assertError(reply, 400, "invalid_request");
    assert.equal(reply.json.message, "embedding must hold 384 numbers, got 383");
  });

  test("anything but JSON is refused by its type", async () => {
    const reply = await ask(worker.url, newUser(), question(), { headers: { "content-type": "text/plain" } });
    assertError(reply, 415, "unsupported_media_type");
  });

  test("a body beyond the limit is refused, announced or not", async () => {
    const large = JSON.stringify(question({ padding: "x".repeat(70_000) }));
    assertError(await ask(worker.url, newUser(), large), 413, "payload_too_large");
    const response = await fetch(`${worker.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${accessToken(newUser())}` },
      body: new Blob([large]).stream(),
      duplex: "half",
    });
    assert.equal(response.status, 413);
    assert.equal((await response.json()).code, "payload_too_large");
  });

  test("an empty body is refused", async () => {
    assertError(await ask(worker.url, newUser(), ""), 400, "invalid_request");
  });

  test("a vector of another model is refused", async () => {
    const user = newUser();
    assertError(await ask(worker.url, user, question({ model: "other-model" })), 409, "model_mismatch");
    assert.equal((await ask(worker.url, user, question({ model: "test-model" }))).status, 200);
  });
});

describe("once only", () => {
  test("a repeat gets the same outcome without a second search", async () => {
    const user = newUser();
    const sent = question();
    const first = await ask(worker.url, user, sent);
    const second = await ask(worker.url, user, sent);
    assert.deepEqual(second.events, first.events);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
    assert.equal(upstream.callsOf(user, "chat_messages").length, 1);
  });

  test("a repeat that comes while the first is running waits for its outcome", async () => {
    const user = newUser();
    upstream.behave(user, {
      "rpc/match_chunks": async () => {
        await new Promise((resolve) => setTimeout(resolve, 250));
        return { body: [passage()] };
      },
    });
    const sent = question();
    const replies = await Promise.all([1, 2, 3].map(() => ask(worker.url, user, sent)));
    for (const reply of replies) assert.deepEqual(reply.events, replies[0].events);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
  });

  test("the same id with another body is a conflict", async () => {
    const user = newUser();
    const sent = question();
    await ask(worker.url, user, sent);
    assertError(await ask(worker.url, user, { ...sent, message: "Something else?" }), 409, "conflict");
  });

  test("the ids of two users have nothing to do with each other", async () => {
    const sent = question();
    await ask(worker.url, newUser(), sent);
    const other = newUser();
    assert.equal((await ask(worker.url, other, { ...sent, message: "Something else?" })).status, 200);
  });

  test("a question that failed can be asked again", async () => {
    const user = newUser();
    let broken = true;
    upstream.behave(user, { "rpc/match_chunks": () => (broken ? { status: 500 } : { body: [passage()] }) });
    const sent = question();
    assertError(await ask(worker.url, user, sent), 503, "upstream_unavailable", true);
    broken = false;
    assert.equal((await ask(worker.url, user, sent)).status, 200);
  });

  test("an answer reaches the history and its repeats although its reader went away", async () => {
    const user = newUser();
    upstream.behave(user, {
      chat_messages: async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { status: 201 };
      },
    });
    const sent = question();
    const controller = new AbortController();
    const response = await fetch(`${worker.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${accessToken(user)}` },
      body: JSON.stringify(sent),
      signal: controller.signal,
    });
    await response.body.getReader().read();
    controller.abort();
    const again = await ask(worker.url, user, sent);
    assert.equal(again.events.at(-1).persisted, true);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
  });
});

describe("a slow history", () => {
  let patient;
  before(async () => {
    patient = await startWorker({ variables: { ...variables(), CHAT_UPSTREAM_TIMEOUT_MS: "20000" } });
  });
  after(() => patient?.close());

  test("is bridged with heartbeats", async () => {
    const user = newUser();
    upstream.behave(user, {
      chat_messages: async () => {
        // Longer than the Worker's heartbeat interval of 10 s.
        await new Promise((resolve) => setTimeout(resolve, 11_000));
        return { status: 201 };
      },
    });
    const response = await fetch(`${patient.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${accessToken(user)}` },
      body: JSON.stringify(question()),
    });
    const text = await response.text();
    assert.match(text, /event: sources\ndata: .*\n\n: heartbeat\n\nevent: answer_end\ndata: .*"persisted":true/);
  });
});

describe("a reader that goes away", () => {
  test("before there is an answer, and asks the same again, gets it promptly", async (t) => {
    const user = newUser();
    let searches = 0;
    upstream.behave(user, {
      "rpc/match_chunks": async () => {
        if (searches++ === 0) await new Promise((resolve) => setTimeout(resolve, 400));
        return { body: [passage()] };
      },
    });
    const sent = question();
    const aborted = ask(worker.url, user, sent, { signal: AbortSignal.timeout(150) });
    await assert.rejects(aborted, { name: "TimeoutError" });
    const started = Date.now();
    const again = await ask(worker.url, user, sent);
    const took = Date.now() - started;
    assert.equal(again.events.at(-1).type, "answer_end");
    assert.ok(took < 5 * TIMEOUT_MS, `took ${took} ms`);
    t.diagnostic(`took ${took} ms and ${searches} searches`);
  });
});

describe("how often", () => {
  test("of forty questions at once exactly twenty are admitted", async () => {
    const user = newUser();
    const replies = await Promise.all(Array.from({ length: 40 }, () => ask(worker.url, user)));
    assert.equal(replies.filter((reply) => reply.status === 200).length, 20);
    const limited = replies.filter((reply) => reply.status === 429);
    assert.equal(limited.length, 20);
    for (const reply of limited) {
      assertError(reply, 429, "rate_limited", true);
      assert.match(reply.headers.get("retry-after"), /^([1-9]|[1-5]\d|60)$/);
    }
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 20);
    assert.equal((await ask(worker.url, newUser())).status, 200, "others are not concerned");
  });

  test("repeats, conflicts and invalid requests cost nothing", async () => {
    const user = newUser();
    const sent = question();
    for (let i = 0; i < 8; i++) {
      await ask(worker.url, user, sent);
      await ask(worker.url, user, { ...sent, message: "Other?" });
      await ask(worker.url, user, question({ message: "" }));
    }
    for (let i = 0; i < 19; i++) assert.equal((await ask(worker.url, user)).status, 200);
    assert.equal((await ask(worker.url, user)).status, 429);
    assert.equal((await ask(worker.url, user, sent)).status, 200, "a repeat is answered even then");
  });
});

describe("faults of Supabase", () => {
  test("an answer that never comes is a timeout", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ hang: true }) });
    const started = Date.now();
    assertError(await ask(worker.url, user), 504, "upstream_timeout", true);
    assert.ok(Date.now() - started < 5 * TIMEOUT_MS);
  });

  test("rows of another shape are a fault of the upstream", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: { secret: "do not tell" } }) });
    const reply = await ask(worker.url, user);
    assertError(reply, 503, "upstream_unavailable", true);
    assert.ok(!JSON.stringify(reply.json).includes("do not tell"));
  });

  test("a database that does not fit tells the client nothing", async () => {
    const user = newUser();
    upstream.behave(user, {
      "rpc/match_chunks": () => ({ status: 404, body: { message: "function public.match_chunks not found" } }),
    });
    const reply = await ask(worker.url, user);
    assertError(reply, 500, "internal");
    assert.ok(!JSON.stringify(reply.json).includes("match_chunks"));
  });

  for (const [name, fault] of Object.entries({
    "refuses the message": { chat_messages: () => ({ status: 403 }) },
    "refuses the session": { chat_sessions: () => ({ status: 409 }) },
    "hangs on the message": { chat_messages: () => ({ hang: true }) },
  })) {
    test(`an answer is given although the history ${name}`, async () => {
      const user = newUser();
      upstream.behave(user, fault);
      const { events } = await ask(worker.url, user);
      assert.equal(events[1].text, "Refunds are paid within 5 days. [1]");
      assert.deepEqual([events.at(-1).type, events.at(-1).persisted], ["answer_end", false]);
    });
  }

  test("a new session without its messages is taken back", async () => {
    const user = newUser();
    upstream.behave(user, { chat_messages: () => ({ status: 500 }) });
    await ask(worker.url, user);
    assert.deepEqual(
      upstream.callsOf(user, "chat_sessions").map((call) => call.method),
      ["POST", "DELETE"],
    );
  });
});

describe("around the chat", () => {
  test("health needs neither token nor Supabase", async () => {
    const response = await fetch(`${worker.url}/api/health`);
    assert.deepEqual([response.status, await response.json()], [200, { status: "ok" }]);
    // Monitors ask with HEAD.
    const head = await fetch(`${worker.url}/api/health`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });

  test("unknown paths and wrong methods are told apart", async () => {
    const read = async (response) => ({
      status: response.status,
      headers: response.headers,
      json: await response.json(),
    });
    assertError(await read(await fetch(`${worker.url}/nope`)), 404, "not_found");
    const wrong = await read(await fetch(`${worker.url}/api/chat`));
    assertError(wrong, 405, "invalid_request");
    assert.equal(wrong.headers.get("allow"), "POST, OPTIONS");
    const health = await read(await fetch(`${worker.url}/api/health`, { method: "DELETE" }));
    assertError(health, 405, "invalid_request");
  });

  test("only listed origins may call from a page", async () => {
    const preflight = (origin) =>
      fetch(`${worker.url}/api/chat`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
      });
    const allowed = await preflight(ORIGIN);
    assert.equal(allowed.status, 204);
    assert.equal(allowed.headers.get("access-control-allow-origin"), ORIGIN);
    assert.match(allowed.headers.get("access-control-allow-headers"), /authorization, content-type/);
    assert.match(allowed.headers.get("access-control-allow-methods"), /POST/);
    const other = await preflight(`${ORIGIN}.evil.test`);
    assert.equal(other.status, 403);
    assert.equal(other.headers.get("access-control-allow-origin"), null);
    assert.equal(other.headers.get("vary"), "Origin");
  });

  test("a page can read errors as well as answers", async () => {
    for (const token of [accessToken(newUser()), ""]) {
      const reply = await ask(worker.url, newUser(), question(), { token, headers: { origin: ORIGIN } });
      assert.equal(reply.headers.get("access-control-allow-origin"), ORIGIN);
      assert.equal(reply.headers.get("vary"), "Origin");
      assert.match(reply.headers.get("access-control-expose-headers"), /retry-after/);
    }
  });

  test("a request is one line in the log, without what was asked", async () => {
    const user = newUser();
    const token = accessToken(user);
    const reply = await ask(worker.url, user, question({ message: "my-private-words refunds" }), { token });
    const id = reply.headers.get("x-request-id");
    const lines = log.filter((line) => line.includes(id));
    assert.equal(lines.length, 1);
    const { request_id, route, status, ms, outcome } = JSON.parse(lines[0].slice(lines[0].indexOf("{")));
    assert.deepEqual([request_id, route, status, outcome], [id, "/api/chat", 200, "answer"]);
    assert.equal(typeof ms, "number");
    assert.ok(!log.some((line) => line.includes("my-private-words") || line.includes(token)));
  });
});
