import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { chatServer, json } from "./chat-server.mjs";

const client = await importTs(new URL("../src/client/index.ts", import.meta.url));
const { parseServerTiming } = await importTs(new URL("../src/client/request.ts", import.meta.url));
const { apiUrl } = await importTs(new URL("../src/client/request.ts", import.meta.url));

const ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const SESSION = {
  id: ID,
  title: "Refunds",
  created_at: "2026-11-22T09:15:27.123456+00:00",
  updated_at: "2026-11-22T09:16:02.5+00:00",
};

const SEARCH = { embedding: [1, 0], query: "refunds", model: "m" };

let server;
afterEach(() => server?.close());

/** Options for a server with one handler per request. */
async function serving(...handlers) {
  server = await chatServer(...handlers);
  return { endpoint: server.endpoint, tokenProvider: async () => "token", idleTimeoutMs: 2000 };
}

function file(content, headers = {}) {
  return (response) => response.writeHead(200, headers).end(content);
}

function redirect(location) {
  return (response) => response.writeHead(307, { location }).end();
}

const unauthorized = json(401, { code: "unauthorized", message: "Expired." });

/** Every function that needs a token. */
const ANSWER = { sessionId: ID, messageId: ID };
const CALLS = {
  search: (options, signal) => client.search(SEARCH, options, signal),
  searchStatements: (options, signal) => client.searchStatements(SEARCH, options, signal),
  listSessions: (options, signal) => client.listSessions({}, options, signal),
  renameSession: (options, signal) => client.renameSession(ID, "New", options, signal),
  deleteSession: (options, signal) => client.deleteSession(ID, options, signal),
  listMessages: (options, signal) => client.listMessages(ID, {}, options, signal),
  giveFeedback: (options, signal) => client.giveFeedback(ANSWER, { rating: "up" }, options, signal),
  removeFeedback: (options, signal) => client.removeFeedback(ANSWER, options, signal),
  downloadDocument: (options, signal) => client.downloadDocument(ID, options, signal),
  exportMyData: (options, signal) => client.exportMyData(options, signal),
  deleteMyData: (options, signal) => client.deleteMyData(options, signal),
};

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} asks for another token once after a 401`, async () => {
    const options = await serving(unauthorized, unauthorized, unauthorized);
    const tokens = ["old", "new", "never"];
    await assert.rejects(call({ ...options, tokenProvider: async () => tokens.shift() }), {
      name: "ChatError",
      code: "unauthorized",
      reason: "expired",
      status: 401,
    });
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ["Bearer old", "Bearer new"],
    );
  });

  test(`${name} sends nothing while nobody is signed in`, async () => {
    const options = await serving();
    await assert.rejects(call({ ...options, tokenProvider: async () => null }), { reason: "signed_out" });
    assert.equal(server.requests.length, 0);
  });

  test(`${name} keeps the server's message for a rate limit`, async () => {
    const body = { code: "rate_limited", message: "A short break.", retryable: true, request_id: "r" };
    const options = await serving(json(429, body, { "retry-after": "60" }));
    await assert.rejects(call(options), {
      code: "rate_limited",
      message: "A short break.",
      retryable: true,
      retryAfterSeconds: 60,
      requestId: "r",
      reason: undefined,
    });
  });

  test(`${name} never follows a redirect with its token`, async () => {
    const otherServer = await chatServer(file("{}"), file("{}"));
    const options = await serving(redirect(otherServer.endpoint), redirect("/api/other"), file("{}"));
    for (const to of ["to another server", "to another path"])
      await assert.rejects(call(options), { code: "connection_lost" }, to);
    assert.equal(server.requests.length, 2);
    assert.equal(otherServer.requests.length, 0);
    await otherServer.close();
  });

  test(`${name} keeps the server's message for an outage`, async () => {
    const body = { code: "upstream_unavailable", message: "A short break.", retryable: true };
    const options = await serving(json(503, body, { "retry-after": "5" }));
    await assert.rejects(call(options), { ...body, name: "ChatError", status: 503, retryAfterSeconds: 5 });
  });

  test(`${name} times out if the server does not respond`, async () => {
    const options = await serving(() => undefined);
    await assert.rejects(call({ ...options, idleTimeoutMs: 50 }), { code: "connection_lost", retryable: true });
  });

  test(`${name} times out if the body of an error never ends`, async () => {
    const options = await serving((response) => response.writeHead(503).write('{"code":'));
    // Enough for the status to arrive on a busy machine.
    await assert.rejects(call({ ...options, idleTimeoutMs: 1000 }), { code: "invalid_response", status: 503 });
  });

  test(`${name} throws the signal's reason after an abort`, async () => {
    const controller = new AbortController();
    const reason = new Error("signed out");
    const options = await serving(() => controller.abort(reason));
    await assert.rejects(call(options, controller.signal), (thrown) => thrown === reason);
    await assert.rejects(call(options, controller.signal), (thrown) => thrown === reason);
    assert.equal(server.requests.length, 1);
  });
}

test("the settings are read without a token", async () => {
  const config = {
    suggested_questions: ["How?"],
    citations: false,
    link_mode: "public",
    answer_mode: "extractive",
    dimensions: 384,
    max_message_chars: 4000,
  };
  const options = await serving(
    json(200, { ...config, greeting: "Hello", model: "3f2a", support_url: "https://example.com" }),
    json(200, { ...config, greeting: null, model: null }),
    json(200, { suggested_questions: [1, "", "How?"], link_mode: "everything", answer_mode: 7, dimensions: "384" }),
    json(200, { ...config, answer_mode: "endpoint", sends_to: "llm.example" }),
    json(200, { ...config, answer_mode: "on_device" }),
  );
  const anonymous = { ...options, tokenProvider: () => assert.fail("No token is needed.") };
  assert.deepEqual(await client.getConfig(anonymous), {
    ...config,
    greeting: "Hello",
    model: "3f2a",
    support_url: "https://example.com",
  });
  assert.deepEqual(await client.getConfig(anonymous), config);
  assert.deepEqual(await client.getConfig(anonymous), {
    ...config,
    citations: true,
    link_mode: "none",
  });
  assert.deepEqual(await client.getConfig(anonymous), { ...config, answer_mode: "endpoint", sends_to: "llm.example" });
  assert.deepEqual(await client.getConfig(anonymous), { ...config, answer_mode: "on_device" });
  assert.deepEqual(server.requests[0].path, "/api/config");
  assert.equal(server.requests[0].headers.authorization, undefined);
});

test("getConfig asks for an assistant by name, and with a token only if it is unknown without one", async () => {
  const unknown = json(404, { code: "unknown_assistant", message: "There is none.", retryable: false });
  const options = {
    ...(await serving(json(200, { title: "Staff" }), unknown, json(200, {}), unknown, unknown)),
    assistant: "staff",
  };
  assert.equal((await client.getConfig(options)).title, "Staff");
  await client.getConfig(options);
  assert.deepEqual(
    server.requests.map(({ path, headers }) => [path, headers.authorization]),
    [
      ["/api/config?assistant=staff", undefined],
      ["/api/config?assistant=staff", undefined],
      ["/api/config?assistant=staff", "Bearer token"],
    ],
  );
  await assert.rejects(client.getConfig(options), { name: "ChatError", code: "unknown_assistant", retryable: false });
});

const RESULT = {
  chunk_id: ID,
  document_id: ID,
  title: "Refunds",
  section: "Time",
  page: 2,
  url: "https://shop.example/refunds",
  score: 0.7,
  excerpt: "Refunds are paid\nwithin 5 days.",
  quotes: [
    {
      start: 0,
      end: 31,
      text: "Refunds are paid\nwithin 5 days.",
      plain: "Refunds are paid within 5 days.",
      pieces: [{ text: "Refunds are paid within 5 days." }],
    },
  ],
};

test("search sends the text with its vector to the assistant, next to the chat", async () => {
  const options = { ...(await serving(json(200, { results: [RESULT] }))), assistant: "shop" };
  assert.deepEqual(await client.search({ ...SEARCH, limit: 3 }, options), [RESULT]);
  const [{ method, path, headers, body }] = server.requests;
  assert.deepEqual([method, path, headers.authorization], ["POST", "/api/search", "Bearer token"]);
  assert.deepEqual(JSON.parse(body), { ...SEARCH, limit: 3, assistant: "shop" });
});

test("search skips malformed results and addresses that are not web addresses", async () => {
  const malformed = [null, [], "x", {}, { ...RESULT, quotes: [] }, { ...RESULT, quotes: [{ start: 0 }] }];
  const hostile = { ...RESULT, url: "javascript:alert(1)", download_url: "data:text/html,x", title: 7 };
  const options = await serving(json(200, { results: [...malformed, hostile] }));
  const [result, ...others] = await client.search(SEARCH, options);
  const { url: _, ...rest } = RESULT;
  assert.deepEqual([result, others], [{ ...rest, title: "Unknown document" }, []]);
});

for (const body of [{}, { results: {} }, { results: "none" }, [], "text"]) {
  test(`a search with the body ${JSON.stringify(body)} is an invalid response`, async () => {
    const options = await serving(json(200, body));
    await assert.rejects(client.search(SEARCH, options), { code: "invalid_response" });
  });
}

test("listSessions lists the conversations of the assistant", async () => {
  const options = { ...(await serving(json(200, { sessions: [], next_cursor: null }))), assistant: "shop" };
  await client.listSessions({}, options);
  assert.equal(server.requests[0].path, "/api/sessions?assistant=shop");
});

test("listSessions reads conversations page by page", async () => {
  const options = await serving(
    json(200, { sessions: [SESSION], next_cursor: "a+b/=&" }),
    json(200, { sessions: [], next_cursor: null }),
  );
  const first = await client.listSessions({ limit: 5 }, options);
  assert.deepEqual(first, { sessions: [SESSION], next_cursor: "a+b/=&" });
  assert.deepEqual(await client.listSessions({ cursor: first.next_cursor }, options), { sessions: [] });
  const [one, two] = server.requests.map(({ path }) => new URL(path, server.endpoint));
  assert.equal(one.pathname + one.search, "/api/sessions?limit=5");
  assert.deepEqual([...two.searchParams], [["cursor", "a+b/=&"]]);
});

test("listSessions skips malformed conversations and ids that do not fit into a URL path", async () => {
  const malformedItems = [null, [], "x", {}, { id: 7 }, { id: "" }, { id: ".." }, { id: "a/../b" }, { id: "a?b" }];
  const options = await serving(json(200, { sessions: [...malformedItems, { id: ID, title: null, created_at: 3 }] }));
  const { sessions } = await client.listSessions({}, options);
  assert.deepEqual(sessions, [{ id: ID, created_at: "", updated_at: "" }]);
});

for (const body of [{}, { sessions: {}, messages: "none" }, [], "text"]) {
  test(`a list with the body ${JSON.stringify(body)} is an invalid response`, async () => {
    const options = await serving(json(200, body), json(200, body), json(200, body));
    await assert.rejects(client.listSessions({}, options), { code: "invalid_response" });
    await assert.rejects(client.listMessages(ID, {}, options), { code: "invalid_response" });
    await assert.rejects(client.renameSession(ID, "x", options), { code: "invalid_response" });
  });
}

test("a truncated body is a lost connection", async () => {
  const options = await serving((response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" }).write('{"sessions":[');
    setTimeout(() => response.destroy(), 20);
  });
  await assert.rejects(client.listSessions({}, options), { code: "connection_lost" });
});

test("renameSession sends the new title", async () => {
  const options = await serving(json(200, { ...SESSION, title: "Money back" }));
  assert.deepEqual(await client.renameSession(ID, "Money back", options), { ...SESSION, title: "Money back" });
  const [{ method, path, body, headers }] = server.requests;
  assert.deepEqual([method, path, JSON.parse(body)], ["PATCH", `/api/sessions/${ID}`, { title: "Money back" }]);
  assert.equal(headers["content-type"], "application/json");
});

test("giveFeedback sends what the visitor thinks, and removeFeedback succeeds even if the answer is gone", async () => {
  const feedback = /** @type {const} */ ({ rating: "down", reason: "outdated", comment: "Since May." });
  const options = await serving(
    json(200, feedback),
    (response) => response.writeHead(204).end(),
    json(404, { code: "not_found", message: "Not there." }),
  );
  await client.giveFeedback(ANSWER, { ...feedback, embedding: [1, 0] }, options);
  await client.removeFeedback(ANSWER, options);
  await client.removeFeedback(ANSWER, options);
  const path = `/api/sessions/${ID}/messages/${ID}/feedback`;
  const [given, removed] = server.requests;
  assert.deepEqual(
    [given.method, given.path, JSON.parse(given.body)],
    ["PUT", path, { ...feedback, embedding: [1, 0] }],
  );
  assert.deepEqual([removed.method, removed.path], ["DELETE", path]);
});

test("deleteSession succeeds even if the conversation is already deleted", async () => {
  const options = await serving(
    (response) => response.writeHead(204).end(),
    json(404, { code: "not_found", message: "Not there." }),
    (response) => response.writeHead(404).end("<h1>No API here</h1>"),
  );
  await client.deleteSession(ID, options);
  await client.deleteSession(ID, { ...options, keepalive: true });
  await assert.rejects(client.deleteSession(ID, options), { code: "invalid_response", status: 404 });
  assert.deepEqual([server.requests[0].method, server.requests[0].path], ["DELETE", `/api/sessions/${ID}`]);
});

const SUPPORT = { start: 0, end: 1, text: "E", sentence: 0 };

test("listMessages reads citations, hedges, who wrote an answer, what was searched and the availability of documents", async () => {
  const citation = { index: 1, chunk_id: "c", document_id: "d", title: "T", score: 0.5, excerpt: "E", quotes: [] };
  const message = (role, content, citations, hedged = false) => ({
    id: "m",
    role,
    content,
    citations,
    hedged,
    created_at: "2026-11-22",
  });
  const { hedged: _, ...question } = message("user", "Why?", []);
  const options = await serving(
    json(200, {
      messages: [
        question,
        message(
          "assistant",
          "E [1]",
          [{ ...citation, available: false }, { ...citation, available: true }, citation, 7],
          true,
        ),
        { ...message("assistant", "F [1]", [{ ...citation, supports: [SUPPORT, { text: "E" }] }]), mode: "generated" },
        { ...message("assistant", "G.", []), mode: "sung", searched: 7, truncated: "yes" },
        { ...message("assistant", "H.", []), searched: "And H? Why?", truncated: true },
        message("system", "Obey.", []),
        message("assistant", "", []),
        message("assistant", "No.", null),
        null,
      ],
      next_cursor: "next",
    }),
  );
  const page = await client.listMessages(ID, { limit: 200 }, options);
  assert.deepEqual(page, {
    messages: [
      message("user", "Why?", []),
      message(
        "assistant",
        "E [1]",
        [{ ...citation, available: false }, { ...citation, available: true }, citation],
        true,
      ),
      { ...message("assistant", "F [1]", [{ ...citation, supports: [SUPPORT] }]), mode: "generated" },
      { ...message("assistant", "G.", []), mode: "generated" },
      { ...message("assistant", "H.", []), searched: "And H? Why?", truncated: true },
      message("assistant", "No.", []),
    ],
    next_cursor: "next",
  });
  assert.equal(server.requests[0].path, `/api/sessions/${ID}/messages?limit=200`);
});

test("downloadDocument takes an id or a URL and gives bytes that no browser executes", async () => {
  const attachment = {
    "content-type": "text/html",
    "content-disposition": "attachment; filename=\"R_ck.html\"; filename*=UTF-8''R%C3%BCck.html",
  };
  const options = await serving(file("<script>", attachment), file("<script>", attachment));
  for (const which of [ID, new URL(`documents/${ID}/download`, server.endpoint).href]) {
    const { blob, name } = await client.downloadDocument(which, options);
    assert.deepEqual([await blob.text(), blob.type, name], ["<script>", "application/octet-stream", "Rück.html"]);
  }
  for (const { path, headers } of server.requests) {
    assert.deepEqual([path, headers.authorization], [`/api/documents/${ID}/download`, "Bearer token"]);
  }
});

test("downloadDocument sends no token to a signed URL elsewhere or to another path of the server", async () => {
  const options = await serving();
  const storage = await chatServer(file("%PDF"), file("%PDF"));
  const origin = new URL(storage.endpoint).origin;
  const tokenProvider = () => assert.fail("No token may be asked for.");
  const signed = `${origin}/storage/v1/object/sign/kb/terms%20of%20use.pdf?token=x`;
  const { name, blob } = await client.downloadDocument(signed, { ...options, tokenProvider });
  assert.deepEqual([name, await blob.text()], ["terms of use.pdf", "%PDF"]);
  await client.downloadDocument(`${origin}/api/documents/${ID}/download`, { ...options, tokenProvider });
  const otherPath = new URL("documents/../../elsewhere", server.endpoint).href;
  await assert.rejects(client.downloadDocument(otherPath, { ...options, tokenProvider }), { status: 500 });
  for (const { headers } of [...storage.requests, ...server.requests]) assert.equal(headers.authorization, undefined);
  await storage.close();
});

test("a signed URL may redirect, without a token", async () => {
  const options = await serving();
  const storage = await chatServer(redirect("/files/terms.pdf"), file("%PDF"));
  const { blob } = await client.downloadDocument(`${new URL(storage.endpoint).origin}/sign/terms.pdf`, options);
  assert.equal(await blob.text(), "%PDF");
  for (const { headers } of storage.requests) assert.equal(headers.authorization, undefined);
  await storage.close();
});

test("a 401 from a signed URL does not ask for a token", async () => {
  const options = await serving();
  const storage = await chatServer(json(401, { code: "unauthorized", message: "Link expired." }));
  const tokenProvider = () => assert.fail("No token may be asked for.");
  await assert.rejects(client.downloadDocument(storage.endpoint, { ...options, tokenProvider }), {
    code: "unauthorized",
    message: "Link expired.",
  });
  await storage.close();
});

for (const address of ["javascript:alert(1)", "data:text/html,x", "../secret", "", "https://user:pw@host.example/"]) {
  test(`"${address}" is not accepted as a document`, async () => {
    const options = await serving();
    await assert.rejects(client.downloadDocument(address, options), TypeError);
    assert.equal(server.requests.length, 0);
  });
}

const NAMES = [
  ['attachment; filename="plain.pdf"', "plain.pdf"],
  ["attachment; filename=token.pdf; size=3", "token.pdf"],
  ['attachment; filename="a \\"b\\".txt"', 'a "b".txt'],
  ["attachment; filename=\"ok.pdf\"; filename*=UTF-8''%E0%A4%A", "ok.pdf"],
  ["attachment; filename*=UTF-8''..%2F..%2F.bashrc", "bashrc"],
  ["attachment; filename*=UTF-8''invoice%E2%80%AEgpj.exe", "invoicegpj.exe"],
  ['attachment; filename="..."', "document"],
  ["attachment", "download"],
  ["", "download"],
];
for (const [disposition, expected] of NAMES) {
  test(`Content-Disposition ${JSON.stringify(disposition)} gives the file name ${expected}`, async () => {
    const options = await serving(file("x", disposition && { "content-disposition": disposition }));
    assert.equal((await client.downloadDocument(ID, options)).name, expected);
  });
}

test("a truncated download is a lost connection", async () => {
  const options = await serving((response) => {
    response.writeHead(200, { "content-length": "1000" }).write("half");
    setTimeout(() => response.destroy(), 20);
  });
  await assert.rejects(client.downloadDocument(ID, options), { code: "connection_lost" });
});

test("a slow download continues while bytes arrive", async () => {
  const options = await serving(async (response) => {
    response.writeHead(200);
    for (const piece of ["a", "b", "c", "d", "e"]) {
      response.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    response.end();
  });
  const { blob } = await client.downloadDocument(ID, { ...options, idleTimeoutMs: 200 });
  assert.equal(await blob.text(), "abcde");
});

const EXPORT = JSON.stringify({
  exported_at: "2026-11-22T09:15:27Z",
  sessions: [{ id: ID, title: "Refunds", messages: [{ id: "m", role: "user", content: "Why? é字😀" }] }],
  refused_questions: [],
});
const EXPORT_HEADERS = {
  "content-type": "application/json",
  "content-disposition": 'attachment; filename="evidence-chat-export.json"',
};

test("exportMyData gives the server's file byte for byte", async () => {
  const options = await serving(file(EXPORT, EXPORT_HEADERS), file(EXPORT));
  for (const how of ["named by the server", "not named"]) {
    const { blob, name } = await client.exportMyData(options);
    assert.deepEqual(
      [await blob.text(), blob.type, name],
      [EXPORT, "application/octet-stream", "evidence-chat-export.json"],
      how,
    );
  }
  const [{ method, path, headers }] = server.requests;
  assert.deepEqual([method, path, headers.authorization], ["GET", "/api/me/export", "Bearer token"]);
});

test("a long export continues while bytes arrive", async () => {
  const options = await serving(async (response) => {
    response.writeHead(200, EXPORT_HEADERS);
    for (let at = 0; at < EXPORT.length; at += 40) {
      response.write(EXPORT.slice(at, at + 40));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    response.end();
  });
  const { blob } = await client.exportMyData({ ...options, idleTimeoutMs: 200 });
  assert.equal(await blob.text(), EXPORT);
});

const HALF = EXPORT.slice(0, EXPORT.length / 2);
/** @type {[how: string, handler: (response: import("node:http").ServerResponse) => void][]} */
const CUT = [
  [
    "whose connection is cut",
    (response) => {
      response.writeHead(200, EXPORT_HEADERS).write(HALF);
      setTimeout(() => response.destroy(), 20);
    },
  ],
  ["that ends too early without an error", file(HALF, EXPORT_HEADERS)],
  ["that lacks its last character", file(EXPORT.slice(0, -1), EXPORT_HEADERS)],
  ["that falls silent", (response) => response.writeHead(200, EXPORT_HEADERS).write(HALF)],
];
for (const [how, handler] of CUT) {
  test(`an export ${how} is a lost connection, not half a file`, async () => {
    const options = await serving(handler);
    await assert.rejects(client.exportMyData({ ...options, idleTimeoutMs: 200 }), {
      code: "connection_lost",
      retryable: true,
    });
  });
}

for (const body of ["", "<h1>Sign in to the network</h1>", "{}", '{"sessions":[]}', '{"refused_questions":[]}', "[]"]) {
  test(`an export with the body ${JSON.stringify(body)} is an invalid response`, async () => {
    const options = await serving(file(body, EXPORT_HEADERS));
    await assert.rejects(client.exportMyData(options), { code: "invalid_response" });
  });
}

test("deleteMyData succeeds when it is repeated", async () => {
  const options = await serving(...[1, 2].map(() => (response) => response.writeHead(204).end()));
  await client.deleteMyData(options);
  await client.deleteMyData(options);
  const [{ method, path, headers }] = server.requests;
  assert.deepEqual([method, path, headers.authorization], ["DELETE", "/api/me", "Bearer token"]);
});

test("deleteMyData fails if the server lacks the route", async () => {
  const options = await serving(json(404, { code: "not_found", message: "Not found." }));
  await assert.rejects(client.deleteMyData(options), { code: "not_found" });
});

const ENDPOINTS = [
  ["https://chat.example.com/api/chat", "https://chat.example.com/api/sessions"],
  ["https://chat.example.com/api/chat/", "https://chat.example.com/api/sessions"],
  ["https://chat.example.com/tenant/api/chat?key=1#top", "https://chat.example.com/tenant/api/sessions"],
  ["https://chat.example.com", "https://chat.example.com/sessions"],
];
for (const [endpoint, expected] of ENDPOINTS) {
  test(`apiUrl resolves routes relative to ${endpoint}`, () => assert.equal(apiUrl(endpoint, "sessions"), expected));
}

test("apiUrl resolves an endpoint relative to the page", () => {
  Object.assign(globalThis, { document: { baseURI: "https://shop.example/help/" } });
  try {
    assert.equal(apiUrl("/api/chat", "config"), "https://shop.example/api/config");
  } finally {
    delete globalThis.document;
  }
});

/** @type {[header: string, expected: Record<string, number>][]} */
const TIMINGS = [
  [null, {}],
  ["", {}],
  ["auth;dur=0, total;dur=26.25", { auth: 0, total: 26.25 }],
  ['cache;desc="hit";dur="3", miss, , ;dur=1, x;dur=, y;dur=-1', { cache: 3 }],
  ["__proto__;dur=1", Object.fromEntries([["__proto__", 1]])],
  ["a;duration=5;dur=2", { a: 2 }],
];
for (const [header, expected] of TIMINGS) {
  test(`Server-Timing ${header} is ${JSON.stringify(expected)}`, () =>
    assert.deepEqual(parseServerTiming(header), expected));
}
