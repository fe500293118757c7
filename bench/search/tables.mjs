// The corpus as rows of the knowledge base's tables, in the order in which they are loaded.
import { chunks, documentIds, makeQuestion } from "./corpus.mjs";
import { halfvec, int32, row, text, uuid, vector } from "./copy-binary.mjs";

/** Columns that are loaded, by table. */
export const TABLES = {
  kb_documents: ["id", "source", "name", "status"],
  kb_chunks: ["id", "document_id", "ordinal", "content"],
  kb_embeddings: ["chunk_id", "embedding", "model"],
  kb_headings: ["chunk_id", "embedding"],
  kb_sentences: ["chunk_id", "ordinal", "start", '"end"', "embedding"],
};

/**
 * Rows in binary COPY format, each with the table it belongs to.
 * @param {number} size number of chunks
 * @returns {Generator<[keyof typeof TABLES, Buffer<ArrayBuffer>]>}
 */
export function* tableRows(size) {
  for (const id of documentIds(size)) {
    yield ["kb_documents", row([uuid(id), text(`${id}.md`), text(`${id}.md`), text("ready")])];
  }
  for (const chunk of chunks(size)) {
    const id = uuid(chunk.id);
    yield ["kb_chunks", row([id, uuid(chunk.documentId), int32(chunk.ordinal), text(chunk.content)])];
    yield ["kb_embeddings", row([id, vector(chunk.vector), text("bench")])];
    yield ["kb_headings", row([id, halfvec(chunk.heading)])];
    for (const [ordinal, sentence] of chunk.sentences.entries()) {
      yield [
        "kb_sentences",
        row([id, int32(ordinal), int32(sentence.start), int32(sentence.end), halfvec(sentence.vector)]),
      ];
    }
  }
}

/**
 * Questions about chunks spread over the corpus, with vectors in pgvector's text form.
 * @param {number} size number of chunks
 * @param {number} count
 */
export function questions(size, count) {
  const step = Math.max(1, Math.floor(size / count));
  const list = [];
  let index = 0;
  for (const chunk of chunks(size)) {
    if (index++ % step !== 0) continue;
    const question = makeQuestion(chunk, list.length);
    list.push({ ...question, vector: JSON.stringify([...question.vector]) });
    if (list.length === count) break;
  }
  return list;
}
