import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

/** What kb watch reports about itself. */
export function watches({ database }) {
  afterEach(() => database.exec("delete from kb_watches"));

  const report = (
    event,
    /** @type {string | null} */ failure = null,
    /** @type {{ sources?: string, host?: string, interval?: number | null }} */ {
      sources = "bucket",
      host = "laptop",
      interval = 60,
    } = {},
  ) => database.query("select kb_report_watch($1, $2, $3, $4, $5)", [sources, event, host, interval, failure]);
  const rows = async () =>
    (
      await database.query(`
        select sources, host, interval_seconds as interval, seen_at >= now() - interval '1 minute' as seen,
            extract(epoch from finished_at)::float8 as finished, failure, stopped_at is not null as stopped
          from kb_watches order by sources`)
    ).rows;
  const age = () =>
    database.exec(`
      update kb_watches set seen_at = seen_at - interval '1 day', finished_at = finished_at - interval '1 day',
        stopped_at = stopped_at - interval '1 day'`);

  test("a round keeps its end and its failure until the next one has finished", async () => {
    await report("running");
    const started = { sources: "bucket", host: "laptop", interval: 60, seen: true, failure: null, stopped: false };
    assert.deepEqual(await rows(), [{ ...started, finished: null }]);
    await report("finished", "cannot reach the bucket");
    const [failed] = await rows();
    assert.equal(failed.failure, "cannot reach the bucket");
    await age();
    await report("running");
    const [again] = await rows();
    assert.deepEqual([again.seen, again.failure], [true, failed.failure]);
    assert.equal(Math.round(failed.finished - again.finished), 86_400);
    await report("finished");
    const [good] = await rows();
    assert.deepEqual([good.failure, good.finished >= failed.finished], [null, true]);
  });

  test("a stopped one says when, until it runs again", async () => {
    await report("finished", "cannot reach the bucket");
    await report("stopped");
    const [stopped] = await rows();
    assert.ok(stopped.stopped && stopped.finished);
    assert.equal(stopped.failure, "cannot reach the bucket");
    await report("running", null, { host: "server", interval: null });
    const [running] = await rows();
    assert.deepEqual([running.stopped, running.host, running.interval], [false, "server", null]);
  });

  test("each set of sources has its own row", async () => {
    await report("finished");
    await report("finished", null, { sources: "bucket, handbook" });
    assert.deepEqual(
      (await rows()).map(({ sources }) => sources),
      ["bucket", "bucket, handbook"],
    );
  });

  test("a long failure is cut off, and values that are not possible are rejected", async () => {
    await report("finished", "ü".repeat(2000));
    assert.equal((await rows())[0].failure, "ü".repeat(1000));
    await assert.rejects(report("sleeping"), /event must be running, finished or stopped/);
    await assert.rejects(report(null), /event must be running, finished or stopped/);
    await assert.rejects(report("running", null, { sources: "" }), /kb_watches_sources_size/);
    await assert.rejects(report("running", null, { interval: 0 }), /kb_watches_interval_is_positive/);
  });
}
