// The chat API with real components: model, Postgres with RLS, workerd. The tests run in order on one demo.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createEmbedder } from "@evidence-chat/embedder";
import { embedQuestion, readFor, streamChat } from "@evidence-chat/widget/client";
import { answerText, ask, chatRequest, only, post } from "../lib/chat.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";

const COVERED = "Can I get my money back after two weeks?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";

const { demo } = await startDemoSuite();
const chatUrl = demo.info.chat_url;
let token = await demo.newUser();

/** A new user, so that tests do not share a rate limit. */
async function asNewUser() {
  token = await demo.newUser();
}

test("a covered question streams verbatim sentences whose citations can be checked", async () => {
  const { status, headers, events } = await ask(chatUrl, token, COVERED);
  assert.equal(status, 200);
  assert.match(headers.get("content-type"), /^text\/event-stream/);
  assert.equal(events[0].event, "answer_start");
  assert.equal(events.at(-1).event, "answer_end");
  assert.deepEqual(
    [...new Set(events.map(({ event }) => event))],
    ["answer_start", "answer_delta", "sources", "answer_end"],
  );
  for (const { event, data } of events) assert.equal(data.type, event);

  const { citations, also_found, referenced_indices } = only(events, "sources");
  const markers = [...answerText(events).matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]));
  assert.ok(markers.length >= 1 && markers.length <= 3, `${markers.length} sentences`);
  assert.deepEqual(referenced_indices, [...new Set(markers)]);

  const quotes = citations.flatMap((citation) => citation.quotes.map((quote) => ({ ...quote, citation })));
  assert.equal(quotes.length, markers.length, "each sentence of the answer is one quote");
  for (const { start, end, text, plain, citation } of quotes) {
    const [chunk] = await demo.rest("GET", `kb_chunks?id=eq.${citation.chunk_id}&select=content,document_id`);
    assert.equal(chunk.content.slice(start, end), text, "the chunk contains the quote at its offsets");
    assert.equal(chunk.document_id, citation.document_id);
    assert.ok(answerText(events).includes(plain ?? text));
    assert.match(citation.strength, /^(strong|good|partial)$/);
  }
  assert.ok(Math.max(...citations.map(({ score }) => score)) >= 0.35, "the best passage reaches the threshold");
  assert.match(citations[0].title, /return|refund/i);

  for (const { quotes } of citations) assert.ok(quotes.length > 0, "each source is quoted");
  const placeOf = ({ document_id, section }) => JSON.stringify([document_id, section]);
  const places = [...new Set(citations.map(placeOf)), ...also_found.map(placeOf)];
  assert.deepEqual(places, [...new Set(places)], "also-found passages are not quoted and not duplicated");
});

test("a question and its answer with citations are stored in the user's history", async () => {
  await asNewUser();
  const body = await chatRequest(COVERED);
  const { events } = await post(chatUrl, token, body);
  const end = only(events, "answer_end");
  assert.equal(end.persisted, true);
  const { session_id } = only(events, "answer_start");

  const [session] = await demo.rest("GET", `chat_sessions?id=eq.${session_id}`, { token });
  assert.equal(session.title, COVERED);
  const messages = await demo.rest("GET", `chat_messages?session_id=eq.${session_id}&order=created_at,role.desc`, {
    token,
  });
  assert.deepEqual(
    messages.map(({ role, id }) => [role, id]),
    [
      ["user", body.message_id],
      ["assistant", end.message_id],
    ],
  );
  assert.deepEqual(messages[1].citations, only(events, "sources").citations);

  const otherToken = await demo.newUser();
  assert.deepEqual(await demo.rest("GET", `chat_sessions?id=eq.${session_id}`, { token: otherToken }), []);
  const otherAttempt = await post(chatUrl, otherToken, { ...(await chatRequest(COVERED)), session_id });
  assert.deepEqual([otherAttempt.status, otherAttempt.json.code], [404, "not_found"]);
});

test("a document counts as cited when answers quote it, not when it was only found", async () => {
  await asNewUser();
  const { events } = await ask(chatUrl, token, "How long does standard shipping take?");
  assert.equal(events.at(-1).event, "answer_end");
  const stored = await demo.rest("GET", "chat_messages?role=eq.assistant&select=citations");
  const times = new Map();
  for (const { citations } of stored) {
    for (const { quotes } of citations) assert.ok(quotes.length > 0);
    for (const id of new Set(citations.map(({ document_id }) => document_id))) times.set(id, (times.get(id) ?? 0) + 1);
  }
  const cited = await demo.rest("GET", "kb_overview?times_cited=gt.0&select=id,times_cited");
  assert.deepEqual(new Map(cited.map((row) => [row.id, row.times_cited]).sort()), new Map([...times].sort()));
  for (const { document_id } of only(events, "sources").also_found) {
    const row = cited.find(({ id }) => id === document_id);
    assert.equal(row?.times_cited, times.get(document_id));
  }
});

test("a second question continues the same session", async () => {
  await asNewUser();
  const first = await ask(chatUrl, token, COVERED);
  const { session_id } = only(first.events, "answer_start");
  const second = await post(chatUrl, token, {
    ...(await chatRequest("How long does standard shipping take?")),
    session_id,
  });
  assert.equal(only(second.events, "answer_start").session_id, session_id);
  assert.equal((await demo.rest("GET", `chat_messages?session_id=eq.${session_id}`, { token })).length, 4);
});

test("a question the documents do not cover is refused", async () => {
  const { status, events } = await ask(chatUrl, token, OFF_TOPIC);
  assert.equal(status, 200);
  assert.equal(events.length, 1);
  const refusal = only(events, "refusal");
  assert.equal(refusal.reason, "no_match");
  assert.equal(
    refusal.message,
    "I don't have enough information to answer that question. You might try contacting support or rephrasing your question.",
  );
  assert.deepEqual(refusal.suggestions, [
    { type: "contact", text: "Contact support" },
    { type: "rephrase", text: "Rephrase your question" },
  ]);
});

test("a client that accepts JSON gets the same outcome as one JSON document", async () => {
  await asNewUser();
  const body = await chatRequest(COVERED);
  const { status, json } = await post(chatUrl, token, body, { accept: "application/json" });
  assert.equal(status, 200);
  const streamed = await post(chatUrl, token, body);
  assert.equal(json.text, answerText(streamed.events));
  assert.deepEqual(json.citations, only(streamed.events, "sources").citations);
});

test("a repeated request gets the same outcome and is stored once; a different body with the same message_id is a conflict", async () => {
  await asNewUser();
  const body = await chatRequest(COVERED);
  const [first, second] = await Promise.all([post(chatUrl, token, body), post(chatUrl, token, body)]);
  assert.deepEqual(second.events, first.events);
  const { session_id } = only(first.events, "answer_start");
  assert.equal((await demo.rest("GET", "chat_messages?select=id", { token })).length, 2);
  assert.equal((await demo.rest("GET", "chat_sessions?select=id", { token })).length, 1);
  const changed = await post(chatUrl, token, { ...body, message: "Something else?", session_id });
  assert.deepEqual([changed.status, changed.json.code], [409, "conflict"]);
});

test("of 25 quick requests exactly 20 are answered and 5 get 429 with Retry-After", async () => {
  await asNewUser();
  const bodies = await Promise.all(Array.from({ length: 25 }, () => chatRequest(COVERED)));
  const results = await Promise.all(bodies.map((body) => post(chatUrl, token, body)));
  const answered = results.filter(({ status }) => status === 200);
  const limited = results.filter(({ status }) => status === 429);
  assert.deepEqual([answered.length, limited.length], [20, 5]);
  for (const { events } of answered) assert.equal(events.at(-1).event, "answer_end");
  for (const { headers, json } of limited) {
    const seconds = Number(headers.get("retry-after"));
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `Retry-After ${seconds}`);
    assert.equal(json.code, "rate_limited");
    assert.equal(json.retryable, true);
  }
});

test("a missing, foreign or damaged token is rejected as unauthorized", async () => {
  await asNewUser();
  const body = await chatRequest(COVERED);
  const [header, payload, signature] = token.split(".");
  const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${payload}.`;
  for (const bad of [null, "nonsense", `${header}.${payload}.${"A".repeat(signature.length)}`, unsigned]) {
    const { status, json, headers } = await post(chatUrl, bad, body);
    assert.equal(status, 401, `token ${bad}`);
    assert.equal(json.code, "unauthorized");
    assert.match(headers.get("www-authenticate"), /^Bearer/);
    assert.ok(json.request_id);
  }
});

test("invalid input gets a typed error and does not count towards the rate limit", async () => {
  await asNewUser();
  const good = await chatRequest(COVERED);
  const cases = {
    "a vector of 383 numbers": { ...good, embedding: good.embedding.slice(1) },
    "a vector that is not of unit length": { ...good, embedding: good.embedding.map((x) => x * 2) },
    "a vector of zeros": { ...good, embedding: good.embedding.map(() => 0) },
    "text in the vector": { ...good, embedding: [...good.embedding.slice(1), "0.1"] },
    "a bad message_id": { ...good, message_id: "not-a-uuid" },
    "a bad session_id": { ...good, session_id: "1234" },
    "a message of 5,000 characters": { ...good, message: "a".repeat(5000) },
    "an empty message": { ...good, message: "   " },
    "no message": { ...good, message: undefined },
    "no model": { ...good, model: undefined },
    "NaN in the vector": JSON.stringify(good).replace(/"embedding":\[[^,]+/, '"embedding":[NaN'),
    "an infinite number in the vector": JSON.stringify(good).replace(/"embedding":\[[^,]+/, '"embedding":[1e999'),
    "broken JSON": JSON.stringify(good).slice(0, -1),
    "an empty body": "",
    "an array": "[]",
  };
  for (const [name, body] of Object.entries(cases)) {
    const { status, json } = await post(chatUrl, token, body);
    assert.equal(status, 400, name);
    assert.equal(json.code, "invalid_request", name);
    assert.equal(typeof json.message, "string");
    assert.equal(json.retryable, false);
    assert.ok(json.request_id);
  }
  const foreignModel = await post(chatUrl, token, { ...good, model: "another-model", message_id: crypto.randomUUID() });
  assert.deepEqual([foreignModel.status, foreignModel.json.code], [409, "model_mismatch"]);
  const tooLarge = await post(chatUrl, token, { ...good, padding: "x".repeat(70_000) });
  assert.deepEqual([tooLarge.status, tooLarge.json.code], [413, "payload_too_large"]);
  const notJson = await post(chatUrl, token, good, { "content-type": "text/plain" });
  assert.deepEqual([notJson.status, notJson.json.code], [415, "unsupported_media_type"]);

  const rest = await Promise.all(
    Array.from({ length: 19 }, async () => post(chatUrl, token, await chatRequest(COVERED))),
  );
  assert.ok(
    rest.every(({ status }) => status === 200),
    "at most the one request with a foreign model counted",
  );
});

test("the health endpoint answers without a token", async () => {
  const response = await fetch(`${demo.info.worker_url}/api/health`);
  assert.equal(response.status, 200);
  assert.equal((await response.json()).status, "ok");
});

test("syncing the same folder again changes nothing", async () => {
  const before = await demo.rest("GET", "kb_chunks?select=id&order=id");
  const kb = new URL("../../supabase/sample-kb", import.meta.url).pathname;
  const { code, stdout } = await demo.kb("sync", kb, "--json");
  assert.equal(code, 0);
  const summary = JSON.parse(stdout);
  assert.deepEqual([summary.added, summary.changed, summary.failed], [0, 0, 0]);
  assert.deepEqual(await demo.rest("GET", "kb_chunks?select=id&order=id"), before);
});

/** Questions of a file of the shop set, spread over it. */
async function shopQuestions(file, count) {
  const path = new URL(`../../bench/retrieval/shop/${file}.jsonl`, import.meta.url);
  const lines = (await readFile(path, "utf8")).trim().split("\n");
  return Array.from({ length: count }, (_, at) => JSON.parse(lines[Math.floor((at * lines.length) / count)]).question);
}

/** Asks as the widget does: reads with WebAssembly what the search finds, and sends the reading with the question. */
async function askWithReading(question, embedder, options) {
  const { fields } = await embedQuestion(question, undefined, embedder);
  let reading;
  // On a busy computer it may take longer than a visitor would wait.
  for (let tries = 0; !reading && tries < 20; tries++) reading = await readFor(fields, embedder, options);
  /** @type {any} */
  const outcome = { text: "", citations: [], hedged: false };
  for await (const event of streamChat({ ...fields, message_id: crypto.randomUUID(), reading }, options)) {
    if (event.type === "answer_start") outcome.hedged = event.hedged;
    if (event.type === "answer_delta") outcome.text += event.text;
    if (event.type === "sources") outcome.citations = event.citations;
    if (event.type === "refusal") outcome.reason = event.reason;
    if ("decided_by" in event) outcome.decided_by = event.decided_by;
  }
  return outcome;
}

async function askNatively(question) {
  const { code, stdout, stderr } = await demo.kb("ask", question, "--json");
  assert.deepEqual([code, stderr], [0, ""]);
  const { decided_by, outcome } = JSON.parse(stdout);
  const { type, text, hedged = false, citations = [], reason } = outcome;
  return { text: type === "answer" ? text : "", citations, hedged, ...(reason && { reason }), decided_by };
}

test("kb ask decides and answers like a client that reads with WebAssembly", async (t) => {
  const embedder = await createEmbedder();
  t.after(() => embedder.dispose());
  await embedder.loadReader();
  const files = { answerable: 25, unanswerable_near: 15, off_topic: 10 };
  const questions = (
    await Promise.all(Object.entries(files).map(([file, count]) => shopQuestions(file, count)))
  ).flat();
  const places = ({ citations, ...outcome }) => ({
    ...outcome,
    citations: citations.map(({ chunk_id, index, quotes }) => ({ chunk_id, index, quotes })),
  });
  const reasons = new Set();
  while (questions.length > 0) {
    // Of one user, whose rate limit it is below.
    const user = await demo.newUser();
    const options = { endpoint: chatUrl, tokenProvider: async () => user };
    const some = questions.splice(0, 10);
    const native = Promise.all(some.map(askNatively));
    for (const [at, question] of some.entries()) {
      const outcome = await askWithReading(question, embedder, options);
      assert.deepEqual(places(outcome), places((await native)[at]), question);
      assert.equal(outcome.decided_by, "reader", question);
      reasons.add(outcome.reason);
    }
  }
  assert.deepEqual([...reasons].sort(), ["no_match", "weak_evidence", undefined], "it compares answers and refusals");
});

test("a question is refused while the only document that answers it is disabled", async () => {
  await asNewUser();
  const { events } = await ask(chatUrl, token, COVERED);
  const [{ document_id }] = only(events, "sources").citations;
  await demo.rest("PATCH", "kb_documents?id=not.is.null", { body: { enabled: false } });
  await demo.rest("PATCH", `kb_documents?id=eq.${document_id}`, { body: { enabled: true } });
  assert.equal((await ask(chatUrl, token, COVERED)).events.at(-1).event, "answer_end");
  await demo.rest("PATCH", `kb_documents?id=eq.${document_id}`, { body: { enabled: false } });
  assert.equal((await ask(chatUrl, token, COVERED)).events.at(-1).event, "refusal");
  await demo.rest("PATCH", "kb_documents?id=not.is.null", { body: { enabled: true } });
  assert.equal((await ask(chatUrl, token, COVERED)).events.at(-1).event, "answer_end");
});

test("an empty knowledge base leads to a refusal that says so", async () => {
  await asNewUser();
  await demo.rest("DELETE", "kb_documents?id=not.is.null");
  const refusal = only((await ask(chatUrl, token, COVERED)).events, "refusal");
  assert.equal(refusal.reason, "empty_kb");
  assert.equal(refusal.message, "The knowledge base is empty. Please contact an admin.");
});

test("returns a retryable 503 while Supabase is stopped", async () => {
  await asNewUser();
  process.kill(demo.info.processes.supabase, "SIGKILL");
  await sleep(500);
  const { status, json } = await ask(chatUrl, token, COVERED);
  assert.equal(status, 503);
  assert.deepEqual([json.code, json.retryable], ["upstream_unavailable", true]);
});
