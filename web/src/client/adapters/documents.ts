import type { Citation } from "../wire.js";

/** A document with its cited passages; all of them have its number. */
export interface CitedDocument {
  readonly id: string;
  readonly title: string;
  readonly url: string | undefined;
  readonly passages: readonly Citation[];
}

/** The documents of an answer in the order of their numbers: `[1]` points at the first one. */
export function citedDocuments(citations: readonly Citation[]): CitedDocument[] {
  const passagesOf = new Map<number, [Citation, ...Citation[]]>();
  for (const citation of citations) {
    const passages = passagesOf.get(citation.index);
    if (passages) passages.push(citation);
    else passagesOf.set(citation.index, [citation]);
  }
  return [...passagesOf]
    .sort(([a], [b]) => a - b)
    .map(([, passages]) => ({
      id: passages[0].document_id,
      title: passages[0].title,
      url: passages.find(({ url }) => url !== undefined)?.url,
      passages,
    }));
}

/** The first paragraph of a hedged answer. */
export const HEDGE = "These passages are about this, but may not answer it.\n\n";
