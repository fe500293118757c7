import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { chatServer, events, json } from "./chat-server.mjs";

const { ChatError, streamChat } = await importTs(new URL("../src/client/index.ts", import.meta.url));

const REQUEST = {
  embedding: [1, 0.5],
  message: "Why?",
  message_id: "6f1c9f0e-58f4-4f0c-9d6b-0a4f0c8d7e11",
  model: "3f2a",
};
const END = ["answer_end", { message_id: "m", persisted: true }];

let server;
afterEach(() => server?.close());

/**
 * Asks a server with one handler per request; gives the events and the error, if any.
 * @returns {Promise<{ received: object[], error?: import("../src/client/index.ts").ChatError }>}
 */
async function ask(
  handlers,
  /** @type {Partial<import("../src/client/index.ts").ChatClientOptions> & { signal?: AbortSignal }} */ {
    tokenProvider = async () => "token",
    signal,
    ...options
  } = {},
) {
  server = await chatServer(...handlers);
  const received = [];
  try {
    const client = { endpoint: server.endpoint, tokenProvider, ...options };
    for await (const event of streamChat(REQUEST, client, signal)) received.push(event);
    return { received };
  } catch (error) {
    return { received, error: /** @type {import("../src/client/index.ts").ChatError} */ (error) };
  }
}

function assertChatError(error, expected) {
  assert.ok(error instanceof ChatError, String(error));
  for (const [key, value] of Object.entries(expected)) assert.deepEqual(error[key], value, key);
}

test("streamChat follows no redirect, so neither question nor token is sent elsewhere", async () => {
  const otherServer = await chatServer(events(END));
  const { received, error } = await ask([
    (response) => response.writeHead(307, { location: otherServer.endpoint }).end(),
    events(END),
  ]);
  assertChatError(error, { code: "connection_lost" });
  assert.deepEqual(received, []);
  assert.equal(otherServer.requests.length, 0);
  await otherServer.close();
});

test("streamChat sends the request of the contract and yields the events in order", async () => {
  const { received, error } = await ask([
    events(
      ["answer_start", { session_id: "s", hedged: true }],
      ["answer_delta", { text: "Because. [1]" }],
      ["sources", { citations: [], also_found: [], referenced_indices: [1] }],
      END,
    ),
  ]);
  assert.equal(error, undefined);
  assert.deepEqual(
    received.map(({ type }) => type),
    ["answer_start", "answer_delta", "sources", "answer_end"],
  );
  assert.deepEqual(received[0], { type: "answer_start", session_id: "s", hedged: true });
  const [{ headers, body }] = server.requests;
  assert.equal(headers.authorization, "Bearer token");
  assert.equal(headers.accept, "text/event-stream");
  assert.equal(headers.cookie, undefined);
  assert.deepEqual(JSON.parse(body), REQUEST);
});

const SUPPORT = { start: 0, end: 5, text: "Five.", sentence: 0 };
const CITED = { index: 1, chunk_id: "c", document_id: "d", title: "T", score: 1, excerpt: "Five.", quotes: [] };

test("streamChat reads the mode, the supports and the report of a generated answer", async () => {
  const generation = {
    model: "m",
    sentences: 1,
    dropped: { number: 2, unsupported: 1 },
    invalid_markers: 1,
    repaired_citations: 0,
    prompt_tokens: 300,
    completion_tokens: 20,
  };
  const citations = [{ ...CITED, supports: [SUPPORT] }];
  const { received } = await ask([
    events(
      ["progress", { stage: "writing" }],
      ["answer_start", { session_id: "s", hedged: false, mode: "generated" }],
      ["answer_delta", { text: "Five. [1]" }],
      ["sources", { citations, also_found: [], referenced_indices: [1] }],
      ["answer_end", { message_id: "m", persisted: true, generation }],
    ),
  ]);
  assert.deepEqual(received, [
    { type: "progress", stage: "writing" },
    { type: "answer_start", session_id: "s", hedged: false, mode: "generated" },
    { type: "answer_delta", text: "Five. [1]" },
    { type: "sources", citations, also_found: [], referenced_indices: [1] },
    { type: "answer_end", message_id: "m", persisted: true, generation },
  ]);
});

test("streamChat reads what decided an answer or a refusal, and skips what this version does not know", async () => {
  const ending = async (name, decided_by) => {
    const { received } = await ask([events([name, { persisted: true, decided_by }])]);
    await server.close();
    return received[0].decided_by;
  };
  for (const name of ["answer_end", "refusal"]) {
    for (const decider of ["reader", "search"]) assert.equal(await ending(name, decider), decider);
    for (const unknown of ["oracle", 7, null, undefined]) assert.equal(await ending(name, unknown), undefined);
  }
});

test("streamChat reads why an answer consists of quotes", async () => {
  const generation = { model: "m", sentences: 0, dropped: {}, invalid_markers: 0, repaired_citations: 0 };
  const end = (fallback) => ["answer_end", { persisted: true, generation: { ...generation, fallback } }];
  for (const fallback of ["timeout", "error", "unsupported", "budget", "declined"]) {
    const { received } = await ask([events(["answer_start", { hedged: false }], end(fallback))]);
    assert.deepEqual(received[1].generation, { ...generation, fallback });
    assert.equal("mode" in received[0], false);
    await server.close();
  }
  const { received } = await ask([events(end("moon"))]);
  assert.deepEqual(received[0].generation, generation);
});

test("unknown and malformed parts of a generated answer are skipped, and an unknown mode is not taken for quotes", async () => {
  const { received } = await ask([
    events(
      ["progress", { stage: "polishing" }],
      ["progress", {}],
      ["answer_start", { hedged: false, mode: "telepathic" }],
      [
        "sources",
        {
          citations: [
            {
              ...CITED,
              supports: [
                null,
                "Five.",
                { start: 0, end: 5, text: "Five." },
                { ...SUPPORT, sentence: -1 },
                { ...SUPPORT, sentence: 0.5 },
                { ...SUPPORT, text: "" },
                { ...SUPPORT, color: "red" },
              ],
            },
            { ...CITED, supports: "Five." },
          ],
        },
      ],
      [
        "answer_end",
        { generation: { sentences: "2", dropped: { number: -1, name: 2, mood: 3, __proto__: 1 }, prompt_tokens: 1.5 } },
      ],
    ),
  ]);
  assert.deepEqual(
    received.map(({ type }) => type),
    ["answer_start", "sources", "answer_end"],
  );
  assert.deepEqual(received[0], { type: "answer_start", hedged: false, mode: "generated" });
  assert.deepEqual(received[1].citations, [{ ...CITED, supports: [SUPPORT] }, CITED]);
  // A reason of a newer server counts as the one that is true of every sentence that was left out.
  assert.deepEqual(received[2].generation, {
    model: "",
    sentences: 0,
    dropped: { name: 2, unsupported: 3 },
    invalid_markers: 0,
    repaired_citations: 0,
  });
});

test("a refusal ends the stream", async () => {
  const suggestions = [
    { type: "contact", text: "Contact support", url: "mailto:help@example.com" },
    { type: "rephrase", text: "Rephrase your question" },
    { type: "ask", text: "Where?" },
  ];
  const refusal = { message: "No.", suggestions, reason: "weak_evidence", session_id: "s" };
  const { received, error } = await ask([events(["refusal", refusal])]);
  assert.equal(error, undefined);
  assert.deepEqual(received, [{ type: "refusal", nearest: [], persisted: true, ...refusal }]);
});

test("suggestions that a newer or hostile server sends are skipped, and their addresses checked", async () => {
  const suggestions = [
    "Contact support",
    null,
    { type: "contact" },
    { type: "ask", text: "" },
    { type: "call", text: "Call us" },
    { type: "contact", text: "a", url: "javascript:alert(1)" },
    { type: "contact", text: "b", url: "https://user:password@example.com" },
    { type: "ask", text: "c", url: "https://example.com" },
  ];
  const { received } = await ask([events(["refusal", { message: "No.", suggestions, reason: "no_match" }])]);
  assert.deepEqual(received[0].suggestions, [
    { type: "contact", text: "a" },
    { type: "contact", text: "b" },
    { type: "ask", text: "c" },
  ]);
});

test("events with unknown names are skipped", async () => {
  const { received } = await ask([events(["constructor", {}], ["future_event", { a: 1 }], END)]);
  assert.deepEqual(
    received.map(({ type }) => type),
    ["answer_end"],
  );
});

test("streamChat retries a 401 once with a new token", async () => {
  const tokens = ["old", "new"];
  const { error } = await ask([json(401, { code: "unauthorized", message: "Expired." }), events(END)], {
    tokenProvider: async () => tokens.shift(),
  });
  assert.equal(error, undefined);
  assert.deepEqual(
    server.requests.map(({ headers }) => headers.authorization),
    ["Bearer old", "Bearer new"],
  );
});

test("a second 401 throws unauthorized", async () => {
  const refused = json(401, { code: "unauthorized", message: "JWT invalid." });
  const { error } = await ask([refused, refused, events(END)]);
  assertChatError(error, { code: "unauthorized", status: 401, retryable: false, reason: "expired" });
  assert.match(error.message, /Please sign out and in again.$/);
  assert.equal(server.requests.length, 2);
});

test("streamChat sends nothing without a token", async () => {
  const { error } = await ask([events(END)], { tokenProvider: async () => null });
  assertChatError(error, { code: "unauthorized", retryable: false, reason: "signed_out" });
  assert.equal(server.requests.length, 0);
});

test("an error of the token provider is retryable", async () => {
  const cause = new Error("offline");
  const { error } = await ask([events(END)], { tokenProvider: () => Promise.reject(cause) });
  assertChatError(error, { code: "unauthorized", retryable: true, reason: "unconfirmed", cause });
  assert.equal(server.requests.length, 0);
});

test("a token provider that never settles times out with a retryable error", async () => {
  const { error } = await ask([events(END)], { tokenProvider: () => new Promise(() => {}), idleTimeoutMs: 50 });
  assertChatError(error, { code: "unauthorized", retryable: true, reason: "unconfirmed" });
  assert.equal(server.requests.length, 0);
});

test("a token may have more time than a response", async () => {
  const tokenProvider = () => new Promise((resolve) => setTimeout(() => resolve("token"), 200));
  const { error } = await ask([events(END)], { tokenProvider, idleTimeoutMs: 50, tokenTimeoutMs: 5000 });
  assert.equal(error, undefined);
});

test("an abort does not wait for the token provider", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const tokenProvider = () => {
    controller.abort(reason);
    return new Promise(() => {});
  };
  const { error } = await ask([events(END)], { tokenProvider, signal: controller.signal });
  assert.equal(error, reason);
});

test("a 429 keeps the server's message and Retry-After", async () => {
  const body = { code: "rate_limited", message: "A short break, please.", retryable: true, request_id: "r1" };
  const { error } = await ask([json(429, body, { "retry-after": "17" })]);
  assertChatError(error, {
    code: "rate_limited",
    message: body.message,
    retryable: true,
    retryAfterSeconds: 17,
    status: 429,
    requestId: "r1",
  });
});

test("a 503 keeps the server's message", async () => {
  const { error } = await ask([json(503, { code: "upstream_unavailable", message: "Back soon.", retryable: true })]);
  assertChatError(error, {
    code: "upstream_unavailable",
    message: "Back soon.",
    retryable: true,
    retryAfterSeconds: undefined,
  });
});

test("an error page without JSON is an invalid response, retryable only for a server error", async () => {
  const page = (status) => (response) =>
    response.writeHead(status, { "content-type": "text/html" }).end("<h1>Oops</h1>");
  assertChatError((await ask([page(502)])).error, { code: "invalid_response", retryable: true, status: 502 });
  await server.close();
  assertChatError((await ask([page(404)])).error, { code: "invalid_response", retryable: false, status: 404 });
});

test("a successful response without an event stream is an invalid response", async () => {
  assertChatError((await ask([json(200, {})])).error, { code: "invalid_response" });
});

test("an event with malformed JSON is an invalid response", async () => {
  const broken = (response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end('event: answer_delta\ndata: {"text\n\n');
  assertChatError((await ask([broken])).error, { code: "invalid_response" });
});

test("an error event throws its error", async () => {
  const { received, error } = await ask([
    events(
      ["answer_start", {}],
      ["error", { code: "upstream_timeout", message: "Too slow.", retryable: true, request_id: "r2" }],
    ),
  ]);
  assert.equal(received.length, 1);
  assertChatError(error, {
    code: "upstream_timeout",
    message: "Too slow.",
    retryable: true,
    requestId: "r2",
    status: undefined,
  });
});

test("unauthorized in an error event has the reason expired", async () => {
  const { error } = await ask([events(["error", { code: "unauthorized", message: "JWT expired." }])]);
  assertChatError(error, { code: "unauthorized", reason: "expired" });
});

test("each response is reported with its request id, the timings of its stages and its headers", async () => {
  const reported = [];
  const end = (response) => events(END)(response.setHeader("server-timing", "auth;dur=0, search;dur=21.5, cache"));
  await ask([json(401, {}, { "x-request-id": "r1" }), end], { onResponse: (response) => reported.push(response) });
  assert.deepEqual(
    reported.map(({ headers, ...response }) => ({ ...response, type: headers.get("content-type") })),
    [
      { status: 401, requestId: "r1", serverTiming: {}, type: "application/json" },
      {
        status: 200,
        requestId: undefined,
        serverTiming: { auth: 0, search: 21.5 },
        type: "text/event-stream; charset=utf-8",
      },
    ],
  );
});

test("a stream that ends without a terminal event yields its events and throws connection_lost", async () => {
  const { received, error } = await ask([events(["answer_start", {}], ["answer_delta", { text: "Half an" }])]);
  assert.equal(received.at(-1).text, "Half an");
  assertChatError(error, { code: "connection_lost", retryable: true, reason: undefined });
});

test("a connection that breaks in the middle throws connection_lost", async () => {
  const { received, error } = await ask([
    async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('event: answer_delta\ndata: {"text":"Half"}\n\n');
      await new Promise((resolve) => setTimeout(resolve, 50));
      response.destroy();
    },
  ]);
  assert.equal(received.length, 1);
  assertChatError(error, { code: "connection_lost", retryable: true, reason: undefined });
});

test("a stream that falls silent throws connection_lost", async () => {
  const { error } = await ask(
    [(response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()],
    {
      idleTimeoutMs: 80,
    },
  );
  assertChatError(error, { code: "connection_lost" });
});

test("heartbeats keep a slow stream alive", async () => {
  const { received, error } = await ask(
    [
      async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (let heartbeat = 0; heartbeat < 6; heartbeat++) {
          response.write(": working\n\n");
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        response.end(`event: answer_end\ndata: {}\n\n`);
      },
    ],
    { idleTimeoutMs: 400 },
  );
  assert.equal(error, undefined);
  assert.equal(received.length, 1);
});

test("an unreachable server throws connection_lost with the reason unreachable", async () => {
  const { endpoint, close } = await chatServer();
  await close();
  const asking = streamChat(REQUEST, { endpoint, tokenProvider: async () => "token" });
  await assert.rejects(
    asking.next(),
    (/** @type {import("../src/client/index.ts").ChatError} */ error) =>
      error.code === "connection_lost" &&
      error.reason === "unreachable" &&
      error.retryable &&
      error.message === "The chat service could not be reached.",
  );
});

test("an abort throws the signal's reason and closes the connection", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  /** @type {Promise<unknown>} */
  let closed;
  const { error } = await ask(
    [
      (response) => {
        closed = once(response, "close");
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        setTimeout(() => controller.abort(reason), 30);
      },
    ],
    { signal: controller.signal },
  );
  assert.equal(error, reason);
  await closed;
});

test("citations keep only http and https links, and none with a password", async () => {
  const citation = (index, url) => ({
    index,
    title: "T",
    score: 0.5,
    excerpt: "E",
    quotes: [{ start: 0, end: 1, text: "E" }],
    url,
  });
  const urls = [
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "//evil.example",
    "/relative",
    "https://user:password@credentials.example/",
    "https://user@credentials.example/",
    "https://ok.example/a b",
    "http://ok.example/",
    7,
  ];
  const { received } = await ask([
    events(["sources", { citations: urls.map((url, at) => citation(at + 1, url)) }], END),
  ]);
  const links = received[0].citations.map(({ url }) => url);
  assert.deepEqual(links, [
    ...Array.from({ length: 7 }, () => undefined),
    "https://ok.example/a%20b",
    "http://ok.example/",
    undefined,
  ]);
});

test("the strength of a citation is one of three values or missing", async () => {
  const strengths = ["strong", "good", "partial", "STRONG", "", 3, null, undefined];
  const { received } = await ask([
    events(["sources", { citations: strengths.map((strength, at) => ({ index: at + 1, strength })) }], END),
  ]);
  const [{ citations }] = received;
  assert.deepEqual(
    citations.slice(0, 3).map(({ strength }) => strength),
    ["strong", "good", "partial"],
  );
  for (const citation of citations.slice(3)) assert.ok(!("strength" in citation));
  assert.equal(citations.length, strengths.length);
});

test("a quote has its words as the answer shows them if they differ", async () => {
  const quotes = [
    { start: 0, end: 6, text: "Why\tno", kind: "row", plain: "Why: no", pieces: [{ text: "Why" }, { text: "no" }] },
    { start: 7, end: 10, text: "No.", plain: 7, pieces: [{ text: "No." }], whole: "Why? No." },
  ];
  const { received } = await ask([events(["sources", { citations: [{ index: 1, quotes }] }], END)]);
  assert.deepEqual(received[0].citations[0].quotes, [
    quotes[0],
    { start: 7, end: 10, text: "No.", pieces: [{ text: "No." }], whole: "Why? No." },
  ]);
});

test("a quote without pieces, or with a malformed one, is skipped", async () => {
  const words = { start: 0, end: 3, text: "No." };
  const pieces = [undefined, null, [], "No.", [{}], [{ text: "No." }, 7], [{ text: "No.", role: 7 }]];
  const quotes = pieces.map((pieces) => ({ ...words, pieces }));
  const { received } = await ask([events(["sources", { citations: [{ index: 1, quotes }] }], END)]);
  assert.deepEqual(received[0].citations[0].quotes, []);
});

test("also-found and nearest passages have no numbers and only safe URLs", async () => {
  const passage = { chunk_id: "c", document_id: "d", title: "T", score: 0.4, section: "S", page: 2 };
  const links = { url: "https://ok.example/", download_url: "https://ok.example/file" };
  const sent = [
    { ...passage, ...links, excerpt: "E" },
    { ...passage, url: "javascript:alert(1)", download_url: "//evil.example", index: 1, quotes: [{ text: "q" }] },
    "T",
    null,
  ];
  const sources = await ask([events(["sources", { citations: [], also_found: sent }], END)]);
  const expected = [{ ...passage, ...links, excerpt: "E" }, passage];
  assert.deepEqual(sources.received[0].also_found, expected);
  await server.close();
  const refused = await ask([events(["refusal", { message: "No.", reason: "no_match", nearest: sent }])]);
  assert.deepEqual(refused.received[0].nearest, expected);
});

test("an answer is hedged only if the server says so", async () => {
  const starts = [undefined, "true", 1, false, true].map((hedged) => ["answer_start", { hedged }]);
  const { received } = await ask([events(...starts, END)]);
  assert.deepEqual(
    received.slice(0, -1).map(({ hedged }) => hedged),
    [false, false, false, false, true],
  );
});

test("malformed citations are skipped or completed with defaults", async () => {
  const { received } = await ask([
    events(
      [
        "sources",
        {
          citations: [null, "x", {}, { index: 1, score: "high", quotes: [{}, { text: "q", pieces: [{ text: "q" }] }] }],
        },
      ],
      END,
    ),
  ]);
  assert.deepEqual(received[0].citations, [
    {
      index: 1,
      chunk_id: "",
      document_id: "",
      title: "Unknown document",
      score: 0,
      excerpt: "",
      quotes: [{ start: 0, end: 0, text: "q", pieces: [{ text: "q" }] }],
    },
  ]);
});
