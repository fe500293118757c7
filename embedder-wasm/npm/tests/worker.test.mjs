// The page's side of the worker protocol, with a fake worker.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { importFakePackage, MODEL_FILE, READER_FILE } from "./fake/package.mjs";

/** A fake worker; `last` is the newest one. */
class FakeWorker {
  static last;
  requests = [];
  isTerminated = false;
  /** @type {(event: { data: unknown }) => void} */
  onmessage;
  /** @type {(event: { message: string, preventDefault(): void }) => void} */
  onerror;

  constructor(url, options) {
    // Like a browser, reads the options before the URL.
    const type = options?.type;
    this.url = new URL(url);
    assert.equal(type, "module");
    FakeWorker.last = this;
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
  Object.assign(globalThis, { Worker: FakeWorker, location: new URL("https://example.com/page") });
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
  const worker = FakeWorker.last;
  worker.reply({ type: "ready", fingerprint: "f1" });
  return { worker, embedder: await loading };
}

test("createEmbedder starts a worker if there are workers, and sends it absolute URLs", async () => {
  const { worker, embedder } = await loaded();
  assert.equal(embedder.fingerprint, "f1");
  assert.equal(worker.url.href, "https://example.com/worker.js");
  assert.deepEqual(worker.requests, [
    {
      type: "load",
      modelUrl: `https://example.com/models/${MODEL_FILE}`,
      wasmUrl: "https://example.com/e.wasm",
      cache: true,
    },
  ]);
});

test("a worker script on another origin is started through a blob: module", async () => {
  const loading = createEmbedder({ ...options, workerUrl: "https://cdn.example.net/worker.js" });
  const worker = FakeWorker.last;
  assert.equal(worker.url.protocol, "blob:");
  worker.reply({ type: "ready", fingerprint: "f1" });
  await loading;
});

test("replies in any order settle the call with their id", async () => {
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

test("the reader is loaded from its URL, and then a read is sent with its passages", async () => {
  const { worker, embedder } = await loaded();
  const passages = [{ heading: "h", statements: ["s"], id: Symbol("cannot be sent") }];
  const read = embedder.readPassages("q", passages);
  await Promise.resolve();
  const readerUrl = `https://example.com/models/${READER_FILE}`;
  assert.deepEqual(worker.requests.slice(1), [{ type: "load_reader", readerUrl }]);
  worker.reply({ type: "reader_ready" });
  await new Promise((resolve) => setTimeout(resolve));
  const { id, ...request } = worker.requests.at(-1);
  assert.deepEqual(request, { type: "read", question: "q", passages: [{ heading: "h", statements: ["s"] }] });
  worker.reply({ type: "passages_read", id, scores: [[1.5]] });
  assert.deepEqual(await read, [[1.5]]);
});

test("an abort while the reader is loaded stops the load in the worker", async () => {
  const { worker, embedder } = await loaded();
  const controller = new AbortController();
  const read = embedder.readPassages("q", [], { signal: controller.signal });
  await Promise.resolve();
  controller.abort();
  await assert.rejects(read, { code: "aborted" });
  assert.deepEqual(worker.requests.at(-1), { type: "stop_reader" });
});

test("a worker that dies while the reader is loaded rejects the load with code crashed", async () => {
  const { worker, embedder } = await loaded();
  const load = embedder.loadReader();
  worker.die("out of memory");
  await assert.rejects(load, { code: "crashed" });
});

test("a cancelled call is cancelled in the worker, and a late reply is ignored", async () => {
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

test("a failed load rejects with the worker's code and terminates the worker", async () => {
  const loading = createEmbedder(options);
  FakeWorker.last.reply({ type: "load_failed", code: "integrity", message: "wrong file" });
  await assert.rejects(loading, { name: "EmbedderError", code: "integrity", message: "wrong file" });
  assert.ok(FakeWorker.last.isTerminated);
});

test("a worker script that cannot be loaded rejects with code network and says what to check", async () => {
  const loading = createEmbedder(options);
  FakeWorker.last.die("");
  await assert.rejects(loading, { code: "network", message: /workerUrl.*worker-src/ });
  assert.ok(FakeWorker.last.isTerminated);
});

test("aborting during loading terminates the worker", async () => {
  const controller = new AbortController();
  const loading = createEmbedder({ ...options, signal: controller.signal });
  controller.abort();
  await assert.rejects(loading, { code: "aborted" });
  assert.ok(FakeWorker.last.isTerminated);
});

test("a worker without progress reports rejects with code timeout; one with reports does not", async () => {
  const loading = createEmbedder({ ...options, timeoutMs: 80 });
  const worker = FakeWorker.last;
  for (let report = 0; report < 6; report++) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    worker.reply({ type: "progress", progress: { phase: "download", loadedBytes: report, totalBytes: 9 } });
    assert.equal(worker.isTerminated, false);
  }
  await assert.rejects(loading, { code: "timeout" });
  assert.ok(worker.isTerminated);
});

test("a worker that dies rejects all pending and later calls with code crashed", async () => {
  const { worker, embedder } = await loaded();
  const pending = [embedder.embed("a"), embedder.embedBatch(["b"])];
  worker.die("out of memory");
  for (const call of pending) await assert.rejects(call, { code: "crashed", message: /out of memory/ });
  await assert.rejects(embedder.embed("c"), { code: "crashed" });
  assert.ok(worker.isTerminated);
});

test("isSupported returns false if the browser ignores the worker type module", async () => {
  assert.equal(isSupported(), true);
  const started = FakeWorker.last;
  class WithoutModules {
    terminate() {}
  }
  Object.assign(globalThis, { Worker: WithoutModules });
  assert.equal(isSupported(), false);
  await assert.rejects(createEmbedder(options), {
    code: "unsupported_browser",
    message: /does not support module workers/,
  });
  assert.equal(FakeWorker.last, started, "the check starts no worker");
});
