// A new database from the files of an earlier one.
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { openPglite } from "../local/src/pglite.mjs";
import { createTemporaryFolder } from "./support/temporary-folder.mjs";

test("a new database starts from the files that the first one left, and has nothing else of it", async (t) => {
  const { folder, remove } = await createTemporaryFolder();
  t.after(remove);
  const cache = path.join(folder, "cache");
  const dataDir = path.join(folder, "data");
  /** @param {string} [databaseDir] */
  const open = async (databaseDir) => {
    const { connection, database } = await openPglite(databaseDir, cache);
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
  const { connection, database } = await openPglite(undefined, file);
  t.after(() => connection.close());
  assert.deepEqual((await database.query("select 1 as one")).rows, [{ one: 1 }]);
});
