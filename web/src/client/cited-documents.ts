import type { Citation } from "./wire.js";

/** The cited passages of a document; all of them have its number. */
export type DocumentPassages = readonly [Citation, ...Citation[]];

/** Groups passages by document, in the order of the documents' numbers: `[1]` points at the first one. */
export function byDocument(citations: readonly Citation[]): DocumentPassages[] {
  const documents = new Map<number, [Citation, ...Citation[]]>();
  for (const citation of citations) {
    const passages = documents.get(citation.index);
    if (passages) passages.push(citation);
    else documents.set(citation.index, [citation]);
  }
  return [...documents].sort(([a], [b]) => a - b).map(([, passages]) => passages);
}

/** A document with its cited passages. */
export interface CitedDocument {
  readonly id: string;
  readonly title: string;
  readonly url: string | undefined;
  readonly passages: DocumentPassages;
}

/** The documents of an answer, in the order of their numbers. */
export function citedDocuments(citations: readonly Citation[]): CitedDocument[] {
  return byDocument(citations).map((passages) => ({
    id: passages[0].document_id,
    title: passages[0].title,
    url: passages.find(({ url }) => url !== undefined)?.url,
    passages,
  }));
}

/** The first paragraph of a hedged answer. */
export const HEDGE = "These passages are on topic but may not answer your question.\n\n";
