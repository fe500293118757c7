// What loading makes of bad networks and servers, in Node with a small model.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { importFakePackage, MODEL } from "./fake/package.mjs";
import * as answer from "./fake/server.mjs";

let server;
let embedderPackage;
const cleanups = [];

before(async () => {
  embedderPackage = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
  server = await answer.startServer(new Map([["embedder_bg.wasm", Buffer.from([0, 0x61, 0x73, 0x6d])]]));
});

after(async () => {
  await server.close();
  for (const cleanup of cleanups) await cleanup();
});

beforeEach(() => server.play(answer.whole));

/** Loads from the server, checks that the embedder works, and returns the phases and byte counts reported. */
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

/** Makes timers run fifty times faster for the time of a test. */
function hurry(t) {
  const { setTimeout } = globalThis;
  t.after(() => Object.assign(globalThis, { setTimeout }));
  globalThis.setTimeout = (task, milliseconds) => setTimeout(task, milliseconds / 50);
}

test("without options, everything comes from the package itself", async () => {
  const embedder = await embedderPackage.createEmbedder();
  assert.equal(embedder.fingerprint, "00112233aabbccdd");
  assert.equal((await embedder.embed("four")).vector[0], 4);
  assert.equal(server.requests.length, 0);
});

test("progress runs from the start to the last byte, with the total known from the first report", async () => {
  server.play(answer.slowly(10, 20));
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

test("bodies that cannot be read into memory of ours are read all the same", async (t) => {
  const { getReader } = ReadableStream.prototype;
  t.after(() => Object.assign(ReadableStream.prototype, { getReader }));
  ReadableStream.prototype.getReader = function (options) {
    if (options) throw new TypeError("not a byte stream");
    return getReader.call(this);
  };
  server.play(answer.cutAfter(1_000_000), answer.ranged);
  await load();
  assert.deepEqual(statuses(), [200, 206]);
});

test("a listener that throws does not stop the loading", async (t) => {
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

test("a folder may be given instead of the file", async () => {
  await load({ modelUrl: `${server.origin}/` });
  assert.equal(server.requests.length, 1);
});

test("a dropped connection is resumed where it broke off", async () => {
  server.play(answer.cutAfter(1_000_000), answer.ranged);
  await load();
  assert.deepEqual(ranges(), [null, "bytes=1000000-"]);
  assert.deepEqual(statuses(), [200, 206]);
});

test("a file that changed meanwhile is not mixed with its old part", async () => {
  server.play(answer.cutAfter(1_000_000, { headers: { etag: '"old"' } }), answer.ranged);
  await load();
  assert.equal(server.requests[1].headers["if-range"], '"old"');
  assert.deepEqual(statuses(), [200, 200]);
});

test("a connection that breaks off again and again gets the file through as long as it gets further", async (t) => {
  hurry(t);
  const part = (request, response) => {
    const start = Number(/\d+/.exec(request.headers.range ?? "0")[0]);
    response.writeHead(start > 0 ? 206 : 200, { "accept-ranges": "bytes" });
    response.write(MODEL.subarray(start, start + 300_000), () => setTimeout(() => response.destroy(), 500));
  };
  server.play(part);
  await load();
  assert.equal(server.requests.length, Math.ceil(MODEL.length / 300_000));
});

test("a server that ignores the range sends the whole file again", async () => {
  server.play(answer.cutAfter(1_000_000), answer.whole);
  await load();
  assert.equal(server.requests.length, 2);
});

test("a compressed download cannot be resumed, so it starts over", async () => {
  const headers = { "content-encoding": "gzip", etag: '"x"' };
  server.play(answer.cutAfter(1_000_000, { headers, content: gzipSync(MODEL) }), answer.gzipped);
  await load();
  assert.deepEqual(ranges(), [null, null]);
});

test("a file without a length is loaded, and one that ends early is resumed", async () => {
  server.play(answer.endAfter(MODEL.length));
  await load();
  server.play(answer.endAfter(1_500_000), (request, response) => {
    assert.equal(request.headers.range, "bytes=1500000-");
    response.writeHead(206).end(MODEL.subarray(1_500_000));
  });
  await load();
});

test("a range that the server cannot or will not give starts over", async () => {
  const wrongPlace = answer.status(206, { "content-range": "bytes 7-8/9" });
  for (const refusal of [answer.status(416), wrongPlace]) {
    server.play(answer.cutAfter(1_000_000), refusal, answer.whole);
    await load();
    assert.deepEqual(ranges(), [null, "bytes=1000000-", null]);
  }
});

test("parts of two different files are noticed, and the file is fetched afresh", async () => {
  const foreignPart = (_request, response) => response.writeHead(206).end(Buffer.alloc(MODEL.length - 1_000_000));
  server.play(answer.cutAfter(1_000_000), foreignPart, answer.whole);
  await load();
  assert.deepEqual(statuses(), [200, 206, 200]);
});

test("a busy or unreachable server is asked again", async () => {
  server.play(answer.status(503), answer.unreachable, answer.whole);
  await load();
  assert.equal(server.requests.length, 3);
});

test("the WebAssembly module is asked for again, too", async () => {
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
  assert.equal(requests, 2, "a failed start can be tried again");
});

for (const [name, hasRelaxedSimd] of [
  ["embedder_relaxed_bg.wasm", true],
  ["embedder_bg.wasm", false],
]) {
  test(`of a folder, ${name} alone is fetched ${hasRelaxedSimd ? "with" : "without"} relaxed SIMD`, async (t) => {
    const { validate } = WebAssembly;
    t.after(() => Object.assign(WebAssembly, { validate }));
    WebAssembly.validate = (module) => (isRelaxed(module) ? hasRelaxedSimd : validate(module));
    const names = [];
    server.files = { get: (path) => names.push(path) && Buffer.from([0, 0x61, 0x73, 0x6d]) };
    const create = async (wasmUrl) => {
      // Anew, since a module is started only once.
      const fresh = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
      (await fresh.createEmbedder({ modelUrl: server.modelUrl, wasmUrl })).dispose();
    };
    await create(`${server.origin}/wasm/`);
    assert.deepEqual(names.splice(0), [`wasm/${name}`]);
    await create(`${server.origin}/any.wasm`);
    assert.deepEqual(names, ["any.wasm"], "a file is taken as it is");
  });
}

/** Whether a module has `i32x4.relaxed_dot_i8x16_i7x16_add_s`. */
const isRelaxed = (module) => Buffer.from(module).includes(Buffer.from([0xfd, 0x93, 0x02]));

test("a server that always breaks off at the same place is given up", async (t) => {
  hurry(t);
  server.play(answer.cutAfter(500_000));
  await assert.rejects(load(), { name: "EmbedderError", code: "network", message: /500000 of 2500000 bytes/ });
  assert.ok(server.requests.length <= 10, `${server.requests.length} requests`);
});

test("an address without the model is not asked twice, and the option to check is named", async () => {
  for (const [play, message] of [
    [answer.status(404), /status 404\. Check modelUrl/],
    [answer.status(403), /status 403/],
    [answer.webPage, /is a web page, not the file/],
  ]) {
    server.play(play);
    await assert.rejects(load(), { name: "EmbedderError", code: "network", message });
    assert.equal(server.requests.length, 1);
  }
});

test("messages do not repeat what a signed address keeps secret", async () => {
  server.play(answer.status(403));
  await assert.rejects(load({ modelUrl: `${server.modelUrl}?signature=secret` }), (error) => {
    assert.doesNotMatch(error.message, /secret/);
    return error.code === "network";
  });
});

test("a file that is not the model is refused, and the file to deploy is named", async () => {
  server.play(answer.anotherFile);
  await assert.rejects(load(), {
    code: "integrity",
    message: /not the model .*has 1000 bytes instead of 2500000.*Deploy/,
  });
  server.play(answer.damaged);
  await assert.rejects(load(), {
    code: "integrity",
    message: /its SHA-256 is .*Deploy all-MiniLM-L6-v2-int8\.safetensors/,
  });
  const longer = (_request, response) => response.writeHead(200).end(Buffer.alloc(MODEL.length + 1));
  server.play(longer);
  await assert.rejects(load(), { code: "integrity" });
});

test("without crypto.subtle, WebAssembly checks", async (t) => {
  const crypto = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  t.after(() => Object.defineProperty(globalThis, "crypto", crypto));
  Object.defineProperty(globalThis, "crypto", { configurable: true, value: {} });
  await load();
  server.play(answer.damaged);
  await assert.rejects(load(), { code: "integrity", message: /wrong checksum/ });
});

test("a file on disk that is not there is named", async () => {
  await assert.rejects(load({ modelUrl: new URL("missing/", embedderPackage.url) }), {
    code: "network",
    message: /missing\/all-MiniLM.*Check that the file is there/,
  });
});

test("loading without progress times out; slow progress does not", async () => {
  server.play(answer.stallAfter(1000));
  await assert.rejects(load({ timeoutMs: 150 }), { code: "timeout", message: /0\.15 seconds.*try again/ });
  server.play(answer.slowly(8, 60));
  await load({ timeoutMs: 300 });
});

test("an abort stops the download", async () => {
  let closed;
  const isClosed = new Promise((resolve) => (closed = resolve));
  server.play((request, response) => {
    request.socket.once("close", closed);
    answer.stallAfter(1000)(request, response);
  });
  const controller = new AbortController();
  const reason = new Error("no longer wanted");
  const loading = load({
    signal: controller.signal,
    onProgress: ({ phase }) => phase === "download" && controller.abort(reason),
  });
  await assert.rejects(loading, (error) => error.code === "aborted" && error.cause === reason);
  await isClosed;
});

test("an aborted signal stops everything before the first request", async () => {
  await assert.rejects(load({ signal: AbortSignal.abort() }), { code: "aborted" });
  assert.equal(server.requests.length, 0);
});

test("options of the wrong kind are named", async () => {
  for (const [options, message] of [
    [{ modelUrl: "models/" }, /modelUrl is not a URL.*must be absolute/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ timeoutMs: "15" }, /timeoutMs/],
    [{ mode: "thread" }, /mode must be "worker" or "inline"/],
  ]) {
    await assert.rejects(embedderPackage.createEmbedder(options), { code: "bad_input", message });
  }
});

test("an environment without WebAssembly is told so before anything is requested", async (t) => {
  const { WebAssembly } = globalThis;
  t.after(() => Object.assign(globalThis, { WebAssembly }));
  assert.equal(embedderPackage.isSupported(), true);
  assert.equal(embedderPackage.isSupported("worker"), false, "Node has no Worker");
  await assert.rejects(load({ mode: "worker" }), { code: "unsupported_browser", message: /no module workers/ });
  delete globalThis.WebAssembly;
  assert.equal(embedderPackage.isSupported(), false);
  await assert.rejects(load(), { code: "unsupported_browser", message: /no WebAssembly\. Use Chrome/ });
  globalThis.WebAssembly = { validate: () => false };
  await assert.rejects(load(), { code: "unsupported_browser", message: /no WebAssembly with SIMD/ });
  assert.equal(server.requests.length, 0);
});

test("without the Cache API nothing is cached, and clearing it is no error", async () => {
  assert.equal(globalThis.caches, undefined);
  assert.equal(await embedderPackage.isCached(), false);
  await embedderPackage.clearCache();
});
