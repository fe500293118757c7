import assert from "node:assert/strict";
import { test } from "node:test";
import { startWithoutStorage } from "./support/start.mjs";

test("the migrations run on a Postgres without storage, and kb_health reports no files", async (t) => {
  const { database, applied, close } = await startWithoutStorage();
  t.after(close);
  assert.ok(applied.length > 0);

  const { rows } = await database.query("select kb_health() as health");
  assert.deepEqual([rows[0].health.storage_bytes, "orphan_files" in rows[0].health], [null, false]);
});
