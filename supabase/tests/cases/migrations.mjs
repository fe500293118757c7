import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { applyPendingMigrations, applySeedOnce } from "../../../local/supabase/migrations.mjs";
import { createTemporaryFolder } from "../support/temporary-folder.mjs";

/** The migration runner, on temporary files. */
export function migrations({ database, applied }) {
  let folder;
  let remove;
  before(async () => {
    ({ folder, remove } = await createTemporaryFolder());
  });
  after(() => remove());

  test("the project's migrations were applied in order and are recorded", async () => {
    assert.ok(applied.length > 0);
    assert.deepEqual(applied, [...applied].sort());
    const { rows } = await database.query(
      "select version || '_' || name || '.sql' as file from supabase_migrations.schema_migrations order by version",
    );
    assert.deepEqual(
      rows.map((row) => row.file),
      applied,
    );
  });

  test("a broken migration is named, with its line, and leaves nothing behind", async () => {
    await writeFile(path.join(folder, "29990101000000_fine.sql"), "create table public.fine ();");
    await writeFile(path.join(folder, "29990102000000_broken.sql"), "create table public.half ();\nselect nonsense;");
    await assert.rejects(applyPendingMigrations(database, folder), {
      name: "StartupError",
      message:
        'Migration 29990102000000_broken.sql failed and was rolled back: column "nonsense" does not exist (line 2)',
    });
    const { rows } = await database.query(
      "select to_regclass('public.fine') as fine, to_regclass('public.half') as half",
    );
    assert.deepEqual(rows, [{ fine: "fine", half: null }]);
    await database.exec(
      "drop table public.fine; delete from supabase_migrations.schema_migrations where version like '2999%'",
    );
  });

  test("a file that is not named like a migration is reported instead of skipped", async () => {
    const other = await mkdtemp(path.join(folder, "misnamed-"));
    await writeFile(path.join(other, "tables.sql"), "select 1;");
    await assert.rejects(applyPendingMigrations(database, other), /Migration tables\.sql is not named like/);
  });

  test("the seed is applied once, even if it has changed", async () => {
    const seed = path.join(folder, "other-seed.sql");
    await writeFile(seed, "select 1;");
    assert.equal(await applySeedOnce(database, seed), true);
    await writeFile(seed, "select 2;");
    assert.equal(await applySeedOnce(database, seed), false);
  });
}
