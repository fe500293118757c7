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
  readonly #onEvent: (event: SseEvent) => void;
  readonly #limit: number;
  #name = "";
  #data: string[] = [];
  /** The line that has no end yet. */
  #line = "";
  /** Length of the lines since the last event, without comments. */
  #length = 0;
  #endsWithCr = false;

  constructor(onEvent: (event: SseEvent) => void, limit: number = MAX_EVENT_LENGTH) {
    this.#onEvent = onEvent;
    this.#limit = limit;
  }

  /** Parses the next piece of the stream; throws `RangeError` for an event above the limit. */
  push(piece: string): void {
    if (piece === "") return;
    // CR and LF of one line end may arrive apart.
    const [first = "", ...others] = piece.slice(this.#endsWithCr && piece[0] === "\n" ? 1 : 0).split(/\r\n?|\n/);
    this.#endsWithCr = piece.endsWith("\r");
    this.#line += first;
    for (const line of others) {
      this.#read(this.#line);
      this.#line = line;
    }
    this.#check(this.#line);
  }

  #read(line: string): void {
    this.#check(line);
    const [, field, value = ""] = /^([^:]*):? ?(.*)/s.exec(line) ?? [];
    // A comment, for instance a heartbeat, does not count as part of an event.
    if (field !== "") this.#length += line.length;
    if (field === "event") this.#name = value;
    if (field === "data") this.#data.push(value);
    if (line !== "") return;
    if (this.#data.length > 0) this.#onEvent({ name: this.#name || "message", data: this.#data.join("\n") });
    this.#name = "";
    this.#data = [];
    this.#length = 0;
  }

  #check(line: string): void {
    if (this.#length + line.length > this.#limit)
      throw new RangeError(`A server-sent event exceeds ${this.#limit} characters.`);
  }
}
