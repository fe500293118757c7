// A new database from the files of an earlier one.
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { generateKeys } from "../../local/supabase/keys.mjs";
import { openPglite } from "../../local/supabase/pglite.mjs";
import { openSupabase } from "../../local/supabase/supabase.mjs";
import { createTemporaryFolder } from "./support/temporary-folder.mjs";

test("a new database starts from the files that the first one left, and has nothing else of it", async (t) => {
  const { folder, remove } = await createTemporaryFolder();
  t.after(remove);
  const cache = path.join(folder, "cache");
  const dataDir = path.join(folder, "data");
  /** @param {string} [databaseDir] */
  const open = async (databaseDir) => {
    const { connection, database } = await openPglite(databaseDir, { cacheDir: cache });
    await database.waitReady;
    return {
      query: async (sql) => (await database.query(sql)).rows,
      close: () => connection.close(),
    };
  };
  const [first, second, onDisk] = [await open(), await open(), await open(dataDir)];
  const [kept, ...others] = await readdir(cache);
  assert.match(kept, /^pglite-[\d.]+\.tar$/);
  assert.deepEqual(others, []);

  await first.query("create table only_here ()");
  const catalog = "select relname from pg_class where relnamespace <> 'pg_toast'::regnamespace order by 1";
  const tables = await second.query(catalog);
  assert.ok(tables.length > 100 && !tables.some(({ relname }) => relname === "only_here"));
  assert.deepEqual(await onDisk.query(catalog), tables);
  for (const database of [first, second, onDisk]) {
    await database.query("create extension vector");
    assert.deepEqual(await database.query("select '[1,2]'::vector <-> '[1,0]' as distance"), [{ distance: 2 }]);
  }
  await onDisk.query("create table kept as select 1 as one");
  for (const { close } of [first, second, onDisk]) await close();

  const again = await open(dataDir);
  assert.deepEqual(await again.query("select one from kept"), [{ one: 1 }]);
  await again.close();
});

test("a database opens where no files can be kept", async (t) => {
  const { folder, remove } = await createTemporaryFolder();
  t.after(remove);
  const file = path.join(folder, "file");
  await writeFile(file, "not a folder");
  const { connection, database } = await openPglite(undefined, { cacheDir: file });
  t.after(() => connection.close());
  assert.deepEqual((await database.query("select 1 as one")).rows, [{ one: 1 }]);
});

test("a new database starts as full as the first one was when its files were kept", async (t) => {
  const { folder, remove } = await createTemporaryFolder();
  t.after(remove);
  const open = async (content) => {
    const opened = await openPglite(undefined, { content, cacheDir: folder });
    t.after(() => opened.connection.close());
    return opened;
  };
  const first = await open("one");
  assert.equal(first.isFilled, false);
  await first.database.query("create table filled as select 1 as one");
  await first.keepFilled?.();
  await first.database.query("insert into filled values (2)");

  const second = await open("one");
  assert.equal(second.isFilled, true);
  assert.deepEqual((await second.database.query("select one from filled")).rows, [{ one: 1 }]);
  await second.keepFilled?.();

  const other = await open("other");
  assert.equal(other.isFilled, false);
  await assert.rejects(other.database.query("select from filled"), /does not exist/);
  await other.keepFilled?.();
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.includes("filled")),
    ["pglite-filled-other.tar"],
  );
});

test("two projects have the same migrations and seed, and no secret in common", async (t) => {
  const open = async () => {
    const { folder, remove } = await createTemporaryFolder();
    const { applied, database, close } = await openSupabase({ keys: await generateKeys(), storageDir: folder });
    t.after(async () => {
      await close();
      await remove();
    });
    const [{ salt }] = (await database.query("select salt from internal.refusal_salt")).rows;
    return { applied, salt, settings: (await database.query("select id from public.chat_settings")).rows };
  };
  const [first, second] = [await open(), await open()];
  assert.ok(first.applied.length > 10);
  assert.deepEqual(second.applied, first.applied);
  assert.deepEqual(second.settings, first.settings);
  assert.notEqual(second.salt, first.salt);
});
