import { timingSafeEqual, createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { embedQuestion, readFor } from "@evidence-chat/widget/client";
import { isTaskOfOpenWebUi, lastUserMessage, questionOf } from "./question.mjs";

/** @import { IncomingMessage, RequestListener, ServerResponse } from "node:http" */
/** @import { PassageReader, TextEmbedder } from "@evidence-chat/widget/client" */

/** Bytes of a request. A long conversation fits; only its last two questions go to the Worker, which takes 64 KiB. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** The Worker takes no question of more than 4000 characters. UTF-16 has at most two units for a character. */
const MAX_QUESTION_UNITS = 8000;
/** Names an assistant in the name of a model. */
const ASSISTANT_PREFIX = "evidence-chat/";
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
 * the questions and reads the passages that are found; everything else is the Worker's.
 * @param {object} options
 * @param {string} options.worker its origin, such as https://chat.example.com
 * @param {TextEmbedder} options.embedder
 * @param {PassageReader} [options.reader] with its file loaded; without it, the search decides alone
 * @param {{ accessToken(): Promise<string> }} [options.account] asks instead of the client; then `apiKey` is needed
 * @param {string} [options.apiKey] what clients must send to ask with the account
 * @returns {RequestListener}
 */
export function createAdapter({ worker, embedder, reader, account, apiKey }) {
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

  /** The body for the Worker: the last question with its vector, the one before it with the vector of both, and the reading. */
  async function withEmbedding(
    /** @type {any} */ body,
    /** @type {string} */ token,
    /** @type {AbortSignal} */ signal,
  ) {
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
    const before = questionBefore(messages.slice(0, messages.lastIndexOf(last)));
    const { fields } = await embedQuestion(question, before, embedder);
    const { model } = rest;
    const assistant =
      typeof model === "string" && model.startsWith(ASSISTANT_PREFIX) && model.slice(ASSISTANT_PREFIX.length);
    const client = {
      endpoint: new URL("/api/chat", worker).href,
      tokenProvider: async () => token,
      ...(assistant && { assistant }),
    };
    const reading = reader && (await readFor(fields, reader, client, signal));
    const { message: _message, model: embedding_model, ...embedded } = fields;
    return { ...own, ...embedded, embedding_model, ...(reading && { reading }) };
  }

  /** Sends a request to the Worker and passes its response on. */
  async function forward(
    /** @type {IncomingMessage} */ request,
    /** @type {ServerResponse} */ response,
    /** @type {(token: string, signal: AbortSignal) => Promise<unknown>} */ bodyOf,
  ) {
    const left = new AbortController();
    response.once("close", () => left.abort());
    const header = await authorization(request);
    if (!header) {
      throw new AdapterError(401, "authentication_error", "unauthorized", "Send an access token as the API key.");
    }
    const body = await bodyOf(header.replace(/^Bearer /i, ""), left.signal);
    const { pathname } = new URL(request.url ?? "", worker);
    const answer = await fetch(new URL(pathname, worker), {
      method: request.method,
      headers: {
        authorization: header,
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
        return forward(request, response, async (token, signal) =>
          withEmbedding(await readJson(request), token, signal),
        );
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

/** The last question of these messages, if it is one. */
function questionBefore(/** @type {unknown} */ messages) {
  const question = questionOf(messages);
  return question && !isTaskOfOpenWebUi(question) ? question : undefined;
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
