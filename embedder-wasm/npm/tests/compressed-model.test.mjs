// A model file that is compressed with gzip, as the package contains it, from servers that treat it in different ways.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { gzip, importFakePackage, MODEL } from "./fake/package.mjs";
import * as responses from "./fake/server.mjs";

const GZIP = gzip(MODEL);
const ETAG = '"gzip-1"';
/** @type {Record<string, string>} */
const HEADERS = { "content-type": "application/gzip", etag: ETAG };

let server;
let embedderPackage;
const cleanups = [];

before(async () => {
  embedderPackage = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
  server = await responses.startServer();
});

after(async () => {
  await server.close();
  for (const cleanup of cleanups) await cleanup();
});

beforeEach(() => server.respondWith(send()));

/** Loads from the server, checks that the embedder works, and returns the progress reports. */
async function load() {
  const reports = [];
  const onProgress = (progress) => reports.push(progress);
  const embedder = await embedderPackage.createEmbedder({ modelUrl: server.modelUrl, onProgress });
  assert.equal((await embedder.embed("four")).vector[0], 4);
  embedder.dispose();
  return reports;
}

const ranges = () => server.requests.map(({ headers }) => headers.range ?? null);
const statuses = () => server.requests.map(({ response }) => response.statusCode);

/** Sends the bytes as a file. */
function send(content = GZIP, headers = {}) {
  return (_request, response) =>
    response.writeHead(200, { ...HEADERS, "content-length": content.length, ...headers }).end(content);
}

/** Sends the first bytes of the file and drops the connection. */
const cut = (length, headers = HEADERS) => responses.cutAfter(length, { headers, content: GZIP });

/** The requested part of the file. */
function part(request, response) {
  const { range, "if-range": condition = ETAG } = request.headers;
  if (!range || condition !== ETAG) return send()(request, response);
  const start = Number(/^bytes=(\d+)-$/.exec(range)[1]);
  response.writeHead(206, { ...HEADERS, "content-range": `bytes ${start}-${GZIP.length - 1}/${GZIP.length}` });
  response.end(GZIP.subarray(start));
}

test("a gzip file that a server sends as it is, is decompressed", async () => {
  await load();
  assert.equal(server.requests.length, 1);
});

test("a gzip file that the client's network code decompresses, is not decompressed again", async () => {
  server.respondWith(send(GZIP, { "content-encoding": "gzip" }));
  await load();
});

test("a gzip file that a server compresses again is decompressed", async () => {
  server.respondWith(send(brotliCompressSync(GZIP), { "content-encoding": "br" }));
  await load();
});

test("a file that is not compressed is loaded whatever its name says", async () => {
  server.respondWith(send(MODEL));
  await load();
});

test("a gzip file is recognised if its first byte arrives alone", async () => {
  server.respondWith((_request, response) => {
    response.writeHead(200, HEADERS).write(GZIP.subarray(0, 1));
    setTimeout(() => response.end(GZIP.subarray(1)), 100);
  });
  await load();
});

test("progress counts decompressed bytes, up to the size of the model", async () => {
  const reports = await load();
  assert.ok(reports.every(({ totalBytes }) => totalBytes === MODEL.length));
  const loaded = reports.filter(({ phase }) => phase === "download").map(({ loadedBytes }) => loadedBytes);
  assert.deepEqual(
    loaded,
    [...loaded].sort((a, b) => a - b),
  );
  assert.equal(loaded.at(-1), MODEL.length);
});

test("a dropped download of a gzip file is resumed at its compressed byte", async () => {
  server.respondWith(cut(1_000_000), part);
  await load();
  // A client may lose what it has not read when the connection drops.
  const [, start] = /^bytes=(\d+)-$/.exec(ranges()[1]) ?? [];
  assert.ok(Number(start) > 500_000 && Number(start) <= 1_000_000, start);
  assert.deepEqual(statuses(), [200, 206]);
});

test("a gzip file that changed on the server is not mixed with its old part", async () => {
  server.respondWith(cut(1_000_000, { etag: '"old"' }), part);
  await load();
  assert.deepEqual(statuses(), [200, 200]);
});

test("a server that ignores the range may send the whole gzip file again", async () => {
  server.respondWith(cut(1_000_000), send());
  await load();
  assert.equal(server.requests.length, 2);
});

test("a part of another file is detected, and the gzip file is downloaded again", async () => {
  const unrelated = (_request, response) => response.writeHead(206).end(Buffer.alloc(500_000, 0x55));
  server.respondWith(cut(1_000_000), unrelated, send());
  await load();
  assert.deepEqual(statuses(), [200, 206, 200]);
});

test("a truncated gzip file rejects with code integrity", async () => {
  for (const length of [1, 9, 1_000_000, GZIP.length - 1]) {
    server.respondWith(send(GZIP.subarray(0, length)));
    await assert.rejects(load(), { name: "EmbedderError", code: "integrity", message: /incomplete/ }, String(length));
  }
});

test("a damaged gzip file rejects with code integrity", async () => {
  for (const position of [3, 1_000_000, GZIP.length - 6]) {
    const damaged = Buffer.from(GZIP);
    damaged.fill(0xff, position, position + 4);
    server.respondWith(send(damaged));
    await assert.rejects(load(), { name: "EmbedderError", code: "integrity", message: /Deploy/ }, String(position));
  }
});

test("a gzip file of another model rejects with its SHA-256", async () => {
  const other = Buffer.from(MODEL);
  other[1000] ^= 1;
  server.respondWith(send(gzip(other)));
  await assert.rejects(load(), { code: "integrity", message: /its SHA-256 is/ });
});

test("bytes after the gzip file reject with code integrity", async () => {
  server.respondWith(send(Buffer.concat([GZIP, Buffer.from("more")])));
  await assert.rejects(load(), { code: "integrity" });
});

test("a gzip file of more than the model rejects with code integrity at its first wrong block, or at its length", async () => {
  for (const [content, message] of [
    [Buffer.alloc(5_000_000), /its SHA-256 is .* from byte 0 on/],
    [Buffer.concat([MODEL, Buffer.alloc(1)]), /more than 2500000 bytes when decompressed/],
  ]) {
    server.respondWith(send(gzip(content)));
    await assert.rejects(load(), { code: "integrity", message });
  }
});
