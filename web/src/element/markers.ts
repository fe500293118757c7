/** A piece of an answer: plain text, or a marker that points at the source with that number. */
export type AnswerPiece =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "marker"; readonly index: number };

const MARKER = /\[(\d{1,3})\]/g;
const UNFINISHED_MARKER = /\[\d{0,3}$/;

/**
 * Splits streamed answer text at its `[n]` markers. What may still become a marker is held back until the next piece
 * decides, so that half a marker is never shown as text.
 */
export class MarkerParser {
  #held = "";

  push(text: string): AnswerPiece[] {
    const all = this.#held + text;
    const settled = all.slice(0, all.length - (UNFINISHED_MARKER.exec(all)?.[0].length ?? 0));
    this.#held = all.slice(settled.length);

    const pieces: AnswerPiece[] = [];
    let from = 0;
    for (const match of settled.matchAll(MARKER)) {
      if (match.index > from) pieces.push({ kind: "text", text: settled.slice(from, match.index) });
      pieces.push({ kind: "marker", index: Number(match[1]) });
      from = match.index + match[0].length;
    }
    if (from < settled.length) pieces.push({ kind: "text", text: settled.slice(from) });
    return pieces;
  }

  /** The end of the answer: what was held back is text after all. */
  finish(): AnswerPiece[] {
    const text = this.#held;
    this.#held = "";
    return text === "" ? [] : [{ kind: "text", text }];
  }
}
