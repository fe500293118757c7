import type { Citation, Quote } from "../../client/wire.js";
import { withoutBidiControls } from "../../client/text.js";
import { merged, type Range } from "./passage/tree.js";

/** Whether a passage has words at their place. */
export function hasWords(
  { excerpt }: Pick<Citation, "excerpt">,
  { start, end, text }: Pick<Quote, "start" | "end" | "text">,
): boolean {
  return text.trim() !== "" && excerpt.slice(start, end) === text;
}

/**
 * The ranges of the words that a citation is about, sorted and merged: its quotes, or the words that support a generated
 * answer. Words that the passage does not have at their place are left out.
 */
export function citedRanges(citation: Citation): readonly Range[] {
  const { quotes, supports = [] } = citation;
  return merged([...quotes, ...supports].filter((words) => hasWords(citation, words)));
}

/** Merges the cited ranges that only white space separates. */
export function citedSpans(citation: Citation): readonly Range[] {
  const { excerpt } = citation;
  return merged(
    citedRanges(citation).map(({ start, end }) => ({
      start,
      end: end + (/^\s*/.exec(excerpt.slice(end))?.[0].length ?? 0),
    })),
  );
}

/** The words of a quote with all that gives them their meaning, for where it is not shown after other quotes. */
export function wholeWords({ whole, plain, text }: Quote): string {
  return withoutBidiControls(whole ?? plain ?? text);
}

/** The words of a quote as the answer shows them. */
export function shownWords({ plain, text }: Quote): string {
  return withoutBidiControls(plain ?? text);
}
