// Fills the database of native-supabase.mjs with the rows of a large site: what a first sync would store, with one chunk for each page,
// whose vector is one of a thousand. Prints the seconds that it took.
//
//   node bench/ingest/load-rows.mjs DATABASE COLLECTION < LIST
//
// DATABASE is the file that native-supabase.mjs writes, LIST what `bench-ingest site` prints. The model is that of the vectors that kb
// has written before.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import postgres from "postgres";

const ROWS_PER_STATEMENT = 5000;
/** Different vectors. */
const VECTORS = 1000;

const [database, collection] = process.argv.slice(2);
const sql = postgres({ ...JSON.parse(await readFile(database, "utf8")), max: 1, onnotice: () => {} });
const started = performance.now();

// Building the vector indexes at the end takes a tenth of the time.
const indexes = await sql`
  select indexname, indexdef from pg_indexes where schemaname = 'public' and indexdef ilike '%using hnsw%'`;
for (const { indexname } of indexes) await sql`drop index ${sql(indexname)}`;
await sql.begin(async (transaction) => {
  // Without the triggers, which take ten times as long; the rows below contain what they would set.
  await transaction`set local session_replication_role = replica`;
  await transaction`create temporary table pages (path text, hash text) on commit drop`;
  for await (const rows of batches(process.stdin)) {
    await transaction`insert into pages ${transaction(rows)}`;
  }
  await transaction`
    insert into kb_documents (source, name, status, content_hash, storage_path, meta)
      select ${collection} || '/' || path, substring(path from '[^/]*$'), 'ready', hash, 'originals/' || ${collection} || '/' || path,
          '{"content_type": "text/markdown"}'
        from pages`;
  await transaction`
    insert into kb_chunks (document_id, ordinal, content, searchable, collection, language, fts)
      select d.id, 0, 'The page ' || d.name, true, d.collection, 'english', to_tsvector('english', 'The page ' || d.name)
        from kb_documents d where d.collection = ${collection}`;
  await transaction`
    create temporary table vectors on commit drop as
      select v as number, extensions.l2_normalize(array_agg(random() - 0.5)::extensions.vector(384)) as embedding
        from generate_series(0, ${VECTORS - 1}::int) as v cross join generate_series(1, 384)
        group by v`;
  await transaction`
    insert into kb_embeddings (chunk_id, embedding, model, searchable, collection)
      select c.id, v.embedding, (select model from kb_embeddings limit 1), true, c.collection
        from kb_chunks c join vectors v on v.number = abs(hashtext(c.content) % ${VECTORS}::int)
        where c.collection = ${collection}`;
});
for (const { indexdef } of indexes) await sql.unsafe(indexdef);
await sql`select kb_recount_lexemes()`;
await sql`analyze`;
console.log((performance.now() - started) / 1000);
await sql.end();

/** Yields the lines of a list as rows, some thousands at a time. */
async function* batches(list) {
  let rows = [];
  for await (const line of createInterface({ input: list })) {
    const [path, hash] = line.split("\t");
    rows.push({ path, hash });
    if (rows.length === ROWS_PER_STATEMENT) {
      yield rows;
      rows = [];
    }
  }
  if (rows.length > 0) yield rows;
}
