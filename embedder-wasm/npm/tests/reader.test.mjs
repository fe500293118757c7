// Reading passages: what is read, in which order, and how the reader's file is loaded. With a fake engine.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { gzip, importFakePackage, READER, READER_FILE, READER_IDENTITY } from "./fake/package.mjs";
import * as responses from "./fake/server.mjs";

let embedderPackage, server;
const cleanups = [];

before(async () => {
  embedderPackage = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
  server = await responses.startServer();
});

after(async () => {
  await server.close();
  for (const cleanup of cleanups) await cleanup();
});

let requests;
/** Serves the reader with these handlers, one for each request and the last one for all further ones. */
function respondWith(...handlers) {
  requests = 0;
  const next = (request, response) => handlers[Math.min(requests++, handlers.length - 1)](request, response);
  server.files = new Map([[READER_FILE, next]]);
}
const whole = (_request, response) => response.writeHead(200).end(gzip(READER));

beforeEach(() => respondWith(whole));

async function embedderFor(t, options = {}) {
  const embedder = await embedderPackage.createEmbedder({ readerUrl: `${server.origin}/`, ...options });
  t.after(() => embedder.dispose());
  return embedder;
}

const passage = (...statements) => ({ heading: "Returns › Refunds", statements });
/** A passage that takes so long, with as much text as the reader reads at once. */
const busy = (milliseconds) => ({ heading: `busy ${milliseconds}`, statements: ["a".repeat(1000)] });
const rejects = (promise, code, message = /./) =>
  assert.rejects(promise, (/** @type {import("../src/index.ts").EmbedderError} */ error) => {
    assert.ok(error instanceof embedderPackage.EmbedderError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

test("readPassages returns a score for each statement of each passage, and null for one that did not fit", async (t) => {
  const embedder = await embedderFor(t);
  const scores = await embedder.readPassages("How long?", [passage("one", "three", "…"), passage(), passage("a")]);
  assert.deepEqual(scores, [[3, 5, null], [], [1]]);
  assert.deepEqual(await embedder.readPassages("How long?", []), []);
  const many = Array.from({ length: 50 }, (_, index) => passage(...Array(index % 3).fill("a".repeat(index * 10))));
  const lengths = many.map(({ statements }) => statements.map(({ length }) => length));
  assert.deepEqual(await embedder.readPassages("How long?", many), lengths, "short and long ones, in their order");
  assert.equal(embedder.readerFingerprint, READER_IDENTITY.fingerprint);
});

test("the reader is loaded on the first call, once, and not with the embedder", async (t) => {
  const embedder = await embedderFor(t);
  await embedder.embed("text");
  assert.equal(requests, 0);
  await Promise.all([embedder.readPassages("a", [passage("b")]), embedder.loadReader(), embedder.loadReader()]);
  await embedder.loadReader();
  await embedder.readPassages("a", [passage("b")]);
  assert.equal(requests, 1);
});

test("without readerUrl the reader is next to modelUrl, or the file of this package", async (t) => {
  const paths = [];
  server.files = { get: (path) => void paths.push(path) };
  const elsewhere = await embedderFor(t, { modelUrl: `${server.modelUrl}?signature=1`, readerUrl: undefined });
  await rejects(elsewhere.loadReader(), "network", /status 404\. Check readerUrl/);
  assert.deepEqual(paths, [READER_FILE]);
  const own = await embedderFor(t, { readerUrl: undefined });
  await own.loadReader();
});

test("loadReader reports progress up to the length of the reader", async (t) => {
  const reports = [];
  const embedder = await embedderFor(t);
  await embedder.loadReader({ onProgress: (progress) => reports.push(progress) });
  assert.deepEqual([...new Set(reports.map(({ phase }) => phase))], ["start", "download", "initialize"]);
  assert.deepEqual(reports.at(-1), {
    phase: "initialize",
    loadedBytes: READER.length,
    totalBytes: READER.length,
  });
});

test("a reader that is damaged, missing or unreachable rejects with its code, and the embedder still works", async (t) => {
  const embedder = await embedderFor(t);
  const damaged = Buffer.from(READER);
  damaged[1_100_000] ^= 1;
  for (const [handler, code, message] of /** @type {const} */ ([
    [
      (_request, response) => response.writeHead(200).end(damaged),
      "integrity",
      /not the reader .*SHA-256.*Deploy reader/,
    ],
    [responses.anotherFile, "integrity", /has 1000 bytes instead of 1200000/],
    [responses.status(404), "network", /status 404\. Check readerUrl/],
    [responses.webPage, "network", /is a web page/],
  ])) {
    respondWith(handler);
    await rejects(embedder.loadReader(), code, message);
    await rejects(embedder.readPassages("a", [passage("b")]), code, message);
    assert.equal((await embedder.embed("four")).vector[0], 4);
  }
  respondWith(responses.status(503), whole);
  await embedder.loadReader();
  assert.deepEqual(await embedder.readPassages("a", [passage("b")]), [[1]], "a failed load can be repeated");
});

test("without progress loading the reader rejects with code timeout, and the next call loads it again", async (t) => {
  const embedder = await embedderFor(t, { timeoutMs: 150 });
  const stalling = (_request, response) => response.writeHead(200).write(READER.subarray(0, 1000));
  respondWith(stalling, whole);
  await rejects(embedder.loadReader(), "timeout", /0\.15 seconds/);
  await embedder.loadReader();
  assert.equal(requests, 2);
});

test("a load ends when nobody waits for it, and not before", async (t) => {
  const embedder = await embedderFor(t);
  let closed;
  const isClosed = new Promise((resolve) => (closed = resolve));
  const stalling = (request, response) => {
    request.socket.once("close", closed);
    response.writeHead(200).write(READER.subarray(0, 1000));
  };
  respondWith(stalling, whole);
  const [first, second] = [new AbortController(), new AbortController()];
  const calls = [first, second].map(({ signal }) => embedder.loadReader({ signal }));
  const ended = calls.map((call) => rejects(call, "aborted"));
  first.abort();
  await ended[0];
  await new Promise((resolve) => setTimeout(resolve, 50));
  second.abort();
  await Promise.all([...ended, isClosed]);
  await embedder.loadReader();
  assert.equal(requests, 2);
  await rejects(embedder.loadReader({ signal: AbortSignal.abort() }), "aborted");
});

test("an argument of the wrong type rejects with code bad_input and is named", async (t) => {
  const embedder = await embedderFor(t);
  for (const [question, passages, message] of /** @type {[any, any, RegExp][]} */ ([
    [7, [], /^question must be a string, not number/],
    ["a", "b", /^passages must be an array/],
    ["a", [null], /^passages\[0\]\.heading must be a string/],
    ["a", [passage("b"), { heading: "h", statements: "s" }], /^passages\[1\]\.statements must be an array/],
    ["a", [passage("b", null)], /^passages\[0\]\.statements\[1\] must be a string, not null/],
  ])) {
    await rejects(embedder.readPassages(question, passages), "bad_input", message);
  }
  assert.equal(requests, 0);
});

test("an embedding waits for one passage at most, and counts run first", async (t) => {
  const embedder = await embedderFor(t);
  await embedder.loadReader();
  const ended = [];
  const note = (name) => () => ended.push(name);
  const long = embedder.readPassages("a", Array(5).fill(busy(60))).then(note("read"));
  await new Promise((resolve) => setTimeout(resolve, 10));
  const started = performance.now();
  const between = [embedder.embed("short").then(note("embed")), embedder.countTokens("x").then(note("count"))];
  await Promise.all(between);
  assert.ok(performance.now() - started < 120, "more than one passage was read before");
  await long;
  assert.deepEqual(ended, ["count", "embed", "read"]);
});

test("a cancelled read rejects at once and skips the passages that are not read yet", async (t) => {
  const embedder = await embedderFor(t);
  await embedder.loadReader();
  const controller = new AbortController();
  const reason = new Error("typed on");
  const reading = embedder.readPassages("a", Array(100).fill(busy(50)), { signal: controller.signal });
  const started = performance.now();
  setTimeout(() => controller.abort(reason), 20);
  await assert.rejects(
    reading,
    (/** @type {import("../src/index.ts").EmbedderError} */ error) =>
      error.code === "aborted" && error.cause === reason,
  );
  assert.deepEqual(await embedder.readPassages("a", [passage("b")]), [[1]]);
  assert.ok(performance.now() - started < 1000, "the skipped passages would take seconds");
  await rejects(embedder.readPassages("a", [passage("b")], { signal: AbortSignal.abort() }), "aborted");
});

test("a trap while reading ends the embedder with code crashed", async (t) => {
  const embedder = await embedderFor(t);
  await rejects(embedder.readPassages("trap", [passage("b")]), "crashed", /unreachable.*Create a new one/);
  await rejects(embedder.loadReader(), "crashed");
  await rejects(embedder.embed("later"), "crashed");
});

test("dispose ends loading and reading with code aborted, and frees all memory", async () => {
  const { alive } = globalThis.fakeWasm;
  const before = { ...alive };
  const create = () => embedderPackage.createEmbedder({ readerUrl: `${server.origin}/` });
  const [loaded, loading] = [await create(), await create()];
  await loaded.loadReader();
  const reading = rejects(loaded.readPassages("a", [passage("b")]), "aborted", /disposed/);
  loaded.dispose();
  respondWith((_request, response) => response.writeHead(200).write(READER.subarray(0, 1000)));
  const load = rejects(loading.loadReader(), "aborted", /disposed/);
  await new Promise((resolve) => setTimeout(resolve, 50));
  loading.dispose();
  await Promise.all([reading, load, rejects(loading.loadReader(), "aborted", /disposed/)]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(alive, before);
});
