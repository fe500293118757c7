// A download that is cut continues in the next tab or after a reload, and tabs share one download. With a fake engine and a small model.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { eventuallyEqual } from "../../../tests/lib/eventually-equal.mjs";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { buildFakePackage, gzip, IDENTITY, MODEL } from "./fake/package.mjs";
import * as responses from "./fake/server.mjs";

const CACHE = "evidence-chat-embedder";
const KEY = `https://embedder.invalid/${IDENTITY.fingerprint}`;
/** The package stores parts of this length. */
const PART_BYTES = 1024 * 1024;
const ETAG = '"model-1"';
const GZIP = gzip(MODEL);

const files = await buildFakePackage();
const { site: server, page } = await startSuite(() => responses.startServer(files));

beforeEach(async () => {
  server.files = new Map(files);
  server.respondWith(responses.ranged);
  await page.goto(server.origin);
  await page.evaluate((name) => caches.delete(name), CACHE);
});

/** Starts to load in a tab; `result` in the page is the outcome. */
function start(tab, options = {}) {
  return tab.evaluate(async (given) => {
    const { createEmbedder } = await import("/index.js");
    const seen = { phases: [], waited: 0 };
    globalThis.seen = seen;
    const onProgress = ({ phase, loadedBytes }) => {
      if (!seen.phases.includes(phase)) seen.phases.push(phase);
      if (phase === "wait") seen.waited = loadedBytes;
    };
    globalThis.result = createEmbedder({ onProgress, ...given }).then(
      async (embedder) => {
        const { vector } = await embedder.embed("four");
        return { length: vector[0], phases: seen.phases };
      },
      ({ code, message }) => ({ code, message }),
    );
  }, options);
}

const outcome = (tab) => tab.evaluate(() => globalThis.result);

async function load(tab = page, options = {}) {
  await start(tab, options);
  return outcome(tab);
}

async function newTab() {
  const tab = await page.context().newPage();
  await tab.goto(server.origin);
  return tab;
}

/** Addresses of what is stored. */
const stored = () =>
  page.evaluate(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url), CACHE);

/** Resolves when this many parts are stored. */
async function partsAreStored(count) {
  while ((await stored()).filter((url) => url.startsWith(`${KEY}/part?`)).length < count) await page.waitForTimeout(20);
}

/** Waits until the model is in the cache, which is after the embedder is ready. */
async function isStored() {
  while ((await stored()).join() !== KEY) await page.waitForTimeout(20);
}

/** Begins a download in a tab that is closed before the file is complete. */
async function leaveUnfinished(
  /** @type {(request: any, response: any) => unknown} */ handler = responses.stallAfter(1_500_000, { etag: ETAG }),
) {
  const tab = await newTab();
  server.respondWith(handler);
  await start(tab);
  await partsAreStored(1);
  await tab.close();
}

const ranges = () => server.requests.map(({ headers }) => headers.range ?? null);
const statuses = () => server.requests.map(({ response }) => response.statusCode);
const works = { length: 4, phases: ["start", "download", "initialize"] };

test("a download that was cut continues after a reload, and leaves only the model in the cache", async () => {
  await leaveUnfinished();
  server.respondWith(responses.ranged);
  assert.deepEqual(await load(), works);
  assert.deepEqual(ranges(), [`bytes=${PART_BYTES}-`]);
  assert.deepEqual(server.requests[0].headers["if-range"], ETAG);
  assert.deepEqual(statuses(), [206]);
  await isStored();
});

test("a compressed download that was cut continues at its compressed byte after a reload", async () => {
  await leaveUnfinished((_request, response) => {
    response.writeHead(200, { "content-length": GZIP.length, etag: ETAG }).write(GZIP.subarray(0, 1_500_000));
  });
  server.respondWith(responses.partOf(GZIP));
  assert.deepEqual(await load(), works);
  assert.deepEqual(ranges(), [`bytes=${PART_BYTES}-`]);
  assert.deepEqual(statuses(), [206]);
});

test("a download on a slow connection is stored before a whole part has arrived", async () => {
  await leaveUnfinished(responses.slowly(100, 100));
  const [part] = await stored();
  assert.ok(Number(new URL(part).searchParams.get("length")) < PART_BYTES, part);
  server.respondWith(responses.ranged);
  assert.deepEqual(await load(), works);
});

test("a file that changed on the server since the cut is downloaded from its beginning", async () => {
  await leaveUnfinished(responses.stallAfter(1_500_000, { etag: '"older"' }));
  server.respondWith(responses.ranged);
  assert.deepEqual(await load(), works);
  assert.deepEqual(statuses(), [200]);
});

for (const { name, handler, expected } of [
  { name: "ignores the range", handler: responses.whole, expected: [200] },
  {
    name: "sends another range",
    handler: responses.status(206, { "content-range": "bytes 7-8/9" }),
    expected: [206, 200],
  },
  {
    name: "sends a range of a file of another length",
    handler: responses.rangedAs({ total: 9_999_999 }),
    expected: [206, 200],
  },
  { name: "ignores If-Range after a change", handler: responses.rangedAs({ etag: '"newer"' }), expected: [206, 200] },
  { name: "has no more bytes than were loaded", handler: responses.status(416), expected: [416, 200] },
  {
    name: "sends corrupt bytes",
    handler: responses.rangedAs({ content: Buffer.alloc(MODEL.length) }),
    expected: [206, 200],
  },
]) {
  test(`a download after a cut is complete and verified if the server ${name}`, async () => {
    await leaveUnfinished();
    server.respondWith(handler, responses.whole);
    assert.deepEqual(await load(), works);
    assert.deepEqual(statuses(), expected);
    await isStored();
  });
}

test("a download from a host without ranges that serves pieces continues with the piece that it needs", async () => {
  const otherOrigin = await responses.startServer(new Map(), { "access-control-allow-origin": "*" });
  try {
    for (const { host, modelUrl } of [
      { host: server, modelUrl: undefined },
      { host: otherOrigin, modelUrl: otherOrigin.modelUrl },
    ]) {
      host.respondWith(responses.stallAfter(1_500_000, responses.PIECES));
      const tab = await newTab();
      await start(tab, { modelUrl });
      await partsAreStored(1);
      await tab.close();
      host.respondWith(responses.inPieces);
      assert.deepEqual(await load(page, { modelUrl }), works);
      const pieces = host.requests.map(({ path }) => /\.piece\d$/.exec(path)?.[0]);
      assert.deepEqual(pieces, [undefined, ".piece1", ".piece2", ".piece3"]);
      await page.evaluate((name) => caches.delete(name), CACHE);
    }
  } finally {
    await otherOrigin.close();
  }
});

test("parts that are damaged or gone are replaced by a download", async () => {
  const faults = {
    flipped: (bytes) => bytes.fill(0xff, 1000, 1010),
    shorter: (bytes) => bytes.subarray(1),
  };
  for (const [name, damage] of Object.entries(faults)) {
    await leaveUnfinished();
    const [part] = await stored();
    const base64 = Buffer.from(damage(Buffer.from(MODEL.subarray(0, PART_BYTES)))).toString("base64");
    await page.evaluate(
      async ([cache, url, content]) =>
        (await caches.open(cache)).put(url, await fetch(`data:application/octet-stream;base64,${content}`)),
      [CACHE, part, base64],
    );
    server.respondWith(responses.ranged);
    assert.deepEqual(await load(), works, name);
    // The request for the rest is sent before the parts are read, so the two may arrive in either order.
    await eventuallyEqual(() => [name, ...statuses().sort()], [name, 200, 206]);
    await isStored();
    await page.evaluate((name) => caches.delete(name), CACHE);
  }
});

test("parts of another address or version are not used", async () => {
  await leaveUnfinished();
  server.respondWith(responses.whole);
  assert.deepEqual(await load(page, { modelUrl: "/elsewhere.safetensors" }), {
    code: "network",
    message: `${server.origin}/elsewhere.safetensors answered with status 404. Check modelUrl.`,
  });
  assert.deepEqual(ranges(), []);
});

test("two tabs that start together download the model once, and the second shows the progress of the first", async () => {
  server.respondWith(responses.slowly(8, 250));
  const [first, second] = [await newTab(), await newTab()];
  await start(first);
  await page.waitForTimeout(100);
  await start(second);
  await second.waitForFunction(() => globalThis.seen.waited > 0);
  assert.deepEqual(await outcome(first), works);
  assert.deepEqual(await outcome(second), { length: 4, phases: ["start", "wait", "cache", "initialize"] });
  assert.equal(server.requests.length, 1);
  await Promise.all([first.close(), second.close()]);
});

test("a tab that is closed during the download hands it over", async () => {
  server.respondWith(responses.stallAfter(1_500_000, { etag: ETAG }), responses.ranged);
  const [first, second] = [await newTab(), await newTab()];
  await start(first);
  await partsAreStored(1);
  await start(second);
  await second.waitForFunction(() => globalThis.seen.phases.includes("wait"));
  await first.close();
  assert.deepEqual(await outcome(second), { length: 4, phases: ["start", "wait", "download", "initialize"] });
  assert.deepEqual(ranges(), [null, `bytes=${PART_BYTES}-`]);
  await second.close();
});

test("a tab that is frozen during the download does not keep other tabs waiting", async () => {
  const worker = files.get("worker.js").toString();
  const impatient = worker.replace("MAX_SILENCE_MS = 2e4", "MAX_SILENCE_MS = 1e3");
  assert.notEqual(impatient, worker);
  server.files.set("worker.js", Buffer.from(impatient));
  const frozen = await newTab();
  await frozen.evaluate(
    (name) =>
      new Promise((isHeld) => {
        void navigator.locks.request(name, () => new Promise(() => isHeld(undefined)));
      }),
    CACHE,
  );
  assert.deepEqual(await load(), { length: 4, phases: ["start", "wait", "download", "initialize"] });
  await frozen.close();
});

test("without locks, and with locks that are refused, each tab downloads for itself", async () => {
  const worker = files.get("worker.js").toString();
  const refusal = "LockManager.prototype.request = async () => { throw new DOMException('no', 'SecurityError'); };";
  const missing = "Object.defineProperty(navigator, 'locks', { value: undefined });";
  for (const fault of [refusal, missing]) {
    await page.evaluate((name) => caches.delete(name), CACHE);
    server.files.set("worker.js", fault + worker);
    server.respondWith(responses.slowly(4, 50));
    const [first, second] = [await newTab(), await newTab()];
    await Promise.all([start(first), start(second)]);
    assert.deepEqual(await Promise.all([outcome(first), outcome(second)]), [works, works]);
    assert.equal(server.requests.length, 2);
    await Promise.all([first.close(), second.close()]);
  }
});

/** A worker that waits for storage only briefly, after this code. */
const impatient = (fault) =>
  fault + files.get("worker.js").toString().replace("MAX_STORE_MS = 5e3", "MAX_STORE_MS = 100");
const silent = (method) => `${method} = () => new Promise(() => undefined);`;

test("a storage that never answers does not stop a download", async () => {
  const faults = [
    silent("Cache.prototype.put"),
    silent("CacheStorage.prototype.open"),
    silent("Cache.prototype.match") + silent("CacheStorage.prototype.delete"),
  ];
  for (const fault of faults) {
    await page.evaluate((name) => caches.delete(name), CACHE);
    server.files.set("worker.js", impatient(fault));
    assert.deepEqual(await load(), works, fault);
  }
});

test("a cache that does not answer any more is replaced", async () => {
  // As in Chromium after a page was left while it stored something.
  const fault = `
    const methods = { ...Object.getOwnPropertyDescriptors(Cache.prototype) };
    for (const name of ["match", "keys", "put", "delete"]) Cache.prototype[name] = () => new Promise(() => undefined);
    const remove = CacheStorage.prototype.delete;
    CacheStorage.prototype.delete = function (name) {
      Object.defineProperties(Cache.prototype, methods);
      return remove.call(this, name);
    };`;
  server.files.set("worker.js", impatient(fault));
  assert.deepEqual(await load(), works);
  await isStored();
  assert.equal(server.requests.length, 1);
});
