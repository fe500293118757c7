// Requests with the times of sending and response, in milliseconds of performance.now().
import { Agent, request } from "node:http";

/** An agent with at most this many connections, which stay open between requests. */
export function connections(count) {
  return new Agent({ keepAlive: true, maxSockets: count });
}

/**
 * @typedef {object} Reply
 * @property {number} status
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {string} text the whole body
 * @property {number} sentAt
 * @property {number} firstByteAt of the body
 * @property {number} endAt
 */

/** @typedef {NodeJS.ErrnoException & { isStale?: boolean }} RequestError */

/**
 * Sends JSON and reads the whole response.
 * @param {string} url
 * @param {{ agent: Agent, token: string, body: object, signal?: AbortSignal }} options
 * @returns {Promise<Reply>}
 */
export async function post(url, options) {
  try {
    return await postOnce(url, options);
  } catch (error) {
    // Retried as browsers do: the server closed an idle connection just as it was reused.
    if (/** @type {RequestError} */ (error).isStale) return postOnce(url, options);
    throw error;
  }
}

/**
 * Reads a whole response.
 * @param {string} url
 * @param {{ agent: Agent, token: string, signal?: AbortSignal }} options
 * @returns {Promise<Reply>}
 */
export function get(url, options) {
  return exchange(url, { method: "GET", headers: {}, ...options });
}

/**
 * @param {string} url
 * @param {{ agent: Agent, token: string, body: object, signal?: AbortSignal }} options
 */
function postOnce(url, { body, ...options }) {
  const payload = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
  return exchange(url, { method: "POST", headers, payload, ...options });
}

/**
 * @param {string} url
 * @param {object} options
 * @param {Agent} options.agent
 * @param {string} options.token
 * @param {AbortSignal} [options.signal]
 * @param {string} options.method
 * @param {import("node:http").OutgoingHttpHeaders} options.headers
 * @param {string} [options.payload]
 * @returns {Promise<Reply>}
 */
function exchange(url, { agent, token, signal, method, headers, payload }) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      agent,
      signal,
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    outgoing.once("error", (/** @type {NodeJS.ErrnoException} */ error) => {
      const isStale = outgoing.reusedSocket && error.code === "ECONNRESET";
      reject(Object.assign(error, { isStale }));
    });
    outgoing.once("response", (incoming) => {
      const pieces = [];
      let firstByteAt;
      incoming.on("data", (piece) => {
        firstByteAt ??= performance.now();
        pieces.push(piece);
      });
      incoming.once("error", reject);
      incoming.once("end", () => {
        const endAt = performance.now();
        const { headers } = incoming;
        const status = /** @type {number} */ (incoming.statusCode);
        const text = Buffer.concat(pieces).toString();
        resolve({ status, headers, text, sentAt, firstByteAt: firstByteAt ?? endAt, endAt });
      });
    });
    const sentAt = performance.now();
    outgoing.end(payload);
  });
}

/** The events of a whole stream, without those of its progress, which a repeat does not have. */
export function parseEvents(text) {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event:"))
    .map((block) => JSON.parse(block.slice(block.indexOf("\ndata: ") + 7)))
    .filter(({ type }) => type !== "progress");
}

/** The session that an answer or a refusal was written to. */
export function readSession(reply) {
  const session = readOutcome(reply).session_id ?? parseEvents(reply.text)[0].session_id;
  if (!session) throw new Error(`no session: ${reply.text}`);
  return session;
}

/** The last event of a stream that ended with an answer or a refusal; throws otherwise. */
export function readOutcome({ status, text }) {
  if (status !== 200) throw new Error(`status ${status}: ${text}`);
  const last = parseEvents(text).at(-1);
  if (last?.type !== "answer_end" && last?.type !== "refusal") throw new Error(`no outcome: ${text}`);
  return last;
}
