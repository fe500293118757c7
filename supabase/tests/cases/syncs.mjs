import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, test } from "node:test";

/** The lease of a collection: one kb sync at a time. */
export function syncs({ database }) {
  afterEach(() => database.exec("delete from kb_syncs"));

  const call = async (name, ...parameters) => {
    const places = parameters.map((_, index) => `$${index + 1}`).join(", ");
    return (await database.query(`select ${name}(${places}) as answer`, parameters)).rows[0].answer;
  };
  const begin = (run, host = "laptop") => call("kb_begin_sync", "handbook", run, host);
  const age = (seconds) =>
    database.query("update kb_syncs set renewed_at = renewed_at - make_interval(secs => $1)", [seconds]);

  test("the first run gets the lease, and a second run gets the id of the first", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const held = await begin(first);
    assert.deepEqual([held.acquired, held.run_id, held.host], [true, first, "laptop"]);
    assert.deepEqual(await begin(second, "server"), { ...held, acquired: false });
    assert.equal((await call("kb_begin_sync", "website", second, "server")).acquired, true);
    assert.equal(await call("kb_renew_sync", "handbook", second), false);
    assert.equal(await call("kb_end_sync", "handbook", second, {}), false);
    assert.equal(await call("kb_renew_sync", "handbook", first), true);
  });

  test("a run that begins again keeps its lease and started_at", async () => {
    const run = randomUUID();
    const held = await begin(run);
    await age(30);
    const again = await begin(run, "laptop");
    assert.deepEqual([again.acquired, again.started_at], [true, held.started_at]);
    assert.ok(Date.parse(again.renewed_at) >= Date.parse(held.renewed_at));
  });

  test("a run that has not renewed its lease for a minute loses it, and its next renewal returns false", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await begin(first);
    await age(59);
    assert.equal((await begin(second)).acquired, false);
    await call("kb_renew_sync", "handbook", first);
    await age(61);
    assert.equal((await begin(second)).acquired, true);
    assert.equal(await call("kb_renew_sync", "handbook", first), false);
    assert.equal(await call("kb_end_sync", "handbook", first, {}), false);
    assert.equal((await begin(first)).acquired, false);
  });

  test("kb_end_sync releases the lease and keeps the summary", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await begin(first);
    assert.equal(await call("kb_end_sync", "handbook", first, { added: 3 }), true);
    assert.equal(await call("kb_renew_sync", "handbook", first), false);
    const { rows } = await database.query("select summary, finished_at is not null as finished from kb_syncs");
    assert.deepEqual(rows, [{ summary: { added: 3 }, finished: true }]);
    assert.equal((await begin(second)).acquired, true);
    const after = await database.query("select summary, finished_at from kb_syncs");
    assert.deepEqual(after.rows, [{ summary: null, finished_at: null }]);
  });

  test("a collection is the first part of a source", async () => {
    for (const collection of ["", " ", "a/b", "/"]) {
      await assert.rejects(call("kb_begin_sync", collection, randomUUID(), null), /kb_syncs_collection_is/);
    }
    await assert.rejects(call("kb_begin_sync", "a", null, null), /null value in column "run_id"/);
    await database.query("insert into kb_documents (source) values ('hand book/a/b.md'), ('single.md')");
    const { rows } = await database.query("select collection from kb_documents order by collection");
    assert.deepEqual(
      rows.map((row) => row.collection),
      ["hand book", "single.md"],
    );
    await database.exec("delete from kb_documents");
  });
}
