import type { Citation, Quote } from "../../client/wire.js";
import { shownWords } from "./quotes.js";

/** The target of a marker: a passage, and its quote before the marker. */
export interface Target {
  readonly citation: Citation;
  readonly quote?: Quote;
}

/**
 * The target of a marker, or `undefined` if no source has that number. All passages of a document have one number; the
 * words before the marker tell which one is meant. Of several quotes it is the last: the line that introduces a list
 * comes before it.
 */
export function targetOf(citations: readonly Citation[], index: number, wordsBefore: string): Target | undefined {
  const numbered = citations.filter((citation) => citation.index === index);
  const said = numbered
    .flatMap((citation) =>
      citation.quotes.map((quote) => ({ citation, quote, end: endOf(shownWords(quote), wordsBefore) })),
    )
    .filter(({ end }) => end > 0);
  const [last] = said.sort((a, b) => b.end - a.end || shownWords(b.quote).length - shownWords(a.quote).length);
  if (last) return { citation: last.citation, quote: last.quote };
  const [citation] = numbered;
  const quote = citation?.quotes[0];
  return citation && (quote ? { citation, quote } : { citation });
}

/** The end of the last occurrence of words in a text; 0 if it does not contain them. */
function endOf(words: string, text: string): number {
  const start = words === "" ? -1 : text.lastIndexOf(words);
  return start < 0 ? 0 : start + words.length;
}
