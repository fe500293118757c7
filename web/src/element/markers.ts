/** A piece of an answer: plain text, or a marker that points at the source with that number. */
export type AnswerPiece =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "marker"; readonly index: number };

/** An escaped marker (first group), which the server writes for a `[7]` of the source itself, or a marker (second). */
const MARKER = /\\\[(\d+)\\\]|\[(\d{1,3})\]/g;
const UNFINISHED_MARKER = /\\(\[\d*\\?)?$|\[\d{0,3}$/;

/**
 * Splits streamed answer text at its `[n]` markers and turns `\[n\]`, words of the source that look like one, back into
 * text. What may still become either is held back until the next piece decides, so that half of it is never shown.
 */
export class MarkerParser {
  #held = "";

  push(text: string): AnswerPiece[] {
    const all = this.#held + text;
    const settled = all.slice(0, all.length - (UNFINISHED_MARKER.exec(all)?.[0].length ?? 0));
    this.#held = all.slice(settled.length);

    const pieces: AnswerPiece[] = [];
    let words = "";
    let from = 0;
    for (const match of settled.matchAll(MARKER)) {
      const [whole, escaped, index] = match;
      words += settled.slice(from, match.index) + (escaped === undefined ? "" : `[${escaped}]`);
      from = match.index + whole.length;
      if (index === undefined) continue;
      if (words !== "") pieces.push({ kind: "text", text: words });
      pieces.push({ kind: "marker", index: Number(index) });
      words = "";
    }
    words += settled.slice(from);
    if (words !== "") pieces.push({ kind: "text", text: words });
    return pieces;
  }

  /** The end of the answer: what was held back is text after all. */
  finish(): AnswerPiece[] {
    const text = this.#held;
    this.#held = "";
    return text === "" ? [] : [{ kind: "text", text }];
  }
}
