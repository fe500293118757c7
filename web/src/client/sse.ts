import { createParser, type EventSourceParser } from "eventsource-parser";

/** One server-sent event. */
export interface SseEvent {
  /** The event's name; "message" if the stream gave none. */
  readonly name: string;
  readonly data: string;
}

/** In UTF-16 code units. The largest event, the sources of an answer, is far smaller. */
const MAX_EVENT_LENGTH = 2 * 1024 * 1024;

/**
 * Parses `text/event-stream` from decoded text in pieces of any size, and bounds what a stream may send for one event. `id` and
 * `retry` are ignored, because a question is never resumed by reconnecting.
 */
export class SseParser {
  readonly #parser: EventSourceParser;
  readonly #limit: number;
  /** Length of the pieces since the last event or comment. The package does not count lines with unknown fields. */
  #unfinished = 0;

  constructor(onEvent: (event: SseEvent) => void, limit: number = MAX_EVENT_LENGTH) {
    this.#limit = limit;
    this.#parser = createParser({
      maxBufferSize: limit,
      onEvent: ({ event = "message", data }) => {
        this.#unfinished = 0;
        onEvent({ name: event, data });
      },
      // A comment, for instance a heartbeat, does not count as part of an event.
      onComment: () => (this.#unfinished = 0),
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") this.#reject();
      },
    });
  }

  /** Parses the next piece of the stream; throws `RangeError` for an event above the limit. */
  push(piece: string): void {
    this.#unfinished += piece.length;
    this.#parser.feed(piece);
    if (this.#unfinished > this.#limit) this.#reject();
  }

  #reject(): never {
    throw new RangeError(`A server-sent event exceeds ${this.#limit} characters.`);
  }
}
