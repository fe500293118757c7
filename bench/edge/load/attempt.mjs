// One attempt at a question.
import { parseEvents, post } from "../lib/client.mjs";

const TERMINAL = ["answer_end", "refusal", "error"];

/**
 * A question and all attempts to send it.
 * @typedef {object} Asked
 * @property {string} id
 * @property {Attempt[]} attempts
 *
 * @typedef {object} Attempt
 * @property {number} sentAt
 * @property {number} endAt when the body of the response began, or the connection was dropped
 * @property {number} [lastByteAt]
 * @property {number} [status] missing if there was no response
 * @property {boolean} [dropped] on purpose
 * @property {string} [text] the events of a stream
 * @property {any} [outcome] the last of them, unless it is an error
 * @property {number} [ends] the number of terminal events of a stream, if the last event is one; else 0
 * @property {string} [session] the session they were written to
 * @property {number} [retryAfterMs]
 * @property {string} [error] the message, if the request failed
 */

/**
 * Sends a question, and records the attempt from its beginning.
 * @param {Asked} asked
 * @param {{ url: string, agent: import("node:http").Agent, token: string, body: object, signal?: AbortSignal }} options
 * @returns {Promise<Attempt>}
 */
export async function send(asked, { url, signal, ...options }) {
  const sentAt = performance.now();
  /** @type {Attempt} */
  const attempt = { sentAt, endAt: Infinity };
  asked.attempts.push(attempt);
  try {
    const reply = await post(url, { ...options, signal });
    const { status, headers } = reply;
    Object.assign(attempt, { status, endAt: reply.firstByteAt, lastByteAt: reply.endAt });
    if (status === 200) Object.assign(attempt, readStream(reply.text));
    if (status === 429) attempt.retryAfterMs = Number(headers["retry-after"]) * 1000;
  } catch (error) {
    Object.assign(attempt, {
      endAt: performance.now(),
      dropped: signal?.aborted ?? false,
      error: /** @type {Error} */ (error).message,
    });
  }
  return attempt;
}

function readStream(text) {
  const events = parseEvents(text);
  const isEnd = ({ type }) => TERMINAL.includes(type);
  const outcome = events.findLast(({ type }) => type === "answer_end" || type === "refusal");
  // Without a written turn there is no session to continue.
  const session = outcome?.persisted ? (outcome.session_id ?? events[0].session_id) : undefined;
  const ends = events.length > 0 && isEnd(events[events.length - 1]) ? events.filter(isEnd).length : 0;
  return { text: JSON.stringify(events), outcome, session, ends };
}
