// Rows as `match_chunks` returns them.

/** The document of the passages. */
export const DOCUMENT_ID = "d0000000-0000-4000-8000-000000000001";

/** A passage for the question of `client.mjs`. */
export function passage(overrides = {}) {
  const content = "Refunds are paid within 5 days. Our shop opened in 1990.";
  return {
    chunk_id: crypto.randomUUID(),
    document_id: DOCUMENT_ID,
    document_name: "refunds.md",
    document_meta: { title: "Refunds" },
    ordinal: 0,
    content,
    parts: [],
    meta: { section: "Refunds" },
    model: "test-model",
    similarity: 0.8,
    lexical: 0.7,
    score: 0.77,
    sentences: [
      sentence(content, "Refunds are paid within 5 days.", 0.8),
      sentence(content, "Our shop opened in 1990.", 0.2),
    ],
    query_terms: [
      { word: "refunds", weight: 2.5 },
      { word: "paid", weight: 2.1 },
    ],
    ...overrides,
  };
}

/** A passage that reaches the similarity threshold but is about something else. */
export function weakPassage(overrides = {}) {
  const content = "Our shop opened in 1990.";
  return passage({
    content,
    similarity: 0.36,
    lexical: 0,
    score: 0.12,
    sentences: [sentence(content, content, 0.01)],
    ...overrides,
  });
}

/** A sentence of a passage, by its offsets in code points. */
export function sentence(content, text, similarity) {
  const start = [...content.slice(0, content.indexOf(text))].length;
  return { start, end: start + [...text].length, similarity, kind: "sentence", chain: [] };
}
