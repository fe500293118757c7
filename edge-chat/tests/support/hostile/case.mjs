// What a hostile request is, and the short ways to write one.
//
// { name, method, target, headers, pieces, authorization, expected: [status, code] }
// `authorization`: the header's value; `undefined` is that of a fresh, valid user.

const VECTOR = JSON.stringify([1, ...Array(383).fill(0)]);

/** A valid body of `POST /api/chat`, its values as JSON text, so that they can be bent beyond what JSON can say. */
export function chatBody(changes = {}) {
  const fields = {
    embedding: VECTOR,
    message: '"When are refunds paid?"',
    message_id: `"${crypto.randomUUID()}"`,
    model: '"test-model"',
    ...changes,
  };
  const members = Object.entries(fields).filter(([, text]) => text !== undefined);
  return `{${members.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
}

const INVALID = [400, "invalid_request"];

/** `POST /api/chat` with this body. */
export const chat = (name, body, expected = INVALID, headers) =>
  post("POST", "/api/chat", name, body, expected, headers);

/** A session in which nobody has ever written. */
export const SESSION = "/api/sessions/5e551011-0000-4000-8000-000000000001";

/** A new title for a session, with this body. */
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
