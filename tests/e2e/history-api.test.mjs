// History, settings and downloads with real components: Postgres with RLS, storage, workerd. The tests run in order on one demo.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertDescribed } from "../../edge-chat/tests/support/openapi.mjs";
import { ask, chatRequest, only, post } from "../lib/chat.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { loadEmbedder } from "../lib/embedder.mjs";

const QUESTION = "Can I get my money back after two weeks?";
const OTHER_QUESTION = "How long does shipping take?";
const FILE = "%PDF-1.4 not really a PDF, but bytes that can be counted";

const { demo } = await startDemoSuite();
const api = new URL("..", demo.info.chat_url).href + "api";
const token = await demo.newUser();

/** A request as the user, or as another one; its body is JSON unless the response is a file. */
async function call(
  method,
  path,
  /** @type {{ body?: any, as?: string, headers?: object }} */ { body, as = token, headers = {} } = {},
) {
  const response = await fetch(path.startsWith("http") ? path : `${api}${path}`, {
    method,
    headers: {
      ...(as && { authorization: `Bearer ${as}` }),
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  const { pathname, search } = new URL(response.url);
  if (pathname.startsWith("/api/")) {
    assertDescribed({ method, path: pathname + search, status: response.status, headers: response.headers, text });
  }
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Changes the settings as the dashboard would. The readiness check reloads them, so the test need not wait a minute. */
async function changeSettings(changes) {
  await demo.rest("PATCH", "assistants?name=eq.default", { body: changes });
  assert.equal((await call("GET", "/ready")).status, 200);
}

test("the public configuration has the settings from the dashboard and the model of the stored vectors", async () => {
  await changeSettings({ greeting: "Hello!", suggested_questions: [QUESTION] });
  const { json, headers } = await call("GET", "/config", { as: null });
  const { fingerprint } = await loadEmbedder();
  assert.deepEqual(json, {
    title: null,
    greeting: "Hello!",
    suggested_questions: [QUESTION],
    citations: true,
    link_mode: "none",
    answer_mode: "extractive",
    model: fingerprint,
    dimensions: 384,
    max_message_chars: 4000,
  });
  assert.equal(headers.get("cache-control"), "public, max-age=60");
});

test("sessions are listed page by page, last used first, to their user only", async () => {
  const started = [];
  for (const question of [QUESTION, OTHER_QUESTION, QUESTION]) {
    const { events } = await ask(demo.info.chat_url, token, question);
    started.push(only(events, "answer_start").session_id);
  }
  await post(demo.info.chat_url, token, { ...(await chatRequest(OTHER_QUESTION)), session_id: started[0] });
  const expected = [started[0], started[2], started[1]];

  const listed = [];
  let cursor = "";
  do {
    const { json, status, text } = await call("GET", `/sessions?limit=2${cursor && `&cursor=${cursor}`}`);
    assert.equal(status, 200, text);
    listed.push(...json.sessions.map(({ id }) => id));
    cursor = json.next_cursor;
  } while (cursor);
  assert.deepEqual(listed, expected);

  const otherToken = await demo.newUser();
  assert.deepEqual((await call("GET", "/sessions", { as: otherToken })).json.sessions, []);
  for (const { method, path, body } of [
    { method: "GET", path: `/sessions/${started[0]}` },
    { method: "GET", path: `/sessions/${started[0]}/messages` },
    { method: "PATCH", path: `/sessions/${started[0]}`, body: { title: "Mine now" } },
    { method: "DELETE", path: `/sessions/${started[0]}` },
  ]) {
    const reply = await call(method, path, { as: otherToken, body });
    assert.deepEqual([reply.status, reply.json.code], [404, "not_found"], `${method} ${path}`);
  }
});

test("a session can be renamed without moving in the list, and deleted with its messages", async () => {
  const { sessions } = (await call("GET", "/sessions")).json;
  const last = sessions.at(-1);
  const renamed = await call("PATCH", `/sessions/${last.id}`, { body: { title: "  Shipping " } });
  assert.deepEqual(renamed.json, { ...last, title: "Shipping" });
  const after = (await call("GET", "/sessions")).json.sessions;
  assert.deepEqual(
    after.map(({ id }) => id),
    sessions.map(({ id }) => id),
  );

  assert.equal((await call("DELETE", `/sessions/${last.id}`)).status, 204);
  assert.equal((await call("GET", `/sessions/${last.id}`)).status, 404);
  assert.equal((await call("DELETE", `/sessions/${last.id}`)).status, 404);
  assert.deepEqual(await demo.rest("GET", `chat_messages?session_id=eq.${last.id}`), []);
});

test("a first question sent five times at once creates one session and one pair of messages", async () => {
  const user = await demo.newUser();
  const body = await chatRequest(QUESTION);
  const replies = await Promise.all(Array.from({ length: 5 }, () => post(demo.info.chat_url, user, body)));
  for (const { events } of replies) assert.deepEqual(events, replies[0].events);
  const { sessions } = (await call("GET", "/sessions", { as: user })).json;
  assert.equal(sessions.length, 1);
  const { messages } = (await call("GET", `/sessions/${sessions[0].id}/messages`, { as: user })).json;
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant"],
  );
  assert.equal(messages[0].id, body.message_id);
});

test("sources of documents that were disabled are marked in the history", async () => {
  const { events } = await ask(demo.info.chat_url, token, QUESTION);
  const { session_id } = only(events, "answer_start");
  const history = async () => (await call("GET", `/sessions/${session_id}/messages`)).json.messages[1];
  const before = await history();
  assert.deepEqual(
    before.citations,
    only(events, "sources").citations.map((citation) => ({ ...citation, available: true })),
  );

  const { document_id } = before.citations[0];
  await demo.rest("PATCH", `kb_documents?id=eq.${document_id}`, { body: { enabled: false } });
  for (const citation of (await history()).citations) {
    assert.equal(citation.available, citation.document_id !== document_id);
  }
  await demo.rest("PATCH", `kb_documents?id=eq.${document_id}`, { body: { enabled: true } });
});

test("users who see a document can download its original file, through the Worker or a signed URL", async () => {
  const { events } = await ask(demo.info.chat_url, token, QUESTION);
  const [{ document_id }] = only(events, "sources").citations;
  const path = `${document_id}/terms & é.pdf`;
  await demo.upload(path, FILE, "application/pdf");
  await demo.rest("PATCH", `kb_documents?id=eq.${document_id}`, { body: { storage_path: path } });
  const download = `/documents/${document_id}/download`;
  const linkOf = async () => {
    const { events } = await ask(demo.info.chat_url, token, QUESTION);
    return only(events, "sources").citations.find((citation) => citation.document_id === document_id).download_url;
  };

  assert.equal((await call("GET", download)).status, 404, "link mode none");
  assert.equal(await linkOf(), undefined);

  await changeSettings({ link_mode: "authenticated" });
  const link = await linkOf();
  assert.equal(link, `${api}${download}`);
  const whole = await call("GET", link);
  assert.deepEqual([whole.status, whole.text], [200, FILE]);
  assert.equal(whole.headers.get("content-type"), "application/pdf");
  assert.match(whole.headers.get("content-disposition"), /^attachment; /);
  assert.equal((await call("GET", link, { as: null })).status, 401);
  const part = await call("GET", link, { headers: { range: "bytes=1-3" } });
  assert.deepEqual(
    [part.status, part.text, part.headers.get("content-range")],
    [206, "PDF", `bytes 1-3/${FILE.length}`],
  );
  const beyond = await call("GET", link, { headers: { range: "bytes=5000-" } });
  assert.deepEqual([beyond.status, beyond.json.code], [416, "invalid_request"]);

  await changeSettings({ link_mode: "public" });
  const signed = await linkOf();
  assert.ok(signed.startsWith(`${demo.info.supabase_url}/storage/v1/object/sign/kb/`), signed);
  assert.equal((await call("GET", signed, { as: null })).text, FILE);
  const stored = await demo.rest("GET", "chat_messages?select=citations&role=eq.assistant");
  assert.ok(!JSON.stringify(stored).includes("download_url"), "no link is kept");

  await demo.rest("PATCH", `kb_documents?id=eq.${document_id}`, { body: { enabled: false } });
  assert.equal((await call("GET", download)).status, 404, "hidden");
  await demo.rest("PATCH", `kb_documents?id=eq.${document_id}`, { body: { enabled: true } });
  await changeSettings({ link_mode: "none" });
});

test("answers have neither markers nor sources while citations are switched off", async () => {
  await changeSettings({ citations: false });
  const user = await demo.newUser();
  const { events } = await ask(demo.info.chat_url, user, QUESTION);
  const { citations, also_found, referenced_indices } = only(events, "sources");
  assert.deepEqual([citations, also_found, referenced_indices], [[], [], []]);
  assert.ok(!events.some(({ data }) => /\[\d+\]/.test(data.text ?? "")));
  await changeSettings({ citations: true });

  const path = `/sessions/${only(events, "answer_start").session_id}/messages`;
  const roles = async () => (await call("GET", path, { as: user })).json.messages.map(({ role }) => role);
  assert.deepEqual(await roles(), ["user", "assistant"]);
  const audience = (claims) => demo.rest("PATCH", "kb_documents?enabled=is.true", { body: { audience: claims } });
  await audience(["team:sales"]);
  assert.deepEqual(await roles(), ["user"], "an answer leaves the history with its documents, also without citations");
  await audience(null);
  assert.deepEqual(await roles(), ["user", "assistant"]);
});

test("a refusal shows the configured message, suggestions and address", async () => {
  const support_url = "mailto:help@example.com";
  await changeSettings({ refusal_message: "Please write to us.", refusal_suggestions: ["contact"], support_url });
  const user = await demo.newUser();
  const { events } = await ask(demo.info.chat_url, user, "Which planet has the most moons?");
  assert.deepEqual(only(events, "refusal").suggestions, [
    { type: "contact", text: "Contact support", url: support_url },
  ]);
  const { message, reason, session_id } = only(events, "refusal");
  assert.equal(message, "Please write to us.");
  const response = await fetch(`${demo.info.worker_url}/api/sessions/${session_id}/messages`, {
    headers: { authorization: `Bearer ${user}` },
  });
  const { messages } = await response.json();
  assert.deepEqual(
    [messages[1].content, messages[1].refusal],
    [message, reason],
    "and is known for one in the history",
  );
});

test("the insights count questions through the Worker but not direct calls", async () => {
  const questions = async () => {
    const [totals] = await demo.rest("POST", "rpc/chat_insights", { body: {} });
    return totals.questions;
  };
  const user = await demo.newUser();
  const earlier = await questions();
  await ask(demo.info.chat_url, user, QUESTION);
  assert.equal(await questions(), earlier + 1);
  const turn = { session_id: crypto.randomUUID(), title: "Mine", question_id: crypto.randomUUID(), question: "Why?" };
  const answer = {
    answer_id: crypto.randomUUID(),
    answer: "Because.",
    citations: [],
    sources: [],
    latency_ms: 3_600_000,
  };
  await demo.rest("POST", "rpc/chat_record_turn", { token: user, body: { turn: { ...turn, ...answer } } });
  assert.equal((await call("GET", "/sessions", { as: user })).json.sessions.length, 2);
  assert.equal(await questions(), earlier + 1);
});

test("a user can export and delete all of their data, and nothing of others", async () => {
  const [user, other] = [await demo.newUser(), await demo.newUser()];
  for (const each of [user, other]) {
    await ask(demo.info.chat_url, each, QUESTION);
    await ask(demo.info.chat_url, each, "Which planet has the most moons?");
  }
  const exportOf = (as) => call("GET", "/me/export", { as });
  const waitForRefusal = async () => {
    for (;;) {
      const reply = await exportOf(user);
      if (reply.json.refused_questions.length > 0) return reply;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const { json, headers } = await waitForRefusal();
  assert.equal(headers.get("content-disposition"), 'attachment; filename="evidence-chat-export.json"');
  const { sessions } = (await call("GET", "/sessions", { as: user })).json;
  assert.deepEqual(
    json.sessions.map(({ messages, ...session }) => session).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
  for (const { id, messages } of json.sessions) {
    const stored = (await call("GET", `/sessions/${id}/messages`, { as: user })).json.messages;
    const citations = (list) => list.map(({ available, ...citation }) => citation);
    assert.deepEqual(
      messages.map(({ latency_ms, sources, ...message }) => message),
      stored.map((message) => ({ ...message, citations: citations(message.citations) })),
    );
    // The history does not show them.
    for (const { latency_ms, sources } of messages.filter(({ role, refusal }) => role === "assistant" && !refusal)) {
      assert.ok(latency_ms > 0 && sources.length > 0);
    }
  }
  assert.equal(json.refused_questions[0].question, "Which planet has the most moons?");

  const kept = (await exportOf(other)).json.sessions;
  for (let i = 0; i < 2; i++) assert.equal((await call("DELETE", "/me", { as: user })).status, 204);
  const { exported_at, ...nothing } = (await exportOf(user)).json;
  assert.deepEqual(nothing, { sessions: [], refused_questions: [] });
  for (const { id } of sessions) assert.deepEqual(await demo.rest("GET", `chat_messages?session_id=eq.${id}`), []);
  assert.deepEqual((await exportOf(other)).json.sessions, kept);
  assert.equal(kept.length, 2);
});
