import { connectionLost, invalidResponse } from "./errors.js";
import { type SseEvent, SseParser } from "./sse.js";
import { within } from "./within.js";

/**
 * The server-sent events of a response body, until it ends. A read that fails, or that brings nothing, not even a
 * heartbeat, for `idleTimeoutMs`, throws `connection_lost`; an event beyond all size throws `invalid_response`. Leaving
 * the loop early closes the connection.
 */
export async function* eventStream(
  body: ReadableStream<Uint8Array>,
  idleTimeoutMs: number,
): AsyncGenerator<SseEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let events: SseEvent[] = [];
  const parser = new SseParser((event) => events.push(event));
  try {
    for (;;) {
      const { done, value } = await within(idleTimeoutMs, reader.read());
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
