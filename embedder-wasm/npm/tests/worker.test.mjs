// The page's side of the worker, with the worker's side played.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { importFakePackage } from "./fake/package.mjs";

/** Plays the worker; `last` is the newest one. */
class PlayedWorker {
  static last;
  requests = [];
  isTerminated = false;

  constructor(url, options) {
    // As a browser does: read the options, then the address.
    const type = options?.type;
    this.url = new URL(url);
    assert.equal(type, "module");
    PlayedWorker.last = this;
  }

  postMessage(request) {
    this.requests.push(request);
  }

  reply(data) {
    this.onmessage({ data });
  }

  die(message) {
    this.onerror({ message, preventDefault() {} });
  }

  terminate() {
    this.isTerminated = true;
  }
}

let createEmbedder, isSupported;

beforeEach(async (t) => {
  globalThis.Worker = PlayedWorker;
  globalThis.location = new URL("https://example.com/page");
  ({ createEmbedder, isSupported } = await importFakePackage(t));
});

afterEach(() => {
  delete globalThis.Worker;
  delete globalThis.location;
});

const options = { workerUrl: "worker.js", wasmUrl: "e.wasm", modelUrl: "/models/" };
const vectors = (value) => {
  const numbers = new Float32Array(384);
  numbers[0] = value;
  return { vectors: numbers, tokens: Uint32Array.of(3), truncated: Uint8Array.of(0) };
};

async function loaded() {
  const loading = createEmbedder(options);
  const worker = PlayedWorker.last;
  worker.reply({ type: "ready", fingerprint: "f1" });
  return { worker, embedder: await loading };
}

test("where there are workers, one is started and told absolute addresses", async () => {
  const { worker, embedder } = await loaded();
  assert.equal(embedder.fingerprint, "f1");
  assert.equal(worker.url.href, "https://example.com/worker.js");
  assert.deepEqual(worker.requests, [
    {
      type: "load",
      modelUrl: "https://example.com/models/all-MiniLM-L6-v2-int8.safetensors",
      wasmUrl: "https://example.com/e.wasm",
      cache: true,
    },
  ]);
});

test("a script from another origin is started through a module of the page's own", async () => {
  const loading = createEmbedder({ ...options, workerUrl: "https://cdn.example.net/worker.js" });
  const worker = PlayedWorker.last;
  assert.equal(worker.url.protocol, "blob:");
  worker.reply({ type: "ready", fingerprint: "f1" });
  await loading;
});

test("answers in any order reach the call with their id", async () => {
  const { worker, embedder } = await loaded();
  const [first, second, third] = [embedder.embed("a"), embedder.embed("b"), embedder.embed("c")];
  await Promise.resolve();
  const ids = worker.requests.slice(1).map(({ id }) => id);
  worker.reply({ type: "embedded", id: ids[2], ...vectors(3) });
  worker.reply({ type: "call_failed", id: ids[1], message: "bad" });
  worker.reply({ type: "embedded", id: ids[0], ...vectors(1) });
  assert.equal((await first).vector[0], 1);
  await assert.rejects(second, { code: "bad_input", message: "bad" });
  assert.equal((await third).vector[0], 3);
});

test("a count and an embedding with ids side by side are not mistaken for each other", async () => {
  const { worker, embedder } = await loaded();
  const [embedding, count] = [embedder.embed("a"), embedder.countTokens("b")];
  await Promise.resolve();
  const [first, second] = worker.requests.slice(1);
  assert.deepEqual([first.type, second], ["embed", { type: "count", id: second.id, text: "b" }]);
  worker.reply({ type: "counted", id: second.id, tokens: 3 });
  worker.reply({ type: "embedded", id: first.id, ...vectors(1) });
  assert.equal(await count, 3);
  assert.equal((await embedding).vector[0], 1);
});

test("a cancelled call is taken back, and an answer that comes all the same is ignored", async () => {
  const { worker, embedder } = await loaded();
  const controller = new AbortController();
  const call = embedder.embed("a", { signal: controller.signal });
  await Promise.resolve();
  const { id } = worker.requests.at(-1);
  controller.abort();
  await assert.rejects(call, { code: "aborted" });
  assert.deepEqual(worker.requests.at(-1), { type: "cancel", id });
  worker.reply({ type: "embedded", id, ...vectors(1) });
});

test("a load that fails rejects with the worker's code and ends the worker", async () => {
  const loading = createEmbedder(options);
  PlayedWorker.last.reply({ type: "load_failed", code: "integrity", message: "wrong file" });
  await assert.rejects(loading, { name: "EmbedderError", code: "integrity", message: "wrong file" });
  assert.ok(PlayedWorker.last.isTerminated);
});

test("a worker whose script cannot be loaded is told apart, with what to check", async () => {
  const loading = createEmbedder(options);
  PlayedWorker.last.die("");
  await assert.rejects(loading, { code: "network", message: /workerUrl.*worker-src/ });
  assert.ok(PlayedWorker.last.isTerminated);
});

test("an abort while loading ends the worker", async () => {
  const controller = new AbortController();
  const loading = createEmbedder({ ...options, signal: controller.signal });
  controller.abort();
  await assert.rejects(loading, { code: "aborted" });
  assert.ok(PlayedWorker.last.isTerminated);
});

test("a silent worker times out; one that reports does not", async () => {
  const loading = createEmbedder({ ...options, timeoutMs: 80 });
  const worker = PlayedWorker.last;
  for (let report = 0; report < 6; report++) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    worker.reply({ type: "progress", progress: { phase: "download", loadedBytes: report, totalBytes: 9 } });
    assert.equal(worker.isTerminated, false);
  }
  await assert.rejects(loading, { code: "timeout" });
  assert.ok(worker.isTerminated);
});

test("a worker that dies rejects everything pending and everything later", async () => {
  const { worker, embedder } = await loaded();
  const pending = [embedder.embed("a"), embedder.embedBatch(["b"])];
  worker.die("out of memory");
  for (const call of pending) await assert.rejects(call, { code: "crashed", message: /out of memory/ });
  await assert.rejects(embedder.embed("c"), { code: "crashed" });
  assert.ok(worker.isTerminated);
});

test("a browser that reads no worker type has no module workers", async () => {
  assert.equal(isSupported(), true);
  const started = PlayedWorker.last;
  globalThis.Worker = class {
    terminate() {}
  };
  assert.equal(isSupported(), false);
  await assert.rejects(createEmbedder(options), { code: "unsupported_browser", message: /no module workers/ });
  assert.equal(PlayedWorker.last, started, "asking starts no worker");
});
