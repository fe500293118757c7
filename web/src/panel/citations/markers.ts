/** A piece of an answer: text, code, or a marker that points at the source with that number. */
export type AnswerPiece =
  { readonly kind: "text" | "code"; readonly text: string } | { readonly kind: "marker"; readonly index: number };

/** An escaped marker, which the server writes for a `[7]` in the source's own text. */
const ESCAPED = /\\\[(\d{1,200})\\\]/y;
const UNFINISHED_ESCAPE = /^\\(\[\d{0,200}\\?)?$/;
const MARKER = /\[(\d{1,3})\]/y;
const UNFINISHED_MARKER = /^\[\d{0,3}$/;
const BACKTICKS = /`+/y;
/** A character that may start a marker, an escape or code. */
const SPECIAL = /[\\[`]/g;

/** Maximum number of characters held back until a backtick is closed. Longer code is not a code span. */
const MAX_HELD = 200;
/** A whole cited sentence. Backticks around it are not a pair: each belongs to another sentence. */
const CITED_SENTENCE = /[.!?…。！？]["'”’)\]]* \[\d{1,3}\]/;

/**
 * Splits streamed answer text at its `[n]` markers and unescapes `\[n\]`, text of the source that looks like a marker.
 * Code, between backticks or fences, has no markers. Text that may still become something else is held back until the
 * next piece decides, at most the rest of a line or 200 characters, so that half a marker is never shown.
 */
export class MarkerParser {
  #held = "";
  /** The first characters of the current line, which decide whether a fence may begin. */
  #line = "";
  /** Number of backticks of the open fence; 0 outside a fence. */
  #fence = 0;

  push(text: string): AnswerPiece[] {
    return this.#parse(text, false);
  }

  /** Ends the answer: held-back text is what it looks like. */
  finish(): AnswerPiece[] {
    return this.#parse("", true);
  }

  #parse(text: string, isEnd: boolean): AnswerPiece[] {
    const all = this.#held + text;
    const pieces = new Pieces();
    let at = 0;
    while (at < all.length) {
      const length = this.#fence > 0 ? this.#fenced(all, at, isEnd, pieces) : this.#plain(all, at, isEnd, pieces);
      if (length === 0) break;
      this.#seen(all.slice(at, at + length));
      at += length;
    }
    this.#held = all.slice(at);
    return pieces.list;
  }

  /** Parses one step outside a fence. Gives the number of parsed characters; 0 if more text is needed. */
  #plain(all: string, at: number, isEnd: boolean, pieces: Pieces): number {
    switch (all[at]) {
      case "\\":
        return escaped(all, at, isEnd, pieces);
      case "[":
        return marker(all, at, isEnd, pieces);
      case "`":
        return this.#backticks(all, at, isEnd, pieces);
      default: {
        SPECIAL.lastIndex = at;
        const words = all.slice(at, SPECIAL.exec(all)?.index);
        pieces.add("text", words);
        return words.length;
      }
    }
  }

  /** Looks at {@link MAX_HELD} characters at most, so the result does not depend on how the text is cut. */
  #backticks(all: string, at: number, isEnd: boolean, pieces: Pieces): number {
    const newline = all.indexOf("\n", at);
    const line = all.slice(at, newline < 0 ? undefined : newline).slice(0, MAX_HELD);
    const isWhole = line.length < MAX_HELD && (newline >= 0 || isEnd);
    const isOpen = line.length < MAX_HELD && !isWhole;
    const run = matchAt(BACKTICKS, line, 0)?.[0] ?? "";
    const mayBeFence = run.length >= 3 && /^ {0,3}$/.test(this.#line) && !line.includes("`", run.length);
    if (mayBeFence && isWhole) {
      this.#fence = run.length;
      pieces.add("code", line);
      return line.length;
    }
    const close = closingRun(line, run.length);
    const isClosed = close !== undefined && (close < line.length || isWhole);
    if (isOpen && !isClosed) return 0;
    const taken = isClosed && !CITED_SENTENCE.test(line.slice(0, close)) ? line.slice(0, close) : undefined;
    if (taken === undefined) pieces.add("text", run);
    else pieces.add("code", unescaped(taken));
    return (taken ?? run).length;
  }

  /** Parses the rest of a line of fenced code. */
  #fenced(all: string, at: number, isEnd: boolean, pieces: Pieces): number {
    const newline = all.indexOf("\n", at);
    const isWhole = newline >= 0 || isEnd;
    const line = all.slice(at, newline >= 0 ? newline : all.length);
    const mayClose = this.#line === "" && /^ {0,3}`*[ \t]*$/.test(line) && line.length <= MAX_HELD;
    if (mayClose && !isWhole) return 0;
    if (mayClose && line.trim().length >= this.#fence) {
      this.#fence = 0;
      pieces.add("code", line);
      return line.length;
    }
    const code = isWhole && newline >= 0 ? `${line}\n` : line;
    // A piece may end inside an escape.
    const held = isWhole ? 0 : (/\\(\[\d{0,200}\\?)?$/.exec(code)?.[0].length ?? 0);
    const settled = code.slice(0, code.length - held);
    pieces.add("code", unescaped(settled));
    return settled.length;
  }

  #seen(text: string): void {
    const newline = text.lastIndexOf("\n");
    this.#line = (newline < 0 ? this.#line + text : text.slice(newline + 1)).slice(0, 4);
  }
}

/** The sentences of a generated answer, which all end with markers. */
export function sentencesOf(text: string): string[] {
  return text.match(/[^]*?(?: \[\d{1,3}\])+(?=\s|$)|[^]+$/g) ?? [];
}

/** Pieces in order; adjacent pieces of one kind are merged. */
class Pieces {
  readonly list: AnswerPiece[] = [];

  add(kind: "text" | "code", text: string): void {
    const last = this.list.at(-1);
    if (text === "") return;
    if (last?.kind === kind) this.list[this.list.length - 1] = { kind, text: last.text + text };
    else this.list.push({ kind, text });
  }

  addMarker(index: number): void {
    this.list.push({ kind: "marker", index });
  }
}

function escaped(all: string, at: number, isEnd: boolean, pieces: Pieces): number {
  const match = matchAt(ESCAPED, all, at);
  if (!match && !isEnd && UNFINISHED_ESCAPE.test(all.slice(at, at + MAX_HELD + 4))) return 0;
  pieces.add("text", match ? `[${match[1]}]` : "\\");
  return match ? match[0].length : 1;
}

function marker(all: string, at: number, isEnd: boolean, pieces: Pieces): number {
  const match = matchAt(MARKER, all, at);
  if (match) {
    pieces.addMarker(Number(match[1]));
    return match[0].length;
  }
  if (!isEnd && UNFINISHED_MARKER.test(all.slice(at, at + 5))) return 0;
  pieces.add("text", "[");
  return 1;
}

/** The end of the next run of exactly `length` backticks, if any. */
function closingRun(line: string, length: number): number | undefined {
  for (let at = line.indexOf("`", length); at >= 0; at = line.indexOf("`", at)) {
    const run = matchAt(BACKTICKS, line, at)?.[0].length ?? 0;
    at += run;
    if (run === length) return at;
  }
  return undefined;
}

function unescaped(code: string): string {
  return code.replace(/\\\[(\d{1,200})\\\]/g, "[$1]");
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
