// The built Worker in workerd, with a stand-in for Supabase.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, bodyOf, headerOf, open, question } from "./support/client.mjs";
import { passage, sentence } from "./support/upstream.mjs";
import { closePair, startPair, TIMEOUT_MS, withWorker } from "./support/worker.mjs";

let upstream;
let worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const writesOf = (user) => upstream.callsOf(user, "rpc/chat_record_turn").map(({ body }) => body.turn);

/** A passage with one cosine and a sentence with another. */
function passageWith(similarity, ofSentence) {
  const content = "Refunds are paid within 5 days.";
  return passage({ content, similarity, sentences: [sentence(content, content, ofSentence)] });
}

/** A delay for writing the history. */
const slowHistory = (delay) => ({ "rpc/chat_record_turn": () => ({ status: 204, delay }) });

/** Asks and returns the unread stream. */
const openStream = (url, user, sent = question(), signal) =>
  open(url, "/api/chat", { method: "POST", user, body: sent, signal });

describe("answer", () => {
  test("an answer streams text, sources and end", async () => {
    const user = newUser();
    const sent = question();
    const { status, events, headers } = await ask(worker.url, user, sent);
    assert.equal(status, 200);
    assert.match(headerOf(headers, "x-request-id"), /^[0-9a-f-]{36}$/);
    assert.deepEqual(
      events.map((event) => event.type),
      ["answer_start", "answer_delta", "sources", "answer_end"],
    );
    const [start, delta, sources, end] = events;
    assert.equal(delta.text, "Refunds are paid within 5 days. [1]");
    assert.deepEqual([sources.referenced_indices, sources.also_found, start.hedged], [[1], [], false]);
    assert.equal(sources.citations[0].title, "Refunds");
    assert.equal(sources.citations[0].quotes[0].text, "Refunds are paid within 5 days.");
    assert.equal(end.persisted, true);

    const [search] = upstream.callsOf(user, "rpc/match_chunks");
    assert.equal(search.headers.apikey, "publishable-key");
    assert.equal(JSON.parse(search.body.query_embedding).length, 384);
    assert.deepEqual([search.body.match_count, search.body.match_threshold], [5, -1]);
    const [turn] = writesOf(user);
    assert.deepEqual([turn.session_id, turn.title], [start.session_id, "When are refunds paid?"]);
    assert.deepEqual([turn.question_id, turn.question], [sent.message_id, "When are refunds paid?"]);
    assert.deepEqual([turn.answer_id, turn.answer], [end.message_id, delta.text]);
    assert.equal(turn.citations.length, 1);
    assert.equal(turn.hedged, false);
    assert.deepEqual(
      upstream.callsOf(user, "rpc/chat_has_documents"),
      [],
      "no further question to an upstream that has rows",
    );
  });

  test("an answer that lacks a name of the question is sent and stored as hedged", async () => {
    const user = newUser();
    const content = "Ships sail to Norway.";
    const query_terms = ["ships", "sail", "iceland"].map((word) => ({ word, weight: 2 }));
    const row = passage({ content, sentences: [sentence(content, content, 0.8)], query_terms });
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [row] }) });
    const { events } = await ask(worker.url, user, question({ message: "Do ships sail to Iceland?" }));
    assert.deepEqual(
      events.map(({ type }) => type),
      ["answer_start", "answer_delta", "sources", "answer_end"],
    );
    assert.equal(events[0].hedged, true);
    assert.equal(events[1].text, "Ships sail to Norway. [1]");
    const [turn] = writesOf(user);
    assert.equal(turn.hedged, true);

    const { json } = await ask(worker.url, user, question({ message: "Do ships sail to Iceland?" }), {
      headers: { accept: "application/json" },
    });
    assert.equal(json.hedged, true);
    const named = await ask(worker.url, user, question({ message: "Do ships sail to Norway?" }));
    assert.equal(named.events[0].hedged, false);
  });

  test("an answer is one document if JSON is requested", async () => {
    const { json } = await ask(worker.url, newUser(), question(), { headers: { accept: "application/json" } });
    assert.equal(json.type, "answer");
    assert.equal(json.text, "Refunds are paid within 5 days. [1]");
    assert.equal(json.persisted, true);
    assert.deepEqual([json.referenced_indices, json.also_found, json.hedged], [[1], [], false]);
  });

  test("an answer has no markers and sources if citations are not requested", async () => {
    const { events } = await ask(worker.url, newUser(), question({ include_citations: false }));
    assert.equal(events[1].text, "Refunds are paid within 5 days.");
    assert.deepEqual([events[2].citations, events[2].also_found, events[2].referenced_indices], [[], [], []]);
  });

  test("an answer starts before the history is written", async () => {
    const user = newUser();
    let isWritten = false;
    upstream.behave(user, {
      "rpc/chat_record_turn": async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        isWritten = true;
        return { status: 204 };
      },
    });
    const reader = bodyOf(await openStream(worker.url, user)).getReader();
    let text = "";
    while (!text.includes("event: sources")) text += new TextDecoder().decode((await reader.read()).value);
    assert.equal(isWritten, false);
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      text += new TextDecoder().decode(piece.value);
    }
    assert.match(text, /event: answer_end\ndata: .*"persisted":true/);
  });
});

describe("refusal", () => {
  test("a refusal without match lists near passages and is stored in the history", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passageWith(0.34, 0.34)] }) });
    const { events } = await ask(worker.url, user);
    assert.equal(events.length, 1);
    const [refusal] = events;
    assert.equal(refusal.type, "refusal");
    assert.equal(refusal.reason, "no_match");
    assert.match(refusal.message, /^I don't have enough information/);
    assert.deepEqual(refusal.suggestions, [
      { type: "contact", text: "Contact support" },
      { type: "rephrase", text: "Rephrase your question" },
    ]);
    assert.deepEqual(
      refusal.nearest.map(({ title, score }) => [title, score]),
      [["Refunds", 0.34]],
    );
    assert.equal(refusal.persisted, true);
    const [turn] = writesOf(user);
    assert.deepEqual([turn.answer, turn.session_id], [refusal.message, refusal.session_id]);
  });

  test("a knowledge base that is empty, and one that the user may see nothing of, have their own refusals", async () => {
    const empty = newUser();
    const none = () => ({ body: [] });
    upstream.behave(empty, {
      "rpc/match_chunks": none,
      "rpc/chat_has_documents": () => ({ body: null }),
    });
    const refusal = (await ask(worker.url, empty)).events[0];
    assert.equal(refusal.reason, "empty_kb");
    assert.equal(refusal.message, "The knowledge base is empty. Please contact an admin.");

    const stranger = newUser();
    upstream.behave(stranger, {
      "rpc/match_chunks": none,
      "rpc/chat_has_documents": () => ({ body: false }),
    });
    const [hidden] = (await ask(worker.url, stranger)).events;
    assert.equal(hidden.reason, "no_access");
    assert.match(hidden.message, /^There is no document here that you may read/);
    assert.deepEqual(hidden.suggestions, [{ type: "contact", text: "Contact support" }]);

    const unmatched = newUser();
    upstream.behave(unmatched, { "rpc/match_chunks": none });
    assert.equal((await ask(worker.url, unmatched)).events[0].reason, "no_match");
  });

  test("a refusal that could not be stored has no session id", async () => {
    const user = newUser();
    upstream.behave(user, {
      "rpc/match_chunks": () => ({ body: [] }),
      "rpc/chat_record_turn": () => ({ status: 500 }),
    });
    const [refusal] = (await ask(worker.url, user)).events;
    assert.equal(refusal.persisted, false);
    assert.ok(!("session_id" in refusal));
  });
});

test("a token that Supabase rejects is 401", async () => {
  const user = newUser();
  upstream.behave(user, { "rpc/match_chunks": () => ({ status: 401, body: { message: "JWT expired" } }) });
  assertError(await ask(worker.url, user), 401, "unauthorized");
});

describe("validation", () => {
  test("an invalid body is rejected with a sentence that says what to change", async () => {
    const reply = await ask(worker.url, newUser(), question({ embedding: Array(383).fill(0.1) }));
    assertError(reply, 400, "invalid_request");
    assert.equal(reply.json.message, "embedding must have 384 numbers, got 383");
  });

  test("a vector of another model is rejected with 409", async () => {
    const user = newUser();
    assertError(await ask(worker.url, user, question({ model: "other-model" })), 409, "model_mismatch");
    assert.equal((await ask(worker.url, user, question({ model: "test-model" }))).status, 200);
  });
});

describe("idempotency", () => {
  test("a repeat gets the same outcome without a second search", async () => {
    const user = newUser();
    const sent = question();
    const first = await ask(worker.url, user, sent);
    const second = await ask(worker.url, user, sent);
    assert.deepEqual(second.events, first.events);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
    assert.equal(writesOf(user).length, 1);
  });

  test("a repeat during the first run waits for its outcome", async () => {
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

  test("message ids of different users are independent", async () => {
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
    assertError(await ask(worker.url, user, sent), 503, "upstream_unavailable");
    broken = false;
    assert.equal((await ask(worker.url, user, sent)).status, 200);
  });

  test("an answer is stored for history and repeats even if the client disconnects", async () => {
    const user = newUser();
    upstream.behave(user, slowHistory(200));
    const sent = question();
    const controller = new AbortController();
    const response = await openStream(worker.url, user, sent, controller.signal);
    await bodyOf(response).getReader().read();
    controller.abort();
    const again = await ask(worker.url, user, sent);
    assert.equal(again.events.at(-1).persisted, true);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
  });
});

test("heartbeats are sent while the history is written", async () => {
  await withWorker(upstream, { CHAT_UPSTREAM_TIMEOUT_MS: "20000" }, async ({ url }) => {
    const user = newUser();
    // Longer than the Worker's heartbeat interval of 10 s.
    upstream.behave(user, slowHistory(11_000));
    const text = await (await openStream(url, user)).text();
    assert.match(text, /event: sources\ndata: .*\n\n: heartbeat\n\nevent: answer_end\ndata: .*"persisted":true/);
  });
});

describe("client that disconnects", () => {
  test("a client that disconnects before the answer can ask again immediately", async (t) => {
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

describe("rate limit", () => {
  test("exactly 20 of 40 concurrent questions are admitted", async () => {
    const user = newUser();
    const replies = await Promise.all(Array.from({ length: 40 }, () => ask(worker.url, user)));
    assert.equal(replies.filter((reply) => reply.status === 200).length, 20);
    const limited = replies.filter((reply) => reply.status === 429);
    assert.equal(limited.length, 20);
    for (const reply of limited) {
      assertError(reply, 429, "rate_limited");
      assert.match(headerOf(reply.headers, "retry-after"), /^([1-9]|[1-5]\d|60)$/);
    }
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 20);
    assert.equal((await ask(worker.url, newUser())).status, 200, "others are not concerned");
  });
});

test("an answer is sent even if the history cannot be written, and repeats say so too", async () => {
  const user = newUser();
  upstream.behave(user, { "rpc/chat_record_turn": () => ({ status: 403 }) });
  const sent = question();
  const first = await ask(worker.url, user, sent);
  assert.equal(first.events[1].text, "Refunds are paid within 5 days. [1]");
  assert.deepEqual([first.events.at(-1).type, first.events.at(-1).persisted], ["answer_end", false]);
  assert.deepEqual((await ask(worker.url, user, sent)).events, first.events);
});
