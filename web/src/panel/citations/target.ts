import type { Citation, Quote, Support } from "../../client/wire.js";
import { findStatement } from "./pieces.js";

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
