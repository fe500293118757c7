import type { Citation, Quote, Support } from "../../client/wire.js";
import { shownWords } from "./quotes.js";

/** The target of a marker: a passage, and the words in it that the marker is about. */
export interface Target {
  readonly citation: Citation;
  /** The quote before the marker. */
  readonly quote?: Quote;
  /** In a generated answer: the words from which the sentence before the marker follows. */
  readonly supports?: readonly Support[];
  /** Other passages of the document that support the sentence. */
  readonly others?: readonly Target[];
}

/**
 * The target of a marker, or `undefined` if no source has that number. All passages of a document have one number; the
 * words before the marker tell which one is meant. Of several quotes it is the last.
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

/** The end of the last occurrence of words in a text; 0 if it does not contain them. */
function endOf(words: string, text: string): number {
  const start = words === "" ? -1 : text.lastIndexOf(words);
  return start < 0 ? 0 : start + words.length;
}
