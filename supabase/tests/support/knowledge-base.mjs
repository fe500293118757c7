import { randomUUID } from "node:crypto";

const DIMENSIONS = 384;

/** The query that `embeddingWithSimilarity` refers to: a unit vector along the first axis. */
export const QUERY = toVector(new Map([[0, 1]]));

/**
 * A unit vector with the given cosine similarity to QUERY. Different axes (1 to 383) give different vectors.
 * @param {number} similarity
 * @param {number} [axis]
 */
export function embeddingWithSimilarity(similarity, axis = 1) {
  return toVector(
    new Map([
      [0, similarity],
      [axis, Math.sqrt(1 - similarity * similarity)],
    ]),
  );
}

function toVector(components) {
  return JSON.stringify(Array.from({ length: DIMENSIONS }, (_, axis) => components.get(axis) ?? 0));
}

/**
 * Writes a document with one chunk per similarity, past the API, and returns its id and its chunks' ids.
 * @param {import("@electric-sql/pglite").PGlite} database
 * @param {{ source?: string, name?: string, status?: string, enabled?: boolean, hash?: string, meta?: object,
 *   similarities?: (number | null)[] }} [document] null leaves that chunk without an embedding
 */
export async function writeDocument(
  database,
  {
    source = `test/${randomUUID()}.md`,
    name = "test.md",
    status = "ready",
    enabled = true,
    hash = "h",
    meta = {},
    similarities = [0.9],
  } = {},
) {
  return database.transaction(async (transaction) => {
    const inserted = await transaction.query(
      `insert into kb_documents (source, name, status, enabled, content_hash, meta)
       values ($1, $2, $3, $4, $5, $6) returning id`,
      [source, name, status, enabled, hash, meta],
    );
    const id = inserted.rows[0].id;
    const chunkIds = [];
    for (const [ordinal, similarity] of similarities.entries()) {
      const chunk = await transaction.query(
        "insert into kb_chunks (document_id, ordinal, content) values ($1, $2, $3) returning id",
        [id, ordinal, `${name} ${hash} ${ordinal}`],
      );
      chunkIds.push(chunk.rows[0].id);
      if (similarity === null) continue;
      await transaction.query("insert into kb_embeddings (chunk_id, embedding, model) values ($1, $2, 'test')", [
        chunk.rows[0].id,
        embeddingWithSimilarity(similarity, 1 + ordinal),
      ]);
    }
    return { id, source, chunkIds };
  });
}

/** @param {import("@electric-sql/pglite").PGlite} database */
export async function clearKnowledgeBase(database) {
  await database.exec("delete from kb_documents");
}
