import type { Citation, Quote } from "../../client/wire.js";
import { wordsOf } from "./quotes.js";

/** What a marker stands for: a passage, and the words of it that stand before the marker. */
export interface Target {
  readonly citation: Citation;
  readonly quote?: Quote;
}

/**
 * What a marker stands for, or `undefined` if there is no source of that number. A document has one number for all of its
 * passages; the words before the marker tell which of them is meant.
 */
export function targetOf(citations: readonly Citation[], index: number, wordsBefore: string): Target | undefined {
  const numbered = citations.filter((citation) => citation.index === index);
  for (const citation of numbered) {
    const quote = citation.quotes.find((each) => wordsBefore.includes(wordsOf(each)));
    if (quote) return { citation, quote };
  }
  const [citation] = numbered;
  const quote = citation?.quotes[0];
  return citation && (quote ? { citation, quote } : { citation });
}
