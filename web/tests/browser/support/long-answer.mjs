// An answer with many sources.
import { answer, citation } from "./answers.mjs";

/** Five sources, of all strengths. */
export const DOCUMENTS = [1, 2, 3, 4, 5].map((index) =>
  citation({
    index,
    chunk_id: `chunk-${index}`,
    document_id: `3f333df6-90a4-4fda-8dd3-9485d27cee3${index}`,
    title: `Document ${index}`,
    strength: ["strong", "good", "partial"][index % 3],
    download_url: `https://chat.example/api/documents/${index}/download`,
  }),
);

/** An answer from two of them. */
export const LONG_ANSWER = answer({ deltas: ["Refunds are paid within 5 days. [1] [2]"], citations: DOCUMENTS });
