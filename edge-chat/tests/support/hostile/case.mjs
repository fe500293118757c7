// The shape of a hostile request, and helpers to create one.
//
// { name, method, target, headers, pieces, authorization, expected: [status, code] }
// `authorization` is the value of the header; `undefined` means a new, valid user.

const VECTOR = JSON.stringify([1, ...Array(383).fill(0)]);

/** A valid body of `POST /api/chat` with values as JSON text, so that they can be replaced by invalid JSON. */
export const chatBody = (changes = {}) =>
  body({
    embedding: VECTOR,
    message: '"When are refunds paid?"',
    message_id: `"${crypto.randomUUID()}"`,
    model: '"test-model"',
    ...changes,
  });

/** A valid body of `POST /api/search`. */
export const searchBody = (changes = {}) =>
  body({ embedding: VECTOR, query: '"When are refunds pa"', model: '"test-model"', ...changes });

function body(/** @type {Record<string, string | undefined>} */ fields) {
  const members = Object.entries(fields).filter(([, text]) => text !== undefined);
  return `{${members.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
}

const INVALID = [400, "invalid_request"];

/** `POST /api/chat` with this body. */
export const chat = (name, body, expected = INVALID, headers) =>
  post("POST", "/api/chat", name, body, expected, headers);

/** `POST /api/search` with this body. */
export const search = (name, body, expected = INVALID, headers) =>
  post("POST", "/api/search", `search: ${name}`, body, expected, headers);

/**
 * The routes that take a text and its vector: their request, their body, and the name of the text.
 * @typedef {{ post: typeof chat, bodyOf: typeof chatBody, text: string }} TextRoute
 */

/** @type {TextRoute} */
export const CHAT = { post: chat, bodyOf: chatBody, text: "message" };

/** @type {TextRoute} */
export const SEARCH = { post: search, bodyOf: searchBody, text: "query" };

/** A session that does not exist. */
export const SESSION = "/api/sessions/5e551011-0000-4000-8000-000000000001";

/** `PATCH` of a session with this body. */
export const rename = (name, body, expected = INVALID, headers) =>
  post("PATCH", SESSION, name, body, expected, headers);

function post(method, target, name, body, expected, headers = [["Content-Type", "application/json"]]) {
  const bytes = Buffer.from(body);
  return {
    name,
    method,
    target,
    headers: [...headers, ["Content-Length", String(bytes.length)]],
    pieces: [bytes],
    expected,
  };
}

/** A request without a body. */
export const get = (name, target, expected, method = "GET") => ({ name, method, target, expected });

/** One chunk of a chunked body. */
export const chunk = (bytes) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from("\r\n")]);
