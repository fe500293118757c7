// Databases of earlier versions with data in them, brought up to date by the migrations. Instances of their own, because
// each database has to stop halfway.
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

/** A database with the migrations before `version`. */
async function openBefore(t, version) {
  const folder = await mkdtemp(path.join(tmpdir(), "supabase-upgrade-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const migrationsDir = path.join(folder, "migrations");
  await mkdir(migrationsDir);
  for (const file of await readdir(MIGRATIONS)) {
    if (file < version) await copyFile(path.join(MIGRATIONS, file), path.join(migrationsDir, file));
  }
  const supabase = await openSupabase({ keys: await generateKeys(), storageDir: folder, migrationsDir });
  t.after(() => supabase.close());
  return supabase.database;
}

test("a knowledge base from before the search by words is found by words after the migrations", async (t) => {
  const database = await openBefore(t, "20261122");
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

test("a history from before message ids belonged to their session is kept, long messages included", async (t) => {
  const database = await openBefore(t, "2026112201");
  await database.exec(`
    insert into auth.users (id, email) select gen_random_uuid(), n || '@example.com' from generate_series(1, 2) n;
    insert into chat_sessions (user_id, title, updated_at) select id, email, '2026-01-01' from auth.users;
    insert into chat_messages (session_id, role, content, citations)
      select id, role, repeat('a', 100001), jsonb_build_array(repeat('a', 1048577))
      from chat_sessions cross join unnest(array['user', 'assistant']) role`);
  const history = () => database.query("select * from chat_messages order by session_id, created_at");
  const sessions = () => database.query("select * from chat_sessions order by id");
  const before = [(await history()).rows, (await sessions()).rows];

  assert.ok((await applyPendingMigrations(database, MIGRATIONS)).length > 0);

  assert.deepEqual([(await history()).rows, (await sessions()).rows], before);
  const [first, , other] = before[0];
  await database.query("insert into chat_messages (session_id, id, role, content) values ($1, $2, 'user', 'Hi')", [
    other.session_id,
    first.id,
  ]);
  await assert.rejects(
    database.query("insert into chat_messages (session_id, id, role, content) values ($1, $2, 'user', 'Hi')", [
      first.session_id,
      first.id,
    ]),
    /chat_messages_pkey/,
  );
  const { rows } = await database.query("select chat_config()->'model' as model, count(*)::int from chat_settings");
  assert.deepEqual(rows, [{ model: null, count: 1 }]);
});

test("the migrations also run on a Postgres without storage", async (t) => {
  const database = await openBefore(t, "20261122010500");
  await database.exec("drop schema storage cascade");
  assert.ok((await applyPendingMigrations(database, MIGRATIONS)).length > 0);
});
