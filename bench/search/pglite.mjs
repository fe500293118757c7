// Times match_chunks on PGlite, the Postgres of the local server, as the role `authenticated` under Row Level Security.
//
//   node bench/search/pglite.mjs [--sizes 10000] [--questions 100] [--data FOLDER]
//
// Applies the migrations to a database in memory (or in FOLDER, which must not exist), loads a synthetic corpus for each
// size, and prints one JSON document, the same as native.py does.
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { HEADER, TRAILER } from "./copy-binary.mjs";
import { questions, TABLES, tableRows } from "./tables.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const SUPABASE = path.join(HERE, "../../supabase");
const VECTOR_INDEX = "kb_embeddings_searchable_hnsw";
const WARM_UP = 10;
/** Size of one COPY, which is built in memory. */
const COPY_BYTES = 64 << 20;
/** Identifies the Worker, whose searches the database does not limit. */
const WORKER_SECRET = "the secret of the Worker in this measurement";
/** A signed-in user: others see no documents without an audience. */
const CLAIMS = JSON.stringify({ sub: "00000000-0000-4000-8000-000000000001", role: "authenticated" });
const SEARCH = "select * from match_chunks($1, 5, 0.35, $2)";
const SIZES = `
  select c.relname, pg_table_size(c.oid) as bytes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relname like 'kb\\_%' and c.relkind in ('r', 'i') order by c.relname`;

const { values: options } = parseArgs({
  options: {
    sizes: { type: "string", default: "10000" },
    questions: { type: "string", default: "100" },
    data: { type: "string" },
  },
});

// PGlite is a dependency of the local server, so it is resolved from there.
const require = createRequire(path.join(SUPABASE, "local/package.json"));
const { PGlite } = await importFrom(require, "@electric-sql/pglite");
const { vector } = await importFrom(require, "@electric-sql/pglite/vector");

const results = [];
let version;
for (const size of options.sizes.split(",").map(Number)) {
  const database = new PGlite({
    dataDir: options.data && path.join(options.data, String(size)),
    extensions: { vector },
  });
  await database.waitReady;
  version = (await database.query("select version()")).rows[0].version;
  results.push(await measure(database, size));
  await database.close();
}
console.log(JSON.stringify({ database: `PGlite, ${version}`, sizes: results }, null, 2));

async function importFrom(require, name) {
  return import(pathToFileURL(require.resolve(name)).href);
}

async function measure(database, size) {
  await database.exec(await readFile(path.join(HERE, "bootstrap.sql"), "utf8"));
  await database.exec("set role project_owner");
  const folder = path.join(SUPABASE, "migrations");
  for (const file of (await readdir(folder)).sort()) {
    await database.exec(await readFile(path.join(folder, file), "utf8"));
  }
  await database.query("select chat_set_worker_secret(encode(sha256(convert_to($1, 'UTF8')), 'hex'))", [WORKER_SECRET]);
  // PGlite reads a COPY from a file, which needs a superuser.
  await database.exec("reset role");
  const { loadSeconds, indexSeconds } = await load(database, size);
  await database.exec("vacuum analyze");
  const asked = questions(size, Number(options.questions));
  return {
    chunks: size,
    load_seconds: loadSeconds,
    vector_index_seconds: indexSeconds,
    bytes_per_chunk: Object.fromEntries(
      (await database.query(SIZES)).rows.map(({ relname, bytes }) => [relname, round(bytes / size, 1)]),
    ),
    with_text_ms: await timeSearches(database, asked, true),
    vector_only_ms: await timeSearches(database, asked, false),
    source_chunk_first: await shareFirst(database, asked),
  };
}

/** Loads rows through the triggers, as real rows are; the vector index is built afterwards, which is many times faster. */
async function load(database, size) {
  const { rows } = await database.query("select pg_get_indexdef($1::regclass) as definition", [VECTOR_INDEX]);
  await database.exec(`drop index ${VECTOR_INDEX}`);
  /** @type {Record<string, { rows: Buffer<ArrayBuffer>[], bytes: number }>} */
  const waiting = Object.fromEntries(Object.keys(TABLES).map((table) => [table, { rows: [], bytes: 0 }]));
  let copying = 0;
  const flush = async () => {
    for (const [table, columns] of Object.entries(TABLES)) {
      const blob = new Blob([HEADER, ...waiting[table].rows, TRAILER]);
      waiting[table] = { rows: [], bytes: 0 };
      const started = performance.now();
      await database.query(`copy ${table} (${columns.join(", ")}) from '/dev/blob' (format binary)`, [], { blob });
      copying += performance.now() - started;
    }
  };
  for (const [table, row] of tableRows(size)) {
    waiting[table].rows.push(row);
    waiting[table].bytes += row.length;
    if (waiting[table].bytes > COPY_BYTES) await flush();
  }
  await flush();
  const started = performance.now();
  await database.exec(rows[0].definition);
  return { loadSeconds: round(copying / 1000, 1), indexSeconds: round((performance.now() - started) / 1000, 1) };
}

async function timeSearches(database, asked, withText) {
  for (const question of asked.slice(0, WARM_UP)) await search(database, question, withText);
  const times = [];
  for (const question of asked) times.push((await search(database, question, withText)).milliseconds);
  times.sort((a, b) => a - b);
  const at = (share) => round(times[Math.min(times.length - 1, Math.floor(times.length * share))], 2);
  return { p50: at(0.5), p95: at(0.95) };
}

/** How often the chunk that a question was made from ranks first: a check that the search works. */
async function shareFirst(database, asked) {
  let hits = 0;
  for (const question of asked) {
    const { rows } = await search(database, question, true);
    hits += rows[0]?.chunk_id === question.chunkId ? 1 : 0;
  }
  return hits / asked.length;
}

function search(database, question, withText) {
  return database.transaction(async (transaction) => {
    await transaction.query("set local role authenticated");
    await transaction.query(
      "select set_config('request.headers', $1, true), set_config('request.jwt.claims', $2, true)",
      [JSON.stringify({ "x-evidence-chat-worker": WORKER_SECRET }), CLAIMS],
    );
    const started = performance.now();
    const { rows } = await transaction.query(SEARCH, [question.vector, withText ? question.text : null]);
    return { rows, milliseconds: performance.now() - started };
  });
}

function round(value, digits) {
  return Number(Number(value).toFixed(digits));
}
