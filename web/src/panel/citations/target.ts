import type { Citation, Quote } from "../../client/wire.js";
import { wordsOf } from "./quotes.js";

/** What a marker stands for: a passage, and the words of it that stand before the marker. */
export interface Target {
  readonly citation: Citation;
  readonly quote?: Quote;
}

/**
 * What a marker stands for, or `undefined` if there is no source of that number. A document has one number for all of its
 * passages; the words before the marker tell which of them is meant, and of several quotes the last one is: before it stands
 * the line that introduces its list.
 */
export function targetOf(citations: readonly Citation[], index: number, wordsBefore: string): Target | undefined {
  const numbered = citations.filter((citation) => citation.index === index);
  const said = numbered
    .flatMap((citation) =>
      citation.quotes.map((quote) => ({ citation, quote, end: endOf(wordsOf(quote), wordsBefore) })),
    )
    .filter(({ end }) => end > 0);
  const [last] = said.sort((a, b) => b.end - a.end || wordsOf(b.quote).length - wordsOf(a.quote).length);
  if (last) return { citation: last.citation, quote: last.quote };
  const [citation] = numbered;
  const quote = citation?.quotes[0];
  return citation && (quote ? { citation, quote } : { citation });
}

/** Where words end in a text for the last time; 0 where they do not stand in it. */
function endOf(words: string, text: string): number {
  const start = words === "" ? -1 : text.lastIndexOf(words);
  return start < 0 ? 0 : start + words.length;
}
