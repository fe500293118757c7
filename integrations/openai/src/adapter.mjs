import { createHash, timingSafeEqual } from "node:crypto";
import { embedQuestion, listSessions, readFor, streamChat } from "@evidence-chat/widget/client";
import { chunksOfEvents, completionOf } from "./completion.mjs";
import { AdapterError, asAdapterError, invalidRequest } from "./errors.mjs";
import { MODEL_NAME, parseQuestion } from "./question.mjs";

/** @import { IncomingMessage, RequestListener, ServerResponse } from "node:http" */
/** @import { PassageReader, TextEmbedder } from "@evidence-chat/widget/client" */

/** Bytes of a request. A long conversation fits; only its last two questions go to the Worker. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** How long a stream may be silent. Proxies close connections that are idle for a minute or less. */
const HEARTBEAT_INTERVAL_MS = 10_000;
/** The comment that says that a language model writes. */
const WRITING = ": writing\n\n";
/** Headers of the Worker that clients read. */
const PASSED_ON = [
  "cache-control",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "www-authenticate",
  "x-request-id",
];

/**
 * Answers `POST /v1/chat/completions` and `GET /v1/models`: it embeds the question, reads the passages that are found, asks the Worker,
 * and writes its events in the form of OpenAI's API.
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
  const endpoint = new URL("/api/chat", worker).href;

  /** The access token for the Worker. */
  async function tokenOf(/** @type {IncomingMessage} */ request) {
    const key = request.headers.authorization?.replace(/^Bearer /i, "");
    if (!account) {
      if (!key) throw new AdapterError(401, "unauthorized", "Send an access token as the API key.");
      return key;
    }
    if (!isEqual(key ?? "", apiKey ?? "")) {
      throw new AdapterError(401, "unauthorized", "This is not the API key of the adapter.");
    }
    return account.accessToken().catch((error) => {
      throw new AdapterError(503, "upstream_unavailable", error.message);
    });
  }

  /** The options for requests to the Worker as the client's user. */
  async function clientFor(/** @type {IncomingMessage} */ request, /** @type {ServerResponse} */ response) {
    const token = await tokenOf(request);
    return {
      endpoint,
      tokenProvider: async () => token,
      onTokenRejected() {
        const message = "This access token is not valid, or has expired. Please sign in again and send a new one.";
        throw new AdapterError(401, "unauthorized", message);
      },
      onResponse(/** @type {{ headers: Headers }} */ { headers }) {
        for (const name of PASSED_ON) if (headers.has(name)) response.setHeader(name, headers.get(name) ?? "");
      },
    };
  }

  /** Clients check their API key with this list, so the Worker is asked for something that needs a valid one. */
  async function listModels(
    /** @type {IncomingMessage} */ request,
    /** @type {ServerResponse} */ response,
    /** @type {AbortSignal} */ signal,
  ) {
    await listSessions({ limit: 1 }, await clientFor(request, response), signal);
    // OpenAI's libraries require the time, which there is not.
    const model = { id: MODEL_NAME, object: "model", created: 0, owned_by: MODEL_NAME };
    sendJson(response, 200, { object: "list", data: [model] });
  }

  async function complete(
    /** @type {IncomingMessage} */ request,
    /** @type {ServerResponse} */ response,
    /** @type {AbortSignal} */ signal,
  ) {
    const client = await clientFor(request, response);
    const parsed = parseQuestion(await readJson(request));
    const { question, questionBefore, messageId: message_id, model } = parsed;
    const { tokenProvider } = client;
    // Without the reports of responses: those of the search for the reader are not those of the question.
    const asked = { endpoint, tokenProvider, assistant: parsed.assistant };
    const { fields } = await embedQuestion(question, questionBefore, embedder, signal);
    const reading = reader && (await readFor(fields, reader, asked, signal));
    const events = streamChat({ ...fields, ...parsed.options, message_id, reading }, { ...client, ...asked }, signal);
    const created = Math.floor(Date.now() / 1000);
    const chunksOf = chunksOfEvents({ id: `chatcmpl-${message_id}`, created, model });
    if (parsed.isStreamed) return sendStream(response, events, chunksOf);
    const chunks = [];
    for await (const event of events) chunks.push(...chunksOf(event));
    sendJson(response, 200, completionOf(chunks));
  }

  async function answer(
    /** @type {IncomingMessage} */ request,
    /** @type {ServerResponse} */ response,
    /** @type {AbortSignal} */ signal,
  ) {
    switch (`${request.method} ${request.url?.split("?", 1)[0]}`) {
      case "GET /v1/models":
        return listModels(request, response, signal);
      case "POST /v1/chat/completions":
        return complete(request, response, signal);
      default:
        throw new AdapterError(404, "not_found", "There is nothing at this address.");
    }
  }

  return (request, response) => {
    const left = new AbortController();
    response.once("close", () => left.abort());
    answer(request, response, left.signal).catch((thrown) => {
      if (left.signal.aborted) return;
      const error = asAdapterError(thrown);
      if (response.headersSent) return response.end(frame(error.body));
      response.setHeader("x-should-retry", String(error.isRetryable));
      sendJson(response, error.status, error.body);
    });
  };
}

/**
 * Sends chunks as server-sent events. The response begins with the first event, so that an error before it has a status.
 * @param {ServerResponse} response
 * @param {ReturnType<typeof streamChat>} events
 * @param {ReturnType<typeof chunksOfEvents>} chunksOf
 */
async function sendStream(response, events, chunksOf) {
  // Some proxies buffer responses by default.
  response.setHeader("x-accel-buffering", "no");
  response.setHeader("content-type", "text/event-stream; charset=utf-8");
  const heartbeat = setInterval(() => response.headersSent && response.write(":\n\n"), HEARTBEAT_INTERVAL_MS);
  try {
    for await (const event of events) {
      const frames = event.type === "progress" ? [WRITING] : chunksOf(event).map(frame);
      response.write(frames.join(""));
    }
    response.end("data: [DONE]\n\n");
  } finally {
    clearInterval(heartbeat);
  }
}

function frame(/** @type {unknown} */ data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function sendJson(/** @type {ServerResponse} */ response, /** @type {number} */ status, /** @type {unknown} */ body) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
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
    if (bytes > MAX_BODY_BYTES) throw new AdapterError(413, "payload_too_large", "The request is larger than 8 MiB.");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw invalidRequest("The body is not valid JSON.");
  }
}
