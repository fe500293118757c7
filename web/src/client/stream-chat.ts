import { decodeEvent } from "./decode.js";
import { connectionLost, invalidResponse } from "./errors.js";
import { optional } from "./json.js";
import { type ChatClientOptions, idleTimeout, send, withTimeout } from "./request.js";
import { type SseEvent, SseParser } from "./sse.js";
import type { ChatEvent, ChatRequest } from "./wire.js";

/**
 * Sends a question and yields the events of its outcome. The last one is `answer_end` or `refusal`. An abort throws the
 * signal's reason; every other failure throws a `ChatError`.
 */
export async function* streamChat(
  request: ChatRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): AsyncGenerator<ChatEvent, void, undefined> {
  // Firefox closes the connection of an unread body only if its request is aborted.
  const connection = new AbortController();
  const abort = () => connection.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { signal: connection.signal });
  try {
    const body = { ...request, ...optional("assistant", options.assistant) };
    const question = { url: options.endpoint, method: "POST", accept: "text/event-stream", body } as const;
    const response = await send(question, options, connection.signal);
    if (!response.body || !isEventStream(response)) throw invalidResponse(response.status);

    for await (const raw of readEvents(response.body, idleTimeout(options))) {
      const event = decodeEvent(raw);
      if (event) yield event;
      if (event?.type === "answer_end" || event?.type === "refusal") return;
    }
    throw connectionLost();
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown;
  } finally {
    connection.abort();
  }
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}

/**
 * Yields the server-sent events of a response body until the body ends. Throws `connection_lost` if a read fails or if
 * nothing, not even a heartbeat, arrives for `idleTimeoutMs`, and `invalid_response` for an event above the size limit.
 * Leaving the loop early closes the connection.
 */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  idleTimeoutMs: number,
): AsyncGenerator<SseEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let events: SseEvent[] = [];
  const parser = new SseParser((event) => events.push(event));
  try {
    for (;;) {
      const { done, value } = await withTimeout(idleTimeoutMs, reader.read());
      if (done) return;
      parser.push(decoder.decode(value, { stream: true }));
      yield* events;
      events = [];
    }
  } catch (thrown) {
    throw thrown instanceof RangeError ? invalidResponse() : connectionLost(thrown);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
