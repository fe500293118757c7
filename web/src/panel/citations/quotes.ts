import type { Citation, Quote } from "../../client/wire.js";
import { withoutBidiControls } from "../../dom/bidi.js";
import { merged, type Range } from "./passage/tree.js";

/** Words of a passage, with their place in it. */
export type Words = Pick<Quote, "start" | "end" | "text">;

/**
 * The place of words in a passage, or `undefined` if the passage does not contain it. The offsets refer to the whole
 * chunk, and the excerpt may be a part of it, so they are used only if the words are there; otherwise the words
 * are searched.
 */
export function locateQuote(excerpt: string, { start, end, text }: Words): Range | undefined {
  if (text.trim() === "") return undefined;
  if (excerpt.slice(start, end) === text) return { start, end };
  const found = excerpt.indexOf(text);
  return found < 0 ? undefined : { start: found, end: found + text.length };
}

/**
 * The ranges of the words that a citation is about, sorted and merged: its quotes, or the words that support a generated
 * answer. Words that the passage does not contain are left out.
 */
export function citedRanges({ excerpt, quotes, supports = [] }: Citation): readonly Range[] {
  return merged([...quotes, ...supports].flatMap((words) => locateQuote(excerpt, words) ?? []));
}

/** The same ranges, with those merged that only white space separates. */
export function citedSpans(citation: Citation): readonly Range[] {
  const { excerpt } = citation;
  return merged(
    citedRanges(citation).map(({ start, end }) => ({
      start,
      end: end + (/^\s*/.exec(excerpt.slice(end))?.[0].length ?? 0),
    })),
  );
}

/** The words of a quote as the answer shows them. */
export function shownWords({ plain, text }: Quote): string {
  return withoutBidiControls(plain ?? text);
}
