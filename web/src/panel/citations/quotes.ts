import type { Citation, Quote } from "../../client/wire.js";
import { withoutBidiControls } from "../../dom/bidi.js";
import { merged, type Range } from "./passage/tree.js";

/**
 * The place of a quote in a passage, or `undefined` if the passage does not contain it. The offsets refer to the whole
 * chunk, and the excerpt may be a part of it, so they are used only if the quote's words are there; otherwise the words
 * are searched.
 */
export function locateQuote(excerpt: string, { start, end, text }: Quote): Range | undefined {
  if (text.trim() === "") return undefined;
  if (excerpt.slice(start, end) === text) return { start, end };
  const found = excerpt.indexOf(text);
  return found < 0 ? undefined : { start: found, end: found + text.length };
}

/** The ranges of the quotes that their passage contains, sorted and merged. */
export function quotedRanges({ excerpt, quotes }: Citation): readonly Range[] {
  return merged(quotes.flatMap((quote) => locateQuote(excerpt, quote) ?? []));
}

/** The words of a quote as the answer shows them. */
export function shownWords({ plain, text }: Quote): string {
  return withoutBidiControls(plain ?? text);
}
