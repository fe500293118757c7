/** One server-sent event. */
export interface SseEvent {
  /** The event's name; "message" if the stream gave none. */
  readonly name: string;
  readonly data: string;
}

/** An event larger than this is not ours: the whole of an answer with its sources is far smaller. */
const MAX_EVENT_CHARACTERS = 1024 * 1024;

/**
 * An incremental parser for `text/event-stream`: feed it decoded text in pieces of any size.
 *
 * `id` and `retry` fields are ignored, because a question is never resumed by reconnecting.
 */
export class SseParser {
  readonly #onEvent: (event: SseEvent) => void;
  readonly #limit: number;
  /** The unfinished line, in pieces: joining once per line keeps many tiny pieces linear. */
  #line: string[] = [];
  #data: string[] = [];
  #name = "";
  #size = 0;
  /** The last piece ended in CR; a LF that follows belongs to it. */
  #afterCarriageReturn = false;

  constructor(onEvent: (event: SseEvent) => void, limit: number = MAX_EVENT_CHARACTERS) {
    this.#onEvent = onEvent;
    this.#limit = limit;
  }

  /** Takes the next piece of the stream; throws `RangeError` when an event grows beyond the limit. */
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
      // A comment (heartbeats are): it takes no room in the event.
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
