import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, describe, test } from "node:test";

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

  test("the settings of a collection stay until others are stored", async () => {
    const run = randomUUID();
    assert.equal((await begin(run)).settings, null);
    const settings = { source: "folder handbook", language: "german" };
    await database.query("update kb_syncs set settings = $1", [settings]);
    await call("kb_end_sync", "handbook", run, {});
    assert.deepEqual((await begin(randomUUID())).settings, settings);
  });

  describe("troubles", () => {
    afterEach(() => database.exec("delete from kb_documents"));
    const note = (source, failure, version = /** @type {string | null} */ (null)) =>
      call("kb_note_failure", source, "name", failure, version);
    const troubles = async () =>
      (await database.query("select source, reason from kb_troubles order by source, reason")).rows.map(
        ({ source, reason }) => `${source}: ${reason}`,
      );
    const ready = (source) =>
      database.query("insert into kb_documents (source, status) values ($1, 'ready')", [source]);
    const run = async (summary, failure) => {
      const id = randomUUID();
      await begin(id);
      await call("kb_end_sync", "handbook", id, summary, failure);
    };

    test("a failure is noted in the ready document, or else in one of its own, and keeps its first time", async () => {
      await ready("handbook/a.md");
      await note("handbook/a.md", "is broken", "v2");
      await note("handbook/b.md", "is empty");
      const first = await database.query("select source, failed_at from kb_documents order by source");
      await note("handbook/a.md", "is encrypted", "v3");
      await note("handbook/b.md", "is empty");
      const { rows } = await database.query(
        "select source, status, failure, failed_version, failed_at from kb_documents order by source",
      );
      assert.deepEqual(
        rows.map(({ failed_at, ...row }) => [row, +failed_at]),
        [
          { source: "handbook/a.md", status: "ready", failure: "is encrypted", failed_version: "v3" },
          { source: "handbook/b.md", status: "failed", failure: "is empty", failed_version: null },
        ].map((row, index) => [row, +first.rows[index].failed_at]),
      );
      assert.deepEqual(await troubles(), ["handbook/a.md: is encrypted", "handbook/b.md: is empty"]);
    });

    test("a sync that failed, was interrupted or left something out is a trouble until one comes to its end", async () => {
      await ready("handbook/a.md");
      await run({}, "cannot reach the site");
      assert.deepEqual(await troubles(), ["handbook: the last sync failed: cannot reach the site"]);
      await begin(randomUUID());
      assert.deepEqual(await troubles(), []);
      await age(90);
      assert.deepEqual(await troubles(), ["handbook: the last sync was interrupted"]);
      await run({ failed: 2 });
      assert.match((await troubles()).join(), /^handbook: the last sync left out 2;/);
      await run({ failed: 0 });
      assert.deepEqual(await troubles(), []);
    });

    test("a first sync that failed leaves no collection", async () => {
      await run({}, "no such address");
      assert.deepEqual((await database.query("select from kb_syncs")).rows, []);
    });

    test("a collection that is synced every night is a trouble after a week without", async () => {
      await ready("handbook/a.md");
      await run({});
      const on = (...days) =>
        database.query(
          `update kb_syncs set succeeded_on = array(
            select (now() at time zone 'UTC')::date - ago from unnest($1::int[]) with ordinality as t(ago, at) order by at)`,
          [days],
        );
      for (const days of [
        [4, 3, 2, 1],
        [10, 9, 8, 7],
        [9, 4],
        [40, 26, 12],
      ]) {
        await on(...days);
        assert.deepEqual(await troubles(), [], days.join());
      }
      await on(11, 10, 9, 8);
      assert.deepEqual(await troubles(), ["handbook: was synced about every day before"]);
      await run({});
      const { rows } = await database.query("select cardinality(succeeded_on) as days from kb_syncs");
      assert.deepEqual([await troubles(), rows], [[], [{ days: 4 }]]);
    });
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
