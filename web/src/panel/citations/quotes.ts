import type { Citation, Quote } from "../../client/wire.js";
import { withoutBidiControls } from "../../dom/bidi.js";
import { merged, type Range } from "./passage/tree.js";

/**
 * Where a quote stands in a passage, or `undefined` if it does not. Offsets refer to the whole chunk, of which the
 * excerpt may be a part, so they are used only where the quote's words really stand there; otherwise the words are
 * looked up.
 */
export function locateQuote(excerpt: string, { start, end, text }: Quote): Range | undefined {
  if (text.trim() === "") return undefined;
  if (excerpt.slice(start, end) === text) return { start, end };
  const found = excerpt.indexOf(text);
  return found < 0 ? undefined : { start: found, end: found + text.length };
}

/** The quotes that stand in their passage, as ranges of it, in order and apart. */
export function quotedRanges({ excerpt, quotes }: Citation): readonly Range[] {
  return merged(quotes.flatMap((quote) => locateQuote(excerpt, quote) ?? []));
}

/** The words of a quote as the answer shows them. */
export function wordsOf({ plain, text }: Quote): string {
  return withoutBidiControls(plain ?? text);
}
