// A separate instance whose storage is dropped before the first migration.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { generateKeys } from "../local/src/keys.mjs";
import { applyPendingMigrations } from "../local/src/migrations.mjs";
import { openSupabase } from "../local/src/supabase.mjs";

const MIGRATIONS = fileURLToPath(new URL("../migrations/", import.meta.url));

test("the migrations run on a Postgres without storage", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "supabase-without-storage-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const seedFile = path.join(folder, "seed.sql");
  await writeFile(seedFile, "");
  const migrationsDir = path.join(folder, "migrations");
  await mkdir(migrationsDir);
  const { database, close } = await openSupabase({
    keys: await generateKeys(),
    storageDir: folder,
    migrationsDir,
    seedFile,
  });
  t.after(close);
  await database.exec("drop schema storage cascade");

  assert.ok((await applyPendingMigrations(database, MIGRATIONS)).length > 0);

  const { rows } = await database.query("select kb_health() as health");
  assert.deepEqual([rows[0].health.storage_bytes, "orphan_files" in rows[0].health], [null, false]);
});
