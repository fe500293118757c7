// Loading from unreliable networks and servers, in Node.js with a small model.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { gzip, importFakePackage, MODEL } from "./fake/package.mjs";
import * as responses from "./fake/server.mjs";

let server;
let embedderPackage;
const cleanups = [];

before(async () => {
  embedderPackage = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
  server = await responses.startServer(new Map([["embedder_bg.wasm", Buffer.from([0, 0x61, 0x73, 0x6d])]]));
});

after(async () => {
  await server.close();
  for (const cleanup of cleanups) await cleanup();
});

beforeEach(() => server.respondWith(responses.whole));

/** Loads from the server, checks that the embedder works, and returns the progress reports. */
async function load(options = {}) {
  const reports = [];
  const embedder = await embedderPackage.createEmbedder({
    modelUrl: server.modelUrl,
    onProgress: (progress) => reports.push(progress),
    ...options,
  });
  assert.equal((await embedder.embed("four")).vector[0], 4);
  embedder.dispose();
  return reports;
}

const ranges = () => server.requests.map(({ headers }) => headers.range ?? null);
const statuses = () => server.requests.map(({ response }) => response.statusCode);

/** Makes timers run fifty times faster during a test. */
function speedUpTimers(t) {
  const { setTimeout } = globalThis;
  t.after(() => Object.assign(globalThis, { setTimeout }));
  // `fetch` of Node.js gives its task arguments.
  const sooner = (task, milliseconds, ...args) => setTimeout(task, milliseconds / 50, ...args);
  Object.assign(globalThis, { setTimeout: sooner });
}

test("createEmbedder without options loads all files from the package", async () => {
  const embedder = await embedderPackage.createEmbedder();
  assert.equal(embedder.fingerprint, "00112233aabbccdd");
  assert.equal((await embedder.embed("four")).vector[0], 4);
  assert.equal(server.requests.length, 0);
});

test("progress is reported from the start to the last byte, with the total in every report", async () => {
  server.respondWith(responses.slowly(10, 60));
  const reports = await load();
  assert.equal(reports[0].phase, "start");
  assert.equal(reports.at(-1).phase, "initialize");
  assert.ok(reports.every(({ totalBytes }) => totalBytes === MODEL.length));
  const downloaded = reports.filter(({ phase }) => phase === "download").map(({ loadedBytes }) => loadedBytes);
  assert.ok(downloaded.length >= 3, `${downloaded.length} reports`);
  assert.deepEqual(
    downloaded,
    [...downloaded].sort((a, b) => a - b),
  );
  assert.equal(downloaded.at(-1), MODEL.length);
});

test("progress is reported about five times a second, because a page draws each report", async () => {
  server.respondWith(responses.slowly(40, 15));
  const started = performance.now();
  const downloaded = (await load()).filter(({ phase }) => phase === "download");
  const seconds = (performance.now() - started) / 1000;
  assert.ok(downloaded.length >= 3, `${downloaded.length} reports`);
  // The first and the last come at once.
  assert.ok(downloaded.length <= 5 * seconds + 3, `${downloaded.length} reports in ${seconds} s`);
});

test("bodies that are not byte streams are read and resumed", async (t) => {
  const { getReader } = ReadableStream.prototype;
  t.after(() => Object.assign(ReadableStream.prototype, { getReader }));
  Object.assign(ReadableStream.prototype, {
    getReader(options) {
      if (options) throw new TypeError("not a byte stream");
      return getReader.call(this);
    },
  });
  server.respondWith(responses.cutAfter(1_000_000), responses.ranged);
  await load();
  assert.deepEqual(statuses(), [200, 206]);
});

test("an onProgress callback that throws does not stop loading", async (t) => {
  const thrown = [];
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException").on("uncaughtException", (error) => thrown.push(error.message));
  t.after(() => {
    process.removeAllListeners("uncaughtException");
    for (const listener of listeners) process.on("uncaughtException", listener);
  });
  const onProgress = ({ phase }) => {
    if (phase === "initialize") throw new Error("broken listener");
  };
  const embedder = await embedderPackage.createEmbedder({ onProgress });
  embedder.dispose();
  assert.deepEqual(thrown, ["broken listener"]);
});

test("modelUrl may be the folder of the file", async () => {
  await load({ modelUrl: `${server.origin}/` });
  assert.equal(server.requests.length, 1);
});

test("a dropped download is resumed where it broke off", async () => {
  server.respondWith(responses.cutAfter(1_000_000), responses.ranged);
  await load();
  assert.deepEqual(ranges(), [null, "bytes=1000000-"]);
  assert.deepEqual(statuses(), [200, 206]);
});

test("a file that changed on the server is not mixed with its old part", async () => {
  server.respondWith(responses.cutAfter(1_000_000, { headers: { etag: '"old"' } }), responses.ranged);
  await load();
  assert.equal(server.requests[1].headers["if-range"], '"old"');
  assert.deepEqual(statuses(), [200, 200]);
});

test("a download that drops repeatedly succeeds as long as it makes progress", async (t) => {
  speedUpTimers(t);
  const part = (request, response) => {
    const start = Number(/\d+/.exec(request.headers.range ?? "0")[0]);
    response.writeHead(start > 0 ? 206 : 200, { "accept-ranges": "bytes" });
    response.write(MODEL.subarray(start, start + 300_000), () => setTimeout(() => response.destroy(), 500));
  };
  server.respondWith(part);
  await load();
  assert.equal(server.requests.length, Math.ceil(MODEL.length / 300_000));
});

test("a server that ignores the range may send the whole file again", async () => {
  server.respondWith(responses.cutAfter(1_000_000), responses.whole);
  await load();
  assert.equal(server.requests.length, 2);
});

test("a dropped compressed download restarts", async () => {
  const headers = { "content-encoding": "gzip", etag: '"x"' };
  server.respondWith(responses.cutAfter(1_000_000, { headers, content: gzip(MODEL) }), responses.gzipped);
  await load();
  assert.deepEqual(ranges(), [null, null]);
});

test("a file without Content-Length is loaded, and resumed if it ends early", async () => {
  server.respondWith(responses.endAfter(MODEL.length));
  await load();
  server.respondWith(responses.endAfter(1_500_000), (request, response) => {
    assert.equal(request.headers.range, "bytes=1500000-");
    response.writeHead(206).end(MODEL.subarray(1_500_000));
  });
  await load();
});

test("a rejected or wrong range restarts the download", async () => {
  const wrongPlace = responses.status(206, { "content-range": "bytes 7-8/9" });
  for (const rejection of [responses.status(416), wrongPlace]) {
    server.respondWith(responses.cutAfter(1_000_000), rejection, responses.whole);
    await load();
    assert.deepEqual(ranges(), [null, "bytes=1000000-", null]);
  }
});

test("a dropped download continues with pieces if the host serves them, and restarts if they are gone", async () => {
  const dropped = responses.cutAfter(1_000_000, { headers: responses.PIECES });
  const pieces = () => server.requests.map(({ path }) => /\.piece\d$/.exec(path)?.[0]);
  server.respondWith(dropped, responses.inPieces);
  await load();
  assert.deepEqual(pieces(), [undefined, ".piece1", ".piece2", ".piece3"]);
  server.respondWith(dropped, responses.status(404), responses.whole);
  await load();
  assert.deepEqual(pieces(), [undefined, ".piece1", undefined]);
});

test("a piece that is cut is requested again, and one of a wrong length is not joined", async (t) => {
  speedUpTimers(t);
  server.respondWith(
    responses.cutAfter(1_000_000, { headers: responses.PIECES }),
    responses.cutAfter(300_000 + 50_000, { content: MODEL.subarray(700_000, 1_400_000) }),
    responses.inPieces,
  );
  await load();
  assert.equal(server.requests[2].path.at(-1), "1");
  const longer = (_request, response) => response.writeHead(200).end(MODEL);
  server.respondWith(responses.cutAfter(1_000_000, { headers: responses.PIECES }), longer, responses.whole);
  await load();
});

test("parts of two different files are detected, and the file is downloaded again", async () => {
  const unrelatedPart = (_request, response) => response.writeHead(206).end(Buffer.alloc(MODEL.length - 1_000_000));
  server.respondWith(responses.cutAfter(1_000_000), unrelatedPart, responses.whole);
  await load();
  assert.deepEqual(statuses(), [200, 206, 200]);
});

test("a busy or unreachable server is retried", async () => {
  server.respondWith(responses.status(503), responses.unreachable, responses.whole);
  await load();
  assert.equal(server.requests.length, 3);
});

test("a failed fetch of the WebAssembly module is retried by the next createEmbedder", async () => {
  const fresh = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
  let requests = 0;
  const wasm = server.files.get("embedder_bg.wasm");
  server.files = { get: () => (requests++ === 0 ? undefined : wasm) };
  await assert.rejects(fresh.createEmbedder({ modelUrl: server.modelUrl, wasmUrl: server.wasmUrl }), {
    code: "network",
    message: /status 404.*wasmUrl/,
  });
  const embedder = await fresh.createEmbedder({ modelUrl: server.modelUrl, wasmUrl: server.wasmUrl });
  embedder.dispose();
  assert.equal(requests, 2, "a failed start can be retried");
});

for (const { name, hasRelaxedSimd } of [
  { name: "embedder_relaxed_bg.wasm", hasRelaxedSimd: true },
  { name: "embedder_bg.wasm", hasRelaxedSimd: false },
]) {
  test(`wasmUrl with a folder fetches only ${name} ${hasRelaxedSimd ? "with" : "without"} relaxed SIMD`, async (t) => {
    const { validate } = WebAssembly;
    t.after(() => Object.assign(WebAssembly, { validate }));
    WebAssembly.validate = (module) => (isRelaxed(module) ? hasRelaxedSimd : validate(module));
    const names = [];
    server.files = { get: (path) => names.push(path) && Buffer.from([0, 0x61, 0x73, 0x6d]) };
    const create = async (wasmUrl) => {
      // A fresh copy, since a module is started only once.
      const fresh = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
      (await fresh.createEmbedder({ modelUrl: server.modelUrl, wasmUrl })).dispose();
    };
    await create(`${server.origin}/wasm/`);
    assert.deepEqual(names.splice(0), [`wasm/${name}`]);
    await create(`${server.origin}/any.wasm`);
    assert.deepEqual(names, ["any.wasm"], "a file URL is used unchanged");
  });
}

/** Whether a module contains `i32x4.relaxed_dot_i8x16_i7x16_add_s`. */
const isRelaxed = (module) => Buffer.from(module).includes(Buffer.from([0xfd, 0x93, 0x02]));

test("a download that always drops at the same byte is given up", async (t) => {
  speedUpTimers(t);
  server.respondWith(responses.cutAfter(500_000));
  await assert.rejects(load(), { name: "EmbedderError", code: "network", message: /500000 of 2500000 bytes/ });
  assert.ok(server.requests.length <= 10, `${server.requests.length} requests`);
});

test("a URL without the model is not retried, and the error names the option to check", async () => {
  for (const [handler, message] of [
    [responses.status(404), /status 404\. Check modelUrl/],
    [responses.status(403), /status 403/],
    [responses.webPage, /is a web page, not the file/],
  ]) {
    server.respondWith(handler);
    await assert.rejects(load(), { name: "EmbedderError", code: "network", message });
    assert.equal(server.requests.length, 1);
  }
});

test("error messages omit the query of a signed URL", async () => {
  server.respondWith(responses.status(403));
  await assert.rejects(
    load({ modelUrl: `${server.modelUrl}?signature=secret` }),
    (/** @type {import("../src/index.ts").EmbedderError} */ error) => {
      assert.doesNotMatch(error.message, /secret/);
      return error.code === "network";
    },
  );
});

test("a file that is not the model rejects with code integrity and names the file to deploy", async () => {
  server.respondWith(responses.anotherFile);
  await assert.rejects(load(), {
    code: "integrity",
    message: /not the model .*has 1000 bytes instead of 2500000.*Deploy/,
  });
  server.respondWith(responses.damaged);
  await assert.rejects(load(), {
    code: "integrity",
    message: /its SHA-256 is .*Deploy all-MiniLM-L6-v2-int8-00000000\.safetensors\.gz/,
  });
  const longer = (_request, response) => response.writeHead(200).end(Buffer.alloc(MODEL.length + 1));
  server.respondWith(longer);
  await assert.rejects(load(), { code: "integrity" });
});

test("without crypto.subtle, WebAssembly verifies the checksum", async (t) => {
  const crypto = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  t.after(() => Object.defineProperty(globalThis, "crypto", crypto));
  Object.defineProperty(globalThis, "crypto", { configurable: true, value: {} });
  await load();
  server.respondWith(responses.damaged);
  await assert.rejects(load(), { code: "integrity", message: /wrong checksum/ });
});

test("a missing file on disk is named in the error", async () => {
  await assert.rejects(load({ modelUrl: new URL("missing/", embedderPackage.url) }), {
    code: "network",
    message: /missing\/all-MiniLM.*Check that the file is there/,
  });
});

test("loading without progress rejects with code timeout; slow progress does not", async () => {
  server.respondWith(responses.stallAfter(1000));
  await assert.rejects(load({ timeoutMs: 150 }), { code: "timeout", message: /0\.15 seconds.*try again/ });
  server.respondWith(responses.slowly(20, 75));
  await load({ timeoutMs: 1000 });
});

test("a WebAssembly module that arrives slowly is progress for all who wait for it; one that stalls is not", async () => {
  const loadFresh = async (module, timeoutMs, callers) => {
    // A fresh copy, since a module is started only once.
    const fresh = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
    server.files = new Map([["embedder_bg.wasm", module]]);
    const options = { modelUrl: server.modelUrl, wasmUrl: server.wasmUrl, timeoutMs };
    const embedders = await Promise.all(Array.from({ length: callers }, () => fresh.createEmbedder(options)));
    for (const embedder of embedders) embedder.dispose();
  };
  await loadFresh(responses.slowModule(28, 90), 2000, 2);
  const stalling = (_request, response) => response.writeHead(200).write(Buffer.from([0, 0x61]));
  await assert.rejects(loadFresh(stalling, 150, 1), { code: "timeout" });
});

test("aborting the signal stops the download", async () => {
  let closed;
  const isClosed = new Promise((resolve) => (closed = resolve));
  server.respondWith((request, response) => {
    request.socket.once("close", closed);
    responses.stallAfter(1000)(request, response);
  });
  const controller = new AbortController();
  const reason = new Error("no longer wanted");
  const loading = load({
    signal: controller.signal,
    onProgress: ({ phase }) => phase === "download" && controller.abort(reason),
  });
  await assert.rejects(
    loading,
    (/** @type {import("../src/index.ts").EmbedderError} */ error) =>
      error.code === "aborted" && error.cause === reason,
  );
  await isClosed;
});

test("an aborted signal rejects before the first request", async () => {
  await assert.rejects(load({ signal: AbortSignal.abort() }), { code: "aborted" });
  assert.equal(server.requests.length, 0);
});

test("an invalid option rejects with code bad_input and is named", async () => {
  for (const [options, message] of [
    [{ modelUrl: "models/" }, /modelUrl is not a URL.*must be absolute/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ timeoutMs: "15" }, /timeoutMs/],
    [{ mode: "thread" }, /mode must be "worker" or "inline"/],
  ]) {
    await assert.rejects(embedderPackage.createEmbedder(options), { code: "bad_input", message });
  }
});

test("an environment without WebAssembly rejects with code unsupported_browser before any request", async (t) => {
  const { WebAssembly } = globalThis;
  t.after(() => Object.assign(globalThis, { WebAssembly }));
  assert.equal(embedderPackage.isSupported(), true);
  assert.equal(embedderPackage.isSupported("worker"), false, "Node has no Worker");
  await assert.rejects(load({ mode: "worker" }), {
    code: "unsupported_browser",
    message: /does not support module workers/,
  });
  const { timeout } = AbortSignal;
  t.after(() => Object.assign(AbortSignal, { timeout }));
  delete AbortSignal.timeout;
  await assert.rejects(load(), { code: "unsupported_browser", message: /does not support AbortSignal\.timeout\. Use/ });
  delete globalThis.WebAssembly;
  assert.equal(embedderPackage.isSupported(), false);
  await assert.rejects(load(), { code: "unsupported_browser", message: /does not support WebAssembly\. Use Chrome/ });
  Object.assign(globalThis, { WebAssembly: { validate: () => false } });
  await assert.rejects(load(), { code: "unsupported_browser", message: /does not support WebAssembly with SIMD/ });
  assert.equal(server.requests.length, 0);
});

test("without the Cache API isCached returns false and clearCache does nothing", async () => {
  assert.equal(globalThis.caches, undefined);
  assert.equal(await embedderPackage.isCached(), false);
  await embedderPackage.clearCache();
});
