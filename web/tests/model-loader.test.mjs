import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { EmbedderError, ModelLoader } = await importTs(new URL("model-loader-entry.ts", import.meta.url));

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const progress = { phase: "download", loadedBytes: 1, totalBytes: 2 };

/** A loader whose attempts the test controls: `attempts` has the hooks of each. */
function playedLoader(mustAsk = async () => false) {
  const attempts = [];
  const statuses = [];
  const create = (hooks) => new Promise((resolve, reject) => attempts.push({ ...hooks, resolve, reject }));
  const loader = new ModelLoader({ create, mustAsk, onChange: ({ status }) => statuses.push(status) });
  const embedder = {
    disposed: false,
    dispose() {
      this.disposed = true;
    },
  };
  return { loader, attempts, statuses, embedder };
}

test("loading starts once and gives the embedder to all waiting callers", async () => {
  const { loader, attempts, embedder } = playedLoader();
  const waiting = [loader.ready(), loader.ready()];
  loader.load();
  await settled();
  assert.equal(attempts.length, 1);
  attempts[0].resolve(embedder);
  assert.deepEqual(await Promise.all(waiting), [embedder, embedder]);
  assert.equal(await loader.ready(), embedder);
});

test("a retry after a time-out or a failure serves the callers that wait since the first attempt", async () => {
  for (const [code, status] of [
    ["timeout", "timed_out"],
    ["network", "failed"],
  ]) {
    const { loader, attempts, statuses, embedder } = playedLoader();
    const waiting = loader.ready();
    await settled();
    attempts[0].onProgress(progress);
    attempts[0].reject(new EmbedderError(code, "No."));
    await settled();
    assert.equal(loader.state.status, status);
    loader.load();
    await settled();
    attempts[1].resolve(embedder);
    assert.equal(await waiting, embedder);
    assert.deepEqual(statuses, ["loading", "loading", status, "loading", "ready"]);
  }
});

test("an attempt that finishes after it was cancelled is discarded", async () => {
  const { loader, attempts, embedder } = playedLoader();
  loader.load();
  await settled();
  loader.unload();
  assert.ok(attempts[0].signal.aborted);
  attempts[0].onProgress(progress);
  attempts[0].resolve(embedder);
  await settled();
  assert.equal(loader.state.status, "idle");
  assert.ok(embedder.disposed);
});

test("an unsupported browser is not tried again", async () => {
  const { loader, attempts } = playedLoader();
  const waiting = loader.ready();
  await settled();
  attempts[0].reject(new EmbedderError("unsupported_browser", "No."));
  await assert.rejects(waiting, { code: "unsupported_browser" });
  loader.load();
  await settled();
  assert.equal(attempts.length, 1);
  await assert.rejects(loader.ready(), { code: "unsupported_browser" });
});

test("unloading disposes of the embedder, and the next load creates a new one", async () => {
  const { loader, attempts, statuses, embedder } = playedLoader();
  loader.load();
  await settled();
  attempts[0].resolve(embedder);
  await loader.ready();
  loader.unload();
  assert.ok(embedder.disposed);
  loader.load();
  await settled();
  assert.equal(attempts.length, 2);
  assert.deepEqual(statuses, ["loading", "ready", "idle", "loading"]);
  const waiting = loader.ready();
  loader.unload();
  await assert.rejects(waiting, { code: "aborted" });
});

test("nothing is loaded before consent, and consent is asked for once", async () => {
  let asked = 0;
  const { loader, attempts, statuses, embedder } = playedLoader(async () => ++asked > 0);
  const waiting = loader.ready();
  await settled();
  loader.load();
  await settled();
  assert.equal(attempts.length, 0);
  assert.deepEqual(statuses, ["loading", "consent"]);
  loader.allow();
  await settled();
  attempts[0].reject(new EmbedderError("network", "No."));
  await settled();
  loader.load();
  await settled();
  attempts[1].resolve(embedder);
  assert.equal(await waiting, embedder);
  assert.equal(asked, 1);
  assert.deepEqual(statuses, ["loading", "consent", "loading", "failed", "loading", "ready"]);
});

test("a loader that is unloaded while it checks for consent neither asks nor loads", async () => {
  /** @type {(isNeeded: boolean) => void} */
  let answer;
  const { loader, attempts, statuses } = playedLoader(() => new Promise((resolve) => (answer = resolve)));
  loader.load();
  loader.unload();
  answer(true);
  await settled();
  assert.equal(attempts.length, 0);
  assert.deepEqual(statuses, ["loading", "idle"]);
});
