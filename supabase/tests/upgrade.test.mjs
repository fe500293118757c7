// Databases of earlier versions with data in them, brought up to date by the migrations. Instances of their own, because
// each database has to stop halfway.
import assert from "node:assert/strict";
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { generateKeys } from "../local/src/keys.mjs";
import { applyPendingMigrations } from "../local/src/migrations.mjs";
import { openSupabase } from "../local/src/supabase.mjs";
import { upgrades } from "./cases/upgrades.mjs";
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
      select id, role, repeat('a', 100001), (select jsonb_agg(repeat('a', 30000)) from generate_series(1, 51))
      from chat_sessions cross join unnest(array['user', 'assistant']) role`);
  const history = () =>
    database.query(
      "select session_id, id, role, content, citations, created_at from chat_messages order by session_id, created_at",
    );
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

test("refused questions from before their ids belonged to their user are kept, in their groups", async (t) => {
  const database = await openBefore(t, "20261122010700");
  await database.query(
    `with users as (
       insert into auth.users (id, email) select gen_random_uuid(), n || '@example.com' from generate_series(1, 2) n
         returning id
     )
     insert into chat_refusals (user_id, question, embedding, reason)
       select id, 'Do you sell bicycles?', $1::extensions.vector, 'no_match' from users
       union all select id, 'Where is the moon?', $2::extensions.vector, 'no_match' from users`,
    [QUERY, embeddingWithSimilarity(0)],
  );
  const refusals = async () => (await database.query("select * from chat_refusals order by id, user_id")).rows;
  const gaps = async () => (await database.query("select * from content_gaps order by group_id")).rows;
  const before = [await refusals(), await gaps()];
  assert.deepEqual(
    before[1].map(({ questions, users }) => [questions, users]),
    [
      [2, 2],
      [2, 2],
    ],
  );

  assert.ok((await applyPendingMigrations(database, MIGRATIONS)).length > 0);

  assert.deepEqual([await refusals(), await gaps()], before);
  const [{ id }] = before[0];
  // Each user repeats the question; for one of the two its id is new.
  await database.query(
    `insert into chat_refusals (user_id, id, question, embedding, reason)
       select id, $1, 'Any bikes?', $2::extensions.vector, 'no_match' from auth.users
       on conflict do nothing`,
    [id, QUERY],
  );
  const after = await refusals();
  assert.equal(after.length, before[0].length + 1);
  assert.equal(after.filter((row) => row.id === id).length, 2);
  const added = after.find(({ question }) => question === "Any bikes?");
  const group = before[0].find(({ question }) => question === "Do you sell bicycles?").group_id;
  assert.equal(added.group_id, group);
  assert.equal((await gaps()).find(({ group_id }) => group_id === group).questions, 3);
});

test("the migrations also run on a Postgres without storage", async (t) => {
  const database = await openBefore(t, "20261122010500");
  await database.exec("drop schema storage cascade");
  assert.ok((await applyPendingMigrations(database, MIGRATIONS)).length > 0);
  const { rows } = await database.query("select kb_health() as health");
  assert.deepEqual([rows[0].health.storage_bytes, "orphan_files" in rows[0].health], [null, false]);
});

describe("from every version with data in it", () => {
  let folder;
  let supabase;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "supabase-upgrade-"));
    // Without a migration or a seed.
    const seedFile = path.join(folder, "seed.sql");
    await writeFile(seedFile, "");
    const migrationsDir = path.join(folder, "migrations");
    await mkdir(migrationsDir);
    supabase = await openSupabase({ keys: await generateKeys(), storageDir: folder, migrationsDir, seedFile });
  });
  after(async () => {
    await supabase.close();
    await rm(folder, { recursive: true, force: true });
  });
  upgrades({ database: () => supabase.database, folder: MIGRATIONS });
});
