// The corpus as rows of the knowledge base's tables, in the order in which they are loaded.
import { chunks, documents, makeQuestion } from "./corpus.mjs";
import { boolean, halfvec, int32, row, text, textArray, uuid, vector } from "./copy-binary.mjs";

/** Columns that are loaded, by table. The triggers, where they run, set searchable, audience, collection and language again. */
export const TABLES = {
  kb_documents: ["id", "source", "name", "status", "audience"],
  kb_chunks: ["id", "document_id", "ordinal", "content", "searchable", "audience", "collection", "language"],
  kb_embeddings: ["chunk_id", "embedding", "model", "searchable", "audience", "collection"],
  kb_headings: ["chunk_id", "embedding"],
  kb_sentences: ["chunk_id", "ordinal", "start", '"end"', "embedding", "kind"],
};

/**
 * Rows in binary COPY format, each with the table it belongs to.
 * @param {number} size number of chunks
 * @param {(chunk: import("./corpus.mjs").Chunk) => unknown} [onChunk]
 * @returns {Generator<[keyof typeof TABLES, Buffer<ArrayBuffer>]>}
 */
export function* tableRows(size, onChunk = () => undefined) {
  for (const { id, collection, audience } of documents(size)) {
    const fields = [uuid(id), text(`${collection}/${id}.md`), text(`${id}.md`), text("ready"), textArray(audience)];
    yield ["kb_documents", row(fields)];
  }
  for (const chunk of chunks(size)) {
    onChunk(chunk);
    const id = uuid(chunk.id);
    const visibility = [boolean(chunk.audience === null), textArray(chunk.audience), text(chunk.collection)];
    const content = [int32(chunk.ordinal), text(chunk.content)];
    yield ["kb_chunks", row([id, uuid(chunk.documentId), ...content, ...visibility, text("english")])];
    yield ["kb_embeddings", row([id, vector(chunk.vector), text("bench"), ...visibility])];
    yield ["kb_headings", row([id, halfvec(chunk.heading)])];
    for (const [ordinal, sentence] of chunk.sentences.entries()) {
      yield [
        "kb_sentences",
        row([
          id,
          int32(ordinal),
          int32(sentence.start),
          int32(sentence.end),
          halfvec(sentence.vector),
          text("sentence"),
        ]),
      ];
    }
  }
}

/**
 * Questions about chunks that everybody can find, spread over the corpus, with vectors in pgvector's text form.
 * @param {number} size number of chunks
 * @param {number} count
 */
export function questions(size, count) {
  const collect = createCollector(size, count);
  for (const chunk of chunks(size)) if (collect(chunk).length === count) break;
  return collect();
}

/**
 * The same questions for a program that has the chunks anyway: takes them one after the other and returns the questions so far.
 * @param {number} size number of chunks
 * @param {number} count
 */
export function createCollector(size, count) {
  const step = Math.max(1, Math.floor(size / count));
  const list = [];
  let index = 0;
  return (/** @type {import("./corpus.mjs").Chunk | undefined} */ chunk = undefined) => {
    if (chunk !== undefined && index++ >= list.length * step && chunk.audience === null && list.length < count) {
      const question = makeQuestion(chunk, list.length);
      list.push({ ...question, vector: JSON.stringify([...question.vector]) });
    }
    return list;
  };
}
