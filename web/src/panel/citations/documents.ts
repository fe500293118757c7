import type { Citation } from "../../client/wire.js";

/** The passages of each document, documents by their number. */
export function byDocument(citations: readonly Citation[]): readonly (readonly Citation[])[] {
  const documents = new Map<number, Citation[]>();
  for (const citation of citations) {
    const passages = documents.get(citation.index);
    if (passages) passages.push(citation);
    else documents.set(citation.index, [citation]);
  }
  return [...documents].sort(([a], [b]) => a - b).map(([, passages]) => passages);
}
