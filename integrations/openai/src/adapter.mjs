import { timingSafeEqual, createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isTaskOfOpenWebUi, lastUserMessage, questionOf } from "./question.mjs";

/** @import { IncomingMessage, RequestListener, ServerResponse } from "node:http" */

/** Bytes of a request. A long conversation fits; only its last two questions go to the Worker, which takes 64 KiB. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** The Worker takes no longer question. */
const MAX_QUESTION_CHARS = 4000;
/** UTF-16 has at most two units for a character. */
const MAX_QUESTION_UNITS = 2 * MAX_QUESTION_CHARS;
/** Headers of the Worker that clients read. */
const PASSED_ON = [
  "cache-control",
  "content-type",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "www-authenticate",
  "x-request-id",
  "x-should-retry",
];

/** An error in the form of OpenAI's API. */
class AdapterError extends Error {
  constructor(status, type, code, message) {
    super(message);
    Object.assign(this, { status, type, code });
  }
}

/**
 * Answers `POST /v1/chat/completions` and `GET /v1/models` with the responses of the Worker's routes of the same names. It embeds
 * the questions; everything else is the Worker's.
 * @param {object} options
 * @param {string} options.worker its origin, such as https://chat.example.com
 * @param {{ fingerprint: string, embed(text: string): Promise<{ vector: Float32Array, truncated: boolean }> }} options.embedder
 * @param {{ accessToken(): Promise<string> }} [options.account] asks instead of the client; then `apiKey` is needed
 * @param {string} [options.apiKey] what clients must send to ask with the account
 * @returns {RequestListener}
 */
export function createAdapter({ worker, embedder, account, apiKey }) {
  if (account && !apiKey) throw new Error("an account without an API key would be open to everybody");

  /** The `Authorization` header for the Worker. */
  async function authorization(/** @type {IncomingMessage} */ request) {
    const header = request.headers.authorization;
    if (!account) return header;
    if (!isEqual(header?.replace(/^Bearer /i, "") ?? "", apiKey ?? "")) {
      throw new AdapterError(401, "authentication_error", "unauthorized", "This is not the API key of the adapter.");
    }
    const token = await account.accessToken().catch((error) => {
      throw new AdapterError(503, "server_error", "upstream_unavailable", error.message);
    });
    return `Bearer ${token}`;
  }

  /** The body for the Worker: the last question with its vector, and the one before it with the vector of both. */
  async function withEmbedding(/** @type {any} */ body) {
    if (body === null || typeof body !== "object" || Array.isArray(body)) return body;
    const { messages, ...rest } = body;
    const last = lastUserMessage(messages);
    const question = questionOf(messages);
    if (question !== undefined && isTaskOfOpenWebUi(question)) {
      const message =
        "This is a prompt of Open WebUI for a language model and not a question. Choose another model for tasks in its settings.";
      throw new AdapterError(400, "invalid_request_error", "invalid_request", message);
    }
    const own = { ...rest, messages: last ? [last] : messages };
    // The Worker rejects such a question, so a vector would only cost time.
    if (!question || question.length > MAX_QUESTION_UNITS || rest.embedding) return own;
    const message = questionBefore(messages.slice(0, messages.lastIndexOf(last)));
    const [{ vector, truncated }, both] = await Promise.all([
      embedder.embed(question),
      message ? embedder.embed(`${question} ${message}`) : undefined,
    ]);
    return {
      ...own,
      embedding: Array.from(vector),
      embedding_model: embedder.fingerprint,
      // If the model cannot read both, the vector is not that of both.
      ...(both && !both.truncated && { previous: { message, embedding: Array.from(both.vector) } }),
      ...(truncated && { truncated }),
    };
  }

  /** Sends a request to the Worker and passes its response on. */
  async function forward(
    /** @type {IncomingMessage} */ request,
    /** @type {ServerResponse} */ response,
    /** @type {() => Promise<unknown>} */ bodyOf,
  ) {
    const left = new AbortController();
    response.once("close", () => left.abort());
    const token = await authorization(request);
    if (!token) {
      throw new AdapterError(401, "authentication_error", "unauthorized", "Send an access token as the API key.");
    }
    const body = await bodyOf();
    const { pathname } = new URL(request.url ?? "", worker);
    const answer = await fetch(new URL(pathname, worker), {
      method: request.method,
      headers: {
        authorization: token,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      // Following a redirect would send the token elsewhere.
      redirect: "error",
      signal: left.signal,
    }).catch(() => {
      throw new AdapterError(503, "server_error", "upstream_unavailable", "Evidence Chat cannot be reached right now.");
    });
    const headers = PASSED_ON.flatMap((name) => (answer.headers.has(name) ? [[name, answer.headers.get(name)]] : []));
    response.writeHead(answer.status, Object.fromEntries(headers));
    response.flushHeaders();
    if (!answer.body) return response.end();
    await pipeline(Readable.fromWeb(/** @type {any} */ (answer.body)), response);
  }

  async function answer(/** @type {IncomingMessage} */ request, /** @type {ServerResponse} */ response) {
    switch (`${request.method} ${request.url?.split("?", 1)[0]}`) {
      case "GET /v1/models":
        return forward(request, response, async () => undefined);
      case "POST /v1/chat/completions":
        return forward(request, response, async () => withEmbedding(await readJson(request)));
      default:
        throw new AdapterError(404, "not_found_error", "not_found", "There is nothing at this address.");
    }
  }

  return (request, response) => {
    answer(request, response).catch((error) => {
      if (response.headersSent) return response.destroy();
      const isOurs = error instanceof AdapterError;
      if (!isOurs) console.error(error);
      sendError(response, isOurs ? error : new AdapterError(500, "server_error", "internal", "The adapter failed."));
    });
  };
}

function sendError(/** @type {ServerResponse} */ response, /** @type {any} */ { status, message, type, code }) {
  const retry = String(status === 503);
  response.writeHead(status, { "content-type": "application/json", "x-should-retry": retry });
  response.end(JSON.stringify({ error: { message, type, code, param: null } }));
}

/** The last question of these messages, unless the Worker would reject the question after it because of it. */
function questionBefore(/** @type {unknown} */ messages) {
  const question = questionOf(messages)?.toWellFormed();
  if (!question || question.length > MAX_QUESTION_UNITS || [...question].length > MAX_QUESTION_CHARS) return undefined;
  return isTaskOfOpenWebUi(question) || question.includes("\0") ? undefined : question;
}

/** Compares in constant time. The hashes have the same length, whatever the texts have. */
function isEqual(/** @type {string} */ text, /** @type {string} */ other) {
  const hash = (/** @type {string} */ value) => createHash("sha256").update(value).digest();
  return timingSafeEqual(hash(text), hash(other));
}

async function readJson(/** @type {IncomingMessage} */ request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new AdapterError(413, "invalid_request_error", "payload_too_large", "The request is larger than 8 MiB.");
    }
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new AdapterError(400, "invalid_request_error", "invalid_request", "The body is not valid JSON.");
  }
}
