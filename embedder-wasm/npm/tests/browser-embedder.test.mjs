import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../../tests/lib/import-ts.mjs";

const { BrowserEmbedder, EmbedderError } = await importTs(new URL("../src/index.ts", import.meta.url));

/** Plays the worker's side of the channel. */
class PlayedWorker {
  requests = [];
  terminated = false;

  postMessage(request) {
    this.requests.push(request);
  }

  reply(data) {
    this.onmessage({ data });
  }

  crash(message) {
    this.onerror({ message, preventDefault() {} });
  }

  terminate() {
    this.terminated = true;
  }
}

const urls = { modelUrl: "http://x/model/", wasmUrl: "http://x/embedder_bg.wasm" };
const embedding = (value) => ({ vector: Float32Array.of(value), tokenCount: 3, truncated: false });

async function loaded() {
  const worker = new PlayedWorker();
  const loading = BrowserEmbedder.load(worker, urls);
  worker.reply({ type: "ready", fingerprint: "f1" });
  return { worker, embedder: await loading };
}

test("loading reports progress and gives the fingerprint", async () => {
  const worker = new PlayedWorker();
  const reports = [];
  const loading = BrowserEmbedder.load(worker, { ...urls, onProgress: (progress) => reports.push(progress) });
  const progress = { phase: "download", loadedBytes: 1, totalBytes: 2 };
  worker.reply({ type: "progress", progress });
  worker.reply({ type: "ready", fingerprint: "f1" });
  assert.equal((await loading).fingerprint, "f1");
  assert.deepEqual(reports, [progress]);
  assert.deepEqual(worker.requests, [{ type: "load", ...urls }]);
});

test("a failed load rejects with the worker's code and ends the worker", async () => {
  const worker = new PlayedWorker();
  const loading = BrowserEmbedder.load(worker, urls);
  worker.reply({ type: "load_failed", code: "download_failed", message: "404" });
  await assert.rejects(loading, { name: "EmbedderError", code: "download_failed", message: "404" });
  assert.ok(worker.terminated);
});

test("a worker whose script does not load rejects", async () => {
  const worker = new PlayedWorker();
  const loading = BrowserEmbedder.load(worker, urls);
  worker.crash("");
  await assert.rejects(loading, { code: "initialization_failed" });
});

test("an abort ends the worker and rejects with the signal's reason", async () => {
  const worker = new PlayedWorker();
  const controller = new AbortController();
  const loading = BrowserEmbedder.load(worker, { ...urls, signal: controller.signal });
  const reason = new Error("no longer wanted");
  controller.abort(reason);
  await assert.rejects(loading, (thrown) => thrown === reason);
  assert.ok(worker.terminated);
});

test("replies in any order reach the request with their id", async () => {
  const { worker, embedder } = await loaded();
  const [first, second, third] = [embedder.embed("a"), embedder.embed("b"), embedder.embed("c")];
  const ids = worker.requests.slice(1).map(({ id }) => id);
  worker.reply({ type: "embedded", id: ids[2], embedding: embedding(3) });
  worker.reply({ type: "embed_failed", id: ids[1], message: "bad" });
  worker.reply({ type: "embedded", id: ids[0], embedding: embedding(1) });
  assert.equal((await first).vector[0], 1);
  await assert.rejects(second, { code: "embedding_failed", message: "bad" });
  assert.equal((await third).vector[0], 3);
});

test("a crash rejects everything pending and everything after", async () => {
  const { worker, embedder } = await loaded();
  const pending = [embedder.embed("a"), embedder.embed("b")];
  worker.crash("unreachable");
  for (const request of pending) await assert.rejects(request, { code: "embedding_failed", message: /unreachable/ });
  await assert.rejects(embedder.embed("c"), { code: "embedding_failed" });
  assert.ok(worker.terminated);
});

test("a disposed embedder rejects what is pending and what comes", async () => {
  const { worker, embedder } = await loaded();
  const pending = embedder.embed("a");
  embedder.dispose();
  await assert.rejects(pending, (thrown) => thrown instanceof EmbedderError && thrown.code === "disposed");
  await assert.rejects(embedder.embed("b"), { code: "disposed" });
  assert.ok(worker.terminated);
});
