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
 * Writes a document with one chunk per similarity into the tables, and returns its id and the ids of its chunks.
 * @param {import("../../../local/supabase/migrations.mjs").Database} database
 * @param {{ source?: string, name?: string, status?: string, enabled?: boolean, hash?: string, meta?: object,
 *   language?: string, audience?: string[] | null, storagePath?: string | null, similarities?: (number | null)[],
 *   contents?: string[], section?: string, sentences?: { start: number, end: number, similarity: number }[][] }} [document]
 *   similarities: null leaves a chunk without an embedding; contents and sentences: one entry for each chunk
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
    language = "english",
    audience = null,
    storagePath = null,
    contents,
    similarities = contents?.map(() => 0.9) ?? [0.9],
    section,
    sentences = [],
  } = {},
) {
  return database.transaction(async (transaction) => {
    const inserted = await transaction.query(
      `insert into kb_documents (source, name, status, enabled, content_hash, meta, language, audience, storage_path)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
      [source, name, status, enabled, hash, meta, language, audience, storagePath],
    );
    const id = inserted.rows[0].id;
    const chunkIds = [];
    for (const [ordinal, similarity] of similarities.entries()) {
      const chunk = await transaction.query(
        "insert into kb_chunks (document_id, ordinal, content, meta) values ($1, $2, $3, $4) returning id",
        [id, ordinal, contents?.[ordinal] ?? `${name} ${hash} ${ordinal}`, section ? { section } : {}],
      );
      chunkIds.push(chunk.rows[0].id);
      if (similarity === null) continue;
      await transaction.query("insert into kb_embeddings (chunk_id, embedding, model) values ($1, $2, 'test')", [
        chunk.rows[0].id,
        embeddingWithSimilarity(similarity, 1 + ordinal),
      ]);
      for (const [index, sentence] of (sentences[ordinal] ?? []).entries()) {
        await transaction.query(
          `insert into kb_sentences (chunk_id, ordinal, start, "end", embedding, kind)
           values ($1, $2, $3, $4, $5, 'sentence')`,
          [
            chunk.rows[0].id,
            index,
            sentence.start,
            sentence.end,
            embeddingWithSimilarity(sentence.similarity, 200 + index),
          ],
        );
      }
    }
    return { id, source, chunkIds };
  });
}

/**
 * Writes a document with chunks "chunk 0", "chunk 1", …, whose vectors lie around QUERY; only that of the first is the same.
 * @param {import("../../../local/supabase/migrations.mjs").Database} database
 * @param {number} count
 * @param {{ audience?: string[] | null, distance?: number }} [options]
 *   distance: the largest component on each other axis, where that along QUERY is 3
 * @returns {Promise<string>} id of the document
 */
export async function writeManyChunks(database, count, { audience = null, distance = 0.1 } = {}) {
  const { id } = await writeDocument(database, { audience, similarities: [] });
  await database.query(
    `with chunk as (
       insert into kb_chunks (document_id, ordinal, content)
       select $1, n, 'chunk ' || n from generate_series(0, $2::int - 1) n returning id, ordinal
     )
     insert into kb_embeddings (chunk_id, embedding, model)
     select id, array_cat(array[3.0], (select array_agg(sin(ordinal * 0.37 * axis) * $3) from generate_series(1, 383) axis))::extensions.vector, 'test'
     from chunk`,
    [id, count, distance],
  );
  return id;
}

/**
 * Writes new vectors for the current text of chunks, as `kb sync` does.
 * @param {import("../../../local/supabase/migrations.mjs").Database} database
 * @param {string[]} chunkIds
 * @param {{ embedding?: string, model?: string, sentences?: object[] }} [vectors]
 * @returns {Promise<string[]>} ids of the chunks that were written
 */
export async function renewVectors(database, chunkIds, { embedding = QUERY, model = "test", sentences = [] } = {}) {
  const { rows } = await database.query(
    `select kb_write_vectors(coalesce(jsonb_agg(jsonb_build_object(
       'chunk_id', id, 'text_hash', md5(concat(meta->>'section', E'\n', content)), 'embedding', $2::text,
       'model', $3::text, 'sentences', $4::jsonb)), '[]')) as id
     from kb_chunks where id = any ($1)`,
    [chunkIds, embedding, model, JSON.stringify(sentences)],
  );
  return rows.map((row) => row.id);
}

/** @param {import("../../../local/supabase/migrations.mjs").Database} database */
export async function clearKnowledgeBase(database) {
  await database.exec("delete from kb_documents");
}

/**
 * The rows of kb_lexemes, and the rows of a fresh count, in the same order.
 * @param {import("../../../local/supabase/migrations.mjs").Database} database
 */
export async function lexemeCounts(database) {
  const kept = await database.query("select lexeme, language, chunks::int from kb_lexemes order by lexeme, language");
  const counted = await database.query(
    `select word.lexeme, c.language, count(*)::int as chunks
     from kb_chunks c
     join kb_documents d on d.id = c.document_id
     cross join lateral (
       select '' as lexeme
       union all
       select ' ' where d.audience is null
       union all
       select distinct ' ' || entry from unnest(d.audience) entry
       union all
       select lexeme from unnest(internal.kb_chunk_fts(c.language, internal.kb_chunk_text(c.content, c.meta, c.parts)))
         where d.audience is null
     ) word
     where d.status = 'ready' and d.enabled and not c.stale
     group by word.lexeme, c.language
     order by word.lexeme, c.language`,
  );
  return { kept: kept.rows, counted: counted.rows };
}
