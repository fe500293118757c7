import type { Citation, Quote, Support } from "../../client/wire.js";
import { findStatement } from "./pieces.js";

/** A piece of an answer: text, or a marker that points at the source with that number. */
export type AnswerPiece =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "marker"; readonly index: number };

/** An escaped marker, which the server writes for a `[7]` in the source's own text, or a marker. */
const MARKER = /\\\[(\d{1,200})\\\]|\[(\d{1,3})\]/g;
/** The beginning of a marker, at the end of a text. */
const UNFINISHED = /(?:\\(?:\[\d{0,200}\\?)?|\[\d{0,3})?$/;

/**
 * Splits streamed answer text at its `[n]` markers and unescapes `\[n\]`, text of the source that looks like a marker. Half a marker is
 * held back until the next piece completes it, so that it is never shown.
 */
export class MarkerParser {
  #held = "";

  push(text: string): AnswerPiece[] {
    return this.#parse(text, false);
  }

  /** Ends the answer: held-back text is what it looks like. */
  finish(): AnswerPiece[] {
    return this.#parse("", true);
  }

  #parse(text: string, isEnd: boolean): AnswerPiece[] {
    const all = this.#held + text;
    const pieces: AnswerPiece[] = [];
    const addText = (text: string): void => {
      if (text !== "") pieces.push({ kind: "text", text });
    };
    let at = 0;
    for (const {
      0: { length },
      1: escaped,
      2: index,
      index: start,
    } of all.matchAll(MARKER)) {
      addText(all.slice(at, start) + (escaped === undefined ? "" : `[${escaped}]`));
      if (index !== undefined) pieces.push({ kind: "marker", index: Number(index) });
      at = start + length;
    }
    const rest = all.slice(at);
    const end = isEnd ? rest.length : rest.search(UNFINISHED);
    addText(rest.slice(0, end));
    this.#held = rest.slice(end);
    return pieces;
  }
}

/** The sentences of a generated answer, which all end with markers. */
export function sentencesOf(text: string): string[] {
  return text.match(/[^]*?(?: \[\d{1,3}\])+(?=\s|$)|[^]+$/g) ?? [];
}

/** The target of a marker: a passage, and the words in it that the marker is about. */
export interface Target {
  readonly citation: Citation;
  /** The quote that the words before the marker consist of. */
  readonly quote?: Quote;
  /** In a generated answer: the words from which the sentence before the marker follows. */
  readonly supports?: readonly Support[];
  /** Other passages of the document that support the sentence. */
  readonly others?: readonly Target[];
}

/**
 * The target of a marker, or `undefined` if no source has that number. All passages of a document have one number; the
 * words before the marker tell which one is meant. A sentence that is no quote gets a passage without one: its card must not say
 * that other words are verified.
 */
export function targetOf(citations: readonly Citation[], index: number, wordsBefore: string): Target | undefined {
  const numbered = citations.filter((citation) => citation.index === index);
  for (const citation of numbered) {
    const quote = citation.quotes.find(({ pieces }) => findStatement(`${wordsBefore}[1]`, pieces, citation));
    if (quote) return { citation, quote };
  }
  const [citation] = numbered;
  return citation && { citation };
}

/**
 * The target of a marker in a generated answer, or `undefined` if no source has that number; `sentence` is the position
 * of the sentence before the marker.
 */
export function supportedTarget(citations: readonly Citation[], index: number, sentence: number): Target | undefined {
  const numbered = citations.filter((citation) => citation.index === index);
  const [first, ...others] = numbered.flatMap((citation): Target[] => {
    const supports = citation.supports?.filter((support) => support.sentence === sentence) ?? [];
    return supports.length > 0 ? [{ citation, supports }] : [];
  });
  if (first) return { ...first, others };
  const [citation] = numbered;
  return citation && { citation };
}

/** A citation whose words are only those of a target. */
export function narrowed({ citation, quote, supports = [] }: Target): Citation {
  return { ...citation, quotes: quote ? [quote] : [], supports };
}
