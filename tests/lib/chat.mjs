// Requests to POST /api/chat as a client would make them, with real vectors. Every response is checked against
// docs/openapi.yaml.
import { assertDescribed } from "../../edge-chat/tests/support/openapi.mjs";
import { embedOne, loadEmbedder } from "./embedder.mjs";

/** A valid request body for a question. */
export async function chatRequest(message) {
  const { embedder, fingerprint } = await loadEmbedder();
  const { vector } = embedOne(embedder, message);
  return { message, embedding: [...vector], message_id: crypto.randomUUID(), model: fingerprint };
}

/** Posts a body (an object as JSON, or text unchanged) and returns status, headers and, for a stream, its events. */
export async function post(chatUrl, token, body, headers = {}) {
  const response = await fetch(chatUrl, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const { status, headers: responseHeaders } = response;
  assertDescribed({ method: "POST", path: new URL(chatUrl).pathname, status, headers: responseHeaders, text });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  return {
    status: response.status,
    headers: response.headers,
    events: isStream ? parseEvents(text) : [],
    json: isStream ? undefined : JSON.parse(text),
  };
}

/** Asks a question and returns the response, like `post`. */
export async function ask(chatUrl, token, message) {
  return post(chatUrl, token, await chatRequest(message));
}

/** A deliberately simple parser of complete event streams, independent of the widget's parser. */
function parseEvents(text) {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event:"))
    .map((block) => {
      const [event, data] = block.split("\n");
      return { event: event.slice("event:".length).trim(), data: JSON.parse(data.slice("data:".length)) };
    });
}

/** The text of all answer_delta events. */
export function answerText(events) {
  return events
    .filter(({ event }) => event === "answer_delta")
    .map(({ data }) => data.text)
    .join("");
}

/** The data of the one event of that name. */
export function only(events, name) {
  const found = events.filter(({ event }) => event === name);
  if (found.length !== 1) throw new Error(`${found.length} ${name} events in ${JSON.stringify(events)}`);
  return found[0].data;
}
