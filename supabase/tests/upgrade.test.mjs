// A knowledge base from before the search by words, brought up to date by the migrations. An instance of its own,
// because the database has to stop halfway.
import assert from "node:assert/strict";
import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { generateKeys } from "../local/src/keys.mjs";
import { applyPendingMigrations } from "../local/src/migrations.mjs";
import { openSupabase } from "../local/src/supabase.mjs";
import { embeddingWithSimilarity, lexemeCounts, QUERY } from "./support/knowledge-base.mjs";

const MIGRATIONS = fileURLToPath(new URL("../migrations/", import.meta.url));
const FIRST_NEW = "20261122";

test("a knowledge base from before the search by words is found by words after the migrations", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "supabase-upgrade-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const migrationsDir = path.join(folder, "migrations");
  await mkdir(migrationsDir);
  for (const file of await readdir(MIGRATIONS)) {
    if (file < FIRST_NEW) await copyFile(path.join(MIGRATIONS, file), path.join(migrationsDir, file));
  }
  const supabase = await openSupabase({ keys: await generateKeys(), storageDir: folder, migrationsDir });
  t.after(() => supabase.close());
  const { database } = supabase;

  for (const [source, enabled] of [
    ["visible.md", true],
    ["disabled.md", false],
  ]) {
    await database.query(
      `with document as (
         insert into kb_documents (source, name, status, enabled) values ($1, $1, 'ready', $2) returning id
       ), chunk as (
         insert into kb_chunks (document_id, ordinal, content, meta)
         select id, 0, 'Two kettles are hot', '{"section": "Kitchen"}' from document returning id
       )
       insert into kb_embeddings (chunk_id, embedding, model) select id, $3, 'test' from chunk`,
      [source, enabled, embeddingWithSimilarity(0.9)],
    );
  }
  assert.ok((await applyPendingMigrations(database, MIGRATIONS)).length > 0);

  const { kept, counted } = await lexemeCounts(database);
  assert.deepEqual(kept, counted);
  assert.deepEqual(
    kept.map(({ lexeme }) => lexeme),
    ["", "hot", "kettl", "kitchen", "two"],
  );
  const { rows } = await database.query("select * from match_chunks($1, query_text => 'kettle in the kitchen')", [
    QUERY,
  ]);
  assert.deepEqual(
    rows.map((row) => [row.document_name, row.query_terms.map(({ word }) => word), row.sentences]),
    [["visible.md", ["kettle", "kitchen"], []]],
  );
  assert.ok(rows[0].lexical > 0.6);
});
