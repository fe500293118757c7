/** One server-sent event. */
export interface SseEvent {
  /** The event's name; "message" if the stream gave none. */
  readonly name: string;
  readonly data: string;
}

/** In UTF-16 code units. The largest event, the sources of an answer, is far smaller. */
const MAX_EVENT_LENGTH = 1024 * 1024;

/**
 * An incremental parser for `text/event-stream` that takes decoded text in pieces of any size. It ignores `id` and
 * `retry`, because a question is never resumed by reconnecting.
 *
 * The package eventsource-parser does the same, but is 1.4 KB larger (brotli): too much for the panel's limit of 60 KB.
 */
export class SseParser {
  readonly #onEvent: (event: SseEvent) => void;
  readonly #limit: number;
  /** The unfinished line in pieces; joining them once per line takes linear time. */
  #line: string[] = [];
  #data: string[] = [];
  #name = "";
  #size = 0;
  /** The last piece ended in CR, so a LF at the start of the next piece belongs to the same line end. */
  #afterCarriageReturn = false;

  constructor(onEvent: (event: SseEvent) => void, limit: number = MAX_EVENT_LENGTH) {
    this.#onEvent = onEvent;
    this.#limit = limit;
  }

  /** Parses the next piece of the stream; throws `RangeError` for an event above the limit. */
  push(piece: string): void {
    let from = this.#afterCarriageReturn && piece.startsWith("\n") ? 1 : 0;
    if (piece.length > 0) this.#afterCarriageReturn = false;
    const lineEnd = /\r\n|\r|\n/g;
    lineEnd.lastIndex = from;
    for (let match = lineEnd.exec(piece); match; match = lineEnd.exec(piece)) {
      this.#append(piece.slice(from, match.index));
      this.#endLine();
      from = lineEnd.lastIndex;
      this.#afterCarriageReturn = match[0] === "\r" && from === piece.length;
    }
    this.#append(piece.slice(from));
  }

  #append(text: string): void {
    if (text === "") return;
    this.#size += text.length;
    if (this.#size > this.#limit) throw new RangeError(`A server-sent event exceeds ${this.#limit} characters.`);
    this.#line.push(text);
  }

  #endLine(): void {
    const line = this.#line.join("");
    this.#line = [];
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) {
      // A comment, for instance a heartbeat, does not count as part of the event.
      this.#size -= line.length;
      return;
    }
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data.push(value);
    if (field === "event") this.#name = value;
  }

  #dispatch(): void {
    const event = { name: this.#name || "message", data: this.#data.join("\n") };
    const hasData = this.#data.length > 0;
    this.#data = [];
    this.#name = "";
    this.#size = 0;
    if (hasData) this.#onEvent(event);
  }
}
