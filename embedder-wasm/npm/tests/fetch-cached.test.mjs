import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { importTs } from "../../../tests/lib/import-ts.mjs";

const { fetchCached, openModelCache } = await importTs(new URL("../src/fetch-cached.ts", import.meta.url));

const CONTENT = Buffer.from("0123456789".repeat(300_000));
const ignore = () => undefined;

let server;
let url;
let hits;
let answer;

beforeEach(async () => {
  hits = 0;
  answer = (response) => response.writeHead(200, { "content-length": CONTENT.length }).end(CONTENT);
  server = createServer((_request, response) => {
    hits++;
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${server.address().port}/model`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The part of the Cache API in use, in memory. Like a browser's, `put` stores nothing if the body fails. */
class MemoryCache {
  entries = new Map();

  async match(key) {
    const entry = this.entries.get(key);
    return entry && new Response(entry.body, { headers: entry.headers });
  }

  async put(key, response) {
    this.entries.set(key, { body: await response.arrayBuffer(), headers: new Headers(response.headers) });
  }

  async delete(key) {
    return this.entries.delete(key);
  }
}

test("a kept file is not downloaded again", async () => {
  const cache = new MemoryCache();
  const first = await fetchCached(url, cache, ignore);
  assert.equal(cache.entries.size, 0, "nothing is stored before the caller says so");
  await first.keep();
  const second = await fetchCached(url, cache, ignore);
  assert.deepEqual(Buffer.from(second.bytes), CONTENT);
  assert.equal(hits, 1);
});

test("progress runs from nothing to the whole length, from network and cache alike", async () => {
  const cache = new MemoryCache();
  for (let visit = 0; visit < 2; visit++) {
    const reports = [];
    const file = await fetchCached(url, cache, (loaded, total) => reports.push([loaded, total]));
    assert.deepEqual(reports[0], [0, CONTENT.length]);
    assert.deepEqual(reports.at(-1), [CONTENT.length, CONTENT.length]);
    assert.ok(reports.every(([loaded], at) => at === 0 || loaded >= reports[at - 1][0]));
    await file.keep();
  }
});

test("a download that breaks off fails and leaves nothing in the cache", async () => {
  const cache = new MemoryCache();
  answer = (response) => {
    response.writeHead(200, { "content-length": CONTENT.length });
    response.write(CONTENT.subarray(0, 1000), () => response.destroy());
  };
  await assert.rejects(fetchCached(url, cache, ignore), { name: "EmbedderError", code: "download_failed" });
  assert.equal(cache.entries.size, 0);
});

test("an error status fails and names it", async () => {
  answer = (response) => response.writeHead(404).end("no such model");
  await assert.rejects(fetchCached(url, null, ignore), { code: "download_failed", message: /404/ });
});

test("an unreachable server fails", async () => {
  server.close();
  server.closeAllConnections();
  await assert.rejects(fetchCached(url, null, ignore), { code: "download_failed" });
});

test("a stored file that has lost bytes is dropped and downloaded again", async () => {
  const cache = new MemoryCache();
  await (await fetchCached(url, cache, ignore)).keep();
  const entry = cache.entries.get(url);
  entry.body = entry.body.slice(0, 10);
  const file = await fetchCached(url, cache, ignore);
  assert.deepEqual(Buffer.from(file.bytes), CONTENT);
  assert.equal(hits, 2);
});

test("a forgotten file is downloaded again", async () => {
  const cache = new MemoryCache();
  const file = await fetchCached(url, cache, ignore);
  await file.keep();
  await file.forget();
  assert.equal(cache.entries.size, 0);
});

test("a compressed transfer arrives whole although its declared length is smaller", async () => {
  const packed = gzipSync(CONTENT);
  answer = (response) =>
    response.writeHead(200, { "content-length": packed.length, "content-encoding": "gzip" }).end(packed);
  const { bytes } = await fetchCached(url, null, ignore);
  assert.deepEqual(Buffer.from(bytes), CONTENT);
});

test("a transfer without a length arrives whole, with the total unknown until its end", async () => {
  const totals = [];
  answer = (response) => {
    response.write(CONTENT.subarray(0, 1000));
    response.end(CONTENT.subarray(1000));
  };
  const { bytes } = await fetchCached(url, null, (_loaded, total) => totals.push(total));
  assert.deepEqual(Buffer.from(bytes), CONTENT);
  assert.equal(totals[0], null);
  assert.equal(totals.at(-1), CONTENT.length);
});

test("a cache that always fails does not get in the way", async () => {
  const fail = async () => {
    throw new DOMException("Quota exceeded", "QuotaExceededError");
  };
  const file = await fetchCached(url, { match: fail, put: fail, delete: fail }, ignore);
  await file.keep();
  await file.forget();
  assert.deepEqual(Buffer.from(file.bytes), CONTENT);
});

test("without the Cache API there is no cache, and no error", async () => {
  assert.equal(globalThis.caches, undefined);
  assert.equal(await openModelCache(), null);
});
