import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { chatServer, events, json } from "./chat-server.mjs";

const { Conversation } = await importTs(new URL("../src/panel/chat/conversation.ts", import.meta.url));

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const embedder = { fingerprint: "model-1", embed: async () => ({ vector: Float32Array.of(1, 0), tokens: 5 }) };
const answered = (sessionId) =>
  events(["answer_start", { session_id: sessionId }], ["answer_end", { persisted: true }]);

let server;
afterEach(() => server?.close());

async function conversationWith(...handlers) {
  server = await chatServer(...handlers);
  return new Conversation(
    async () => embedder,
    () => ({ endpoint: server.endpoint, tokenProvider: async () => "token" }),
  );
}

const ignored = { mark: () => undefined, onResponse: () => undefined };

async function run(conversation, exchange, watch = ignored, signal = new AbortController().signal) {
  for await (const event of conversation.run(exchange, watch, signal)) void event;
}

test("a question has its embedding, the model and a fresh id, and later ones also the session", async () => {
  const conversation = await conversationWith(answered("s1"), answered("s1"));
  await run(conversation, conversation.begin("First?"));
  await run(conversation, conversation.begin("Second?"));
  const [first, second] = server.requests.map(({ body }) => JSON.parse(body));
  assert.match(first.message_id, UUID_V4);
  assert.match(second.message_id, UUID_V4);
  assert.notEqual(first.message_id, second.message_id);
  const { message_id: _, ...rest } = first;
  assert.deepEqual(rest, { embedding: [1, 0], message: "First?", model: "model-1" });
  assert.equal(second.session_id, "s1");
});

test("a question asks for quotes only if the page does, and its retry stays the same", async () => {
  let asksForQuotes = true;
  server = await chatServer(events(), answered("s1"), answered("s1"));
  const conversation = new Conversation(
    async () => embedder,
    () => ({ endpoint: server.endpoint, tokenProvider: async () => "token" }),
    async () => asksForQuotes,
  );
  const cut = conversation.begin("First?");
  await assert.rejects(run(conversation, cut), { code: "connection_lost" });
  asksForQuotes = false;
  await run(conversation, cut);
  await run(conversation, conversation.begin("Second?"));
  const [first, retry, second] = server.requests.map(({ body }) => body);
  assert.equal(JSON.parse(first).mode, "extractive");
  assert.equal(retry, first);
  assert.equal("mode" in JSON.parse(second), false);
});

test("what a reader says is sent with its question, also in a retry, and asked for once", async () => {
  const reading = { reader: "reader-1", passages: [{ chunk_id: "c1", hash: "h1", z: [1.5, null] }] };
  const readings = [reading, undefined];
  const asked = [];
  server = await chatServer(events(), answered("s1"), answered("s1"));
  const conversation = new Conversation(
    async () => embedder,
    () => ({ endpoint: server.endpoint, tokenProvider: async () => "token" }),
    async () => false,
    async ({ message }, given) => {
      asked.push([message, given]);
      return readings.shift();
    },
  );
  const cut = conversation.begin("First?");
  await assert.rejects(run(conversation, cut), { code: "connection_lost" });
  await run(conversation, cut);
  await run(conversation, conversation.begin("Second?"));
  const [first, retry, second] = server.requests.map(({ body }) => body);
  assert.deepEqual(JSON.parse(first).reading, reading);
  assert.equal(retry, first);
  assert.equal("reading" in JSON.parse(second), false);
  assert.deepEqual(asked, [
    ["First?", embedder],
    ["Second?", embedder],
  ]);
});

test("a question that is stopped while it is read is not sent", async () => {
  server = await chatServer(answered("s1"));
  const stop = new AbortController();
  const conversation = new Conversation(
    async () => embedder,
    () => ({ endpoint: server.endpoint, tokenProvider: async () => "token" }),
    async () => false,
    async () => void stop.abort(new Error("stopped")),
  );
  await assert.rejects(run(conversation, conversation.begin("First?"), ignored, stop.signal), /stopped/);
  assert.equal(server.requests.length, 0);
});

test("a retry sends the same bytes, even if the session is known by then", async () => {
  const conversation = await conversationWith(
    events(["answer_start", { session_id: "s1" }]),
    answered("s1"),
    answered("s1"),
  );
  const cut = conversation.begin("Cut?");
  await assert.rejects(run(conversation, cut), { code: "connection_lost" });
  await run(conversation, conversation.begin("Other?"));
  await run(conversation, cut);
  assert.equal(server.requests[2].body, server.requests[0].body);
});

test("a retry sends the same bytes if the question was stopped after its answer had arrived", async () => {
  const conversation = await conversationWith(answered("s1"), answered("s1"));
  const exchange = conversation.begin("First?");
  await run(conversation, exchange);
  await run(conversation, exchange);
  const [first, retry] = server.requests.map(({ body }) => body);
  assert.equal(retry, first);
});

test("a second question has the one before it, with the vector of both", async () => {
  const texts = [];
  const spy = {
    ...embedder,
    async embed(text) {
      texts.push(text);
      return { vector: Float32Array.of(texts.length, 0), tokens: 5, truncated: false };
    },
  };
  server = await chatServer(answered("s1"), events(["refusal", { session_id: "s1", persisted: true }]), answered("s1"));
  const conversation = new Conversation(
    async () => spy,
    () => ({ endpoint: server.endpoint, tokenProvider: async () => "token" }),
  );
  for (const question of ["First?", "Second?", "Third?"]) await run(conversation, conversation.begin(question));
  assert.deepEqual(texts, ["First?", "Second?", "Second? First?", "Third?", "Third? Second?"]);
  const [first, second, third] = server.requests.map(({ body }) => JSON.parse(body));
  assert.equal("previous" in first, false);
  assert.deepEqual([second.embedding, second.previous], [[2, 0], { message: "First?", embedding: [3, 0] }]);
  assert.equal(third.previous.message, "Second?", "a refused question counts as well");
});

test("a third question has what the second was searched with", async () => {
  const joined = ["answer_end", { persisted: true, searched: "Second? First?" }];
  const handlers = [
    answered("s1"),
    events(["answer_start", { session_id: "s1" }], joined),
    answered("s1"),
    answered("s1"),
  ];
  const conversation = await conversationWith(...handlers);
  for (const question of ["First?", "Second?", "Third?", "Fourth?"])
    await run(conversation, conversation.begin(question));
  const previous = server.requests.map(({ body }) => JSON.parse(body).previous?.message);
  assert.deepEqual(previous, [undefined, "First?", "Second? First?", "Third?"]);
});

test("a question that was cut off or belongs to another session is not sent with the next one", async () => {
  const conversation = await conversationWith(events(), answered("s1"), answered("s2"), answered("s3"));
  await assert.rejects(run(conversation, conversation.begin("Cut?")), { code: "connection_lost" });
  await run(conversation, conversation.begin("First?"));
  conversation.reset();
  await run(conversation, conversation.begin("Second?"));
  conversation.resume("s3");
  conversation.follow("Of old?");
  await run(conversation, conversation.begin("Third?"));
  const previous = server.requests.map(({ body }) => JSON.parse(body).previous?.message);
  assert.deepEqual(previous, [undefined, undefined, undefined, "Of old?"]);
});

test("without room in the model for both questions, the one before is left out, and a long one says so", async () => {
  const short = { vector: Float32Array.of(1, 0), tokens: 200, truncated: false };
  const long = { ...short, tokens: 300, truncated: true };
  const results = [short, short, long, long, long];
  server = await chatServer(answered("s1"), answered("s1"), answered("s1"));
  const conversation = new Conversation(
    async () => ({ ...embedder, embed: async () => results.shift() }),
    () => ({ endpoint: server.endpoint, tokenProvider: async () => "token" }),
  );
  for (const question of ["First?", "Second?", "Third?"]) await run(conversation, conversation.begin(question));
  const [, second, third] = server.requests.map(({ body }) => JSON.parse(body));
  assert.deepEqual(["previous" in second, "truncated" in second], [false, false]);
  assert.deepEqual(["previous" in third, third.truncated], [false, true]);
});

test("after a reset the next question starts a new session", async () => {
  const conversation = await conversationWith(answered("s1"), answered("s2"));
  await run(conversation, conversation.begin("First?"));
  conversation.reset();
  await run(conversation, conversation.begin("Second?"));
  assert.equal(JSON.parse(server.requests[1].body).session_id, undefined);
});

const gone = json(404, { code: "not_found", message: "This conversation does not exist.", retryable: false });
const sessionsAsked = () => server.requests.map(({ body }) => JSON.parse(body).session_id);

test("a retry with the same id starts a new session if the session was deleted", async () => {
  const conversation = await conversationWith(answered("s1"), gone, answered("s2"), answered("s2"));
  await run(conversation, conversation.begin("First?"));
  const second = conversation.begin("Second?");
  await assert.rejects(run(conversation, second), { code: "not_found", retryable: true, status: 404 });
  assert.equal(conversation.sessionId, undefined);
  await run(conversation, second);
  await run(conversation, conversation.begin("Third?"));
  assert.deepEqual(sessionsAsked(), [undefined, "s1", undefined, "s2"]);
  assert.equal(JSON.parse(server.requests[2].body).message_id, second.messageId);
});

test("a retry of an old question joins the newer session if its own was deleted", async () => {
  const conversation = await conversationWith(answered("s1"), events(), gone, answered("s2"), answered("s2"));
  await run(conversation, conversation.begin("First?"));
  const cut = conversation.begin("Cut?");
  await assert.rejects(run(conversation, cut), { code: "connection_lost" });
  const other = conversation.begin("Other?");
  await assert.rejects(run(conversation, other), { code: "not_found" });
  await run(conversation, other);
  await run(conversation, cut);
  assert.deepEqual(sessionsAsked(), [undefined, "s1", "s1", undefined, "s2"]);
});

const overloaded = json(503, { code: "upstream_unavailable", message: "Later.", retryable: true });
const stopped = new AbortController();
/** @type {Record<string, [handler: (response: any) => unknown, signal?: AbortSignal]>} */
const FAILURES = {
  "failed with an error": [overloaded],
  "was cut off before its answer": [events()],
  "was never answered": [(response) => response.destroy()],
  "was stopped": [() => stopped.abort(new Error("enough")), stopped.signal],
};
for (const [how, [handler, signal]] of Object.entries(FAILURES)) {
  test(`a late retry of a first question that ${how} stays in the conversation`, async () => {
    const conversation = await conversationWith(handler, answered("s2"), answered("s2"), answered("s2"));
    const first = conversation.begin("First?");
    await assert.rejects(run(conversation, first, ignored, signal));
    await run(conversation, conversation.begin("Second?"));
    await run(conversation, first);
    await run(conversation, conversation.begin("Third?"));
    assert.deepEqual(sessionsAsked(), [undefined, undefined, "s2", "s2"]);
    const ids = server.requests.map(({ body }) => JSON.parse(body).message_id);
    assert.equal(new Set(ids).size, 4, "the same id would need the same bytes");
  });
}

test("not_found for a question without a session is thrown unchanged", async () => {
  const conversation = await conversationWith(gone);
  await assert.rejects(run(conversation, conversation.begin("First?")), { code: "not_found", retryable: false });
});

test("lone surrogates are replaced and surrogate pairs are kept", async () => {
  const conversation = await conversationWith(answered("s1"));
  const exchange = conversation.begin("\ud800 lone \udc00, 😀 whole");
  assert.equal(exchange.question, "\ufffd lone \ufffd, 😀 whole");
  await run(conversation, exchange);
  assert.equal(JSON.parse(server.requests[0].body).message, exchange.question);
});

test("the next question continues a resumed session", async () => {
  const conversation = await conversationWith(answered("s9"));
  conversation.resume("s9");
  await run(conversation, conversation.begin("More?"));
  assert.deepEqual(sessionsAsked(), ["s9"]);
});

test("a question reports its stages", async () => {
  const conversation = await conversationWith(answered("s1"));
  const marks = [];
  let timing;
  const watch = {
    mark: (stage, details) => marks.push([stage, details]),
    onResponse: ({ serverTiming }) => (timing = serverTiming),
  };
  await run(conversation, conversation.begin("First?"), watch);
  const requestBytes = Buffer.byteLength(server.requests[0].body);
  assert.deepEqual(marks, [
    ["embedding", undefined],
    ["embedded", { tokens: 5 }],
    ["sent", { requestBytes }],
  ]);
  assert.deepEqual(timing, {});
});

test("a question that is stopped while the model loads is never sent", async () => {
  server = await chatServer(answered("s1"));
  const conversation = new Conversation(
    () => new Promise(() => undefined),
    () => ({ endpoint: server.endpoint, tokenProvider: async () => "token" }),
  );
  const stopped = new AbortController();
  const running = run(conversation, conversation.begin("First?"), ignored, stopped.signal);
  stopped.abort(new Error("enough"));
  await assert.rejects(running, { message: "enough" });
  assert.equal(server.requests.length, 0);
});

test("the question after a truncated answer continues its session", async () => {
  const conversation = await conversationWith(events(["answer_start", { session_id: "s1" }]), answered("s1"));
  await assert.rejects(run(conversation, conversation.begin("Cut?")), { code: "connection_lost" });
  await run(conversation, conversation.begin("Next?"));
  assert.deepEqual(sessionsAsked(), [undefined, "s1"]);
});

test("the question after a truncated answer silently starts a new session if its session was never stored", async () => {
  const conversation = await conversationWith(events(["answer_start", { session_id: "s1" }]), gone, answered("s2"));
  await assert.rejects(run(conversation, conversation.begin("Cut?")), { code: "connection_lost" });
  const next = conversation.begin("Next?");
  await run(conversation, next);
  assert.deepEqual(sessionsAsked(), [undefined, "s1", undefined]);
  assert.equal(JSON.parse(server.requests[2].body).message_id, next.messageId);
  assert.equal(conversation.sessionId, "s2");
});

test("the question after an answer that may not be stored continues its session, or silently starts a new one", async () => {
  const notStored = events(["answer_start", { session_id: "s1" }], ["answer_end", { persisted: false }]);
  for (const [handlers, asked] of /** @type {const} */ ([
    [
      [notStored, answered("s1")],
      [undefined, "s1"],
    ],
    [
      [notStored, gone, answered("s2")],
      [undefined, "s1", undefined],
    ],
  ])) {
    const conversation = await conversationWith(...handlers);
    await run(conversation, conversation.begin("First?"));
    await run(conversation, conversation.begin("Next?"));
    assert.deepEqual(sessionsAsked(), asked);
    assert.equal(JSON.parse(server.requests.at(-1).body).previous?.message, "First?", "it may be a follow-up question");
    await server.close();
  }
});

test("the question after an answer that could not be read continues its session", async () => {
  const garbled = (response) =>
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end('event: answer_start\ndata: {"session_id":"s1"}\n\nevent: answer_delta\ndata: {\n\n');
  const conversation = await conversationWith(garbled, answered("s1"));
  await assert.rejects(run(conversation, conversation.begin("Garbled?")), { code: "invalid_response" });
  await run(conversation, conversation.begin("Next?"));
  assert.deepEqual(sessionsAsked(), [undefined, "s1"]);
});

test("without an endpoint nothing is sent to the page's own address", async () => {
  const conversation = new Conversation(
    async () => embedder,
    () => ({ endpoint: "", tokenProvider: async () => assert.fail("a token was asked for") }),
  );
  await assert.rejects(run(conversation, conversation.begin("Where?")), { code: "invalid_request", retryable: false });
});
