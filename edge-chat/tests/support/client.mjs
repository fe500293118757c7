import assert from "node:assert/strict";
import { assertDescribed } from "./openapi.mjs";
import { accessToken } from "./tokens.mjs";

/** The headers of every response. */
const EVERYWHERE = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000",
};

/** The largest body that the Worker reads. */
const MAX_BODY_BYTES = 64 * 1024;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Each error code with its statuses and whether it is retryable. */
const ERRORS = {
  invalid_request: { statuses: [400, 405, 416], retryable: false },
  unauthorized: { statuses: [401], retryable: false },
  forbidden: { statuses: [403], retryable: false },
  not_found: { statuses: [404], retryable: false },
  unknown_assistant: { statuses: [404], retryable: false },
  conflict: { statuses: [409], retryable: false },
  model_mismatch: { statuses: [409], retryable: false },
  payload_too_large: { statuses: [413], retryable: false },
  unsupported_media_type: { statuses: [415], retryable: false },
  rate_limited: { statuses: [429], retryable: true },
  internal: { statuses: [500], retryable: false },
  upstream_unavailable: { statuses: [503], retryable: true },
  upstream_timeout: { statuses: [504], retryable: true },
};

/**
 * @typedef {object} RequestOptions
 * @property {string} [method]
 * @property {string} [user] the user's id; its access token is sent
 * @property {string} [token] sent instead of the user's token
 * @property {Record<string, string>} [headers]
 * @property {unknown} [body] sent as JSON unless it is a string
 * @property {AbortSignal} [signal]
 */

/**
 * A response that has been read.
 * @typedef {object} Reply
 * @property {number} status
 * @property {Headers} headers
 * @property {Buffer} bytes
 * @property {string} text
 * @property {any[]} events of an event stream
 * @property {any} json the body, if it is JSON
 */

/** A valid question with overrides. */
export function question(overrides = {}) {
  const embedding = Array.from({ length: 384 }, (_, index) => (index === 0 ? 1 : 0));
  return {
    embedding,
    message: "When are refunds paid?",
    message_id: crypto.randomUUID(),
    model: "test-model",
    ...overrides,
  };
}

/** Asks as a user and reads the whole response. */
export function ask(url, userId, /** @type {unknown} */ body = question(), /** @type {RequestOptions} */ options = {}) {
  return send(url, "/api/chat", { method: "POST", user: userId, body, ...options });
}

/** A valid search with overrides. */
export function searchBody(overrides = {}) {
  const { embedding, model } = question();
  return { embedding, query: "When are refunds pa", model, ...overrides };
}

/** Searches as a user and reads the whole response. */
export function search(
  url,
  userId,
  /** @type {unknown} */ body = searchBody(),
  /** @type {RequestOptions} */ options = {},
) {
  return send(url, "/api/search", { method: "POST", user: userId, body, ...options });
}

/** Sends a request and reads the whole response. */
export async function send(url, path, /** @type {RequestOptions} */ options = {}) {
  const response = await open(url, path, options);
  const bytes = Buffer.from(await response.arrayBuffer());
  return replyOf({ method: options.method ?? "GET", path, status: response.status, headers: response.headers, bytes });
}

/** Sends a request and returns the response with an unread body. */
export function open(
  url,
  path,
  /** @type {RequestOptions} */ { method = "GET", user, token, headers = {}, body, signal } = {},
) {
  const bearer = token ?? (user && accessToken(user));
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  // The Worker answers before it has read such a body, and ends the connection: it must not serve the next request. If it ends while
  // fetch still writes, fetch loses the answer.
  const isOversize = text !== undefined && text.length > MAX_BODY_BYTES;
  const request = () =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(isOversize && { connection: "close" }),
        ...headers,
      },
      body: text,
      redirect: "manual",
      signal,
    });
  return isOversize ? request().catch(request) : request();
}

/** The body of a response that must have one. */
export function bodyOf(/** @type {Response} */ response) {
  assert.ok(response.body, "no body");
  return response.body;
}

/** A response for the tests. This is the one place that checks each response against the API description. */
export function replyOf({ method, path, status, headers, bytes }) {
  const text = bytes.toString();
  /** @type {Reply} */
  const reply = { status, headers, bytes, text, events: [], json: undefined };
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) reply.events = parseEvents(text);
  if (type.startsWith("application/json") && text) reply.json = JSON.parse(text);

  assertDescribed({ method, path, status, headers, text });
  for (const [name, value] of Object.entries(EVERYWHERE)) assert.equal(headers.get(name), value, name);
  assert.match(headers.get("x-request-id"), UUID);
  assert.ok(headers.get("server-timing"), "Server-Timing");
  assert.match(headers.get("vary"), /\bOrigin\b/);
  if (status >= 400 && method !== "HEAD") assertErrorShape(reply);
  return reply;
}

function assertErrorShape({ status, json, headers }) {
  assert.ok(json, `an error without JSON, status ${status}`);
  assert.deepEqual(Object.keys(json).sort(), ["code", "message", "request_id", "retryable"]);
  const { statuses, retryable } = ERRORS[json.code] ?? assert.fail(`unknown code ${json.code}`);
  assert.ok(statuses.includes(status), `${json.code} with status ${status}`);
  assert.equal(json.retryable, retryable);
  assert.ok(json.message);
  assert.equal(json.request_id, headers.get("x-request-id"));
  assert.equal(headers.get("cache-control"), "no-store");
}

/** The value of a header that must be there. */
export function headerOf(/** @type {Headers} */ headers, /** @type {string} */ name) {
  const value = headers.get(name);
  assert.ok(value !== null, `no header ${name}`);
  return value;
}

/** Asserts status and code of an error. `replyOf` has checked its shape. */
export function assertError(reply, status, code) {
  assert.deepEqual([reply.status, reply.json?.code], [status, code], reply.text);
}

const EVENT_NAMES = new Set(["progress", "answer_start", "answer_delta", "sources", "answer_end", "refusal", "error"]);
const TERMINAL = new Set(["answer_end", "refusal", "error"]);

/** Parses a complete stream. Each event must have a name and one line of data, and only the last one is terminal. */
export function parseEvents(text) {
  const events = text
    .split("\n\n")
    .filter((block) => block && !block.startsWith(":"))
    .map((block) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? assert.fail(`no event: ${block}`);
      const event = JSON.parse(data);
      assert.ok(EVENT_NAMES.has(name), name);
      assert.equal(event.type, name);
      return event;
    });
  const ends = events.flatMap((event, index) => (TERMINAL.has(event.type) ? [index] : []));
  assert.deepEqual(ends, [events.length - 1], "the last event is the only terminal one");
  return events;
}

/** Polls until `look` returns something. */
export async function eventually(look, limitMs = 5000) {
  for (let waited = 0; waited < limitMs; waited += 10) {
    const seen = await look();
    if (seen) return seen;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`nothing within ${limitMs} ms`);
}

const MINUTE_MS = 60_000;
/** How many requests `exceed` sends side by side. */
const AT_ONCE = 10;

/** Ten more requests than a limit allows for one key, all within one minute of the limiter. */
export async function exceed(limit, newKey, make) {
  for (;;) {
    const [startedAt, key] = [Date.now(), newKey()];
    const leftMs = MINUTE_MS - (startedAt % MINUTE_MS);
    const replies = [];
    while (replies.length < limit + 10) {
      replies.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => make(key)))));
    }
    if (Date.now() - startedAt < leftMs) return { replies, key };
    // Where all clients share one key, the next attempt must not count what this one sent.
    await new Promise((resolve) => setTimeout(resolve, MINUTE_MS - (Date.now() % MINUTE_MS)));
  }
}
