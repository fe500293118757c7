// Web Worker, Cache API and Content-Security-Policy in Chromium, with a fake engine and a small model.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { startSuite } from "../../../tests/lib/suite.mjs";
import {
  buildFakePackage,
  gzip,
  IDENTITY,
  MODEL,
  MODEL_FILE,
  READER,
  READER_FILE,
  READER_IDENTITY,
} from "./fake/package.mjs";
import * as responses from "./fake/server.mjs";

const CACHE = "evidence-chat-embedder";
const KEY = `https://embedder.invalid/${IDENTITY.fingerprint}`;
/** A host without HTTPS that the browser does not treat as localhost. */
const INSECURE_HOST = "insecure.test";

const files = await buildFakePackage();
const { site: server, page } = await startSuite(() => responses.startServer(files), {
  args: [`--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`, "--disable-gpu"],
});

beforeEach(async () => {
  server.files = new Map(files);
  server.headers = {};
  server.respondWith(responses.whole);
  await page.goto(server.origin);
  await page.evaluate((name) => globalThis.caches?.delete(name), CACHE);
});

/** Creates an embedder in the page; returns the outcome. */
function load(options = {}) {
  return page.evaluate(async (given) => {
    const { createEmbedder } = await import("/index.js");
    const phases = new Set();
    try {
      const embedder = await createEmbedder({ onProgress: ({ phase }) => phases.add(phase), ...given });
      const { vector } = await embedder.embed("four");
      embedder.dispose();
      return { length: vector[0], phases: [...phases] };
    } catch (error) {
      const { name, code, message } = /** @type {import("../src/index.ts").EmbedderError} */ (error);
      return { name, code, message };
    }
  }, options);
}

/** Waits until the model is stored, which happens after the embedder is ready and only while it is not disposed. */
/** Loads the model and waits until its copy is stored, as one of so many files, and the parts of the download are removed. */
async function loadAndStore(files = 1) {
  const result = await page.evaluate(async ([name, stored]) => {
    const { createEmbedder, isCached } = await import("/index.js");
    const embedder = await createEmbedder();
    const { vector } = await embedder.embed("four");
    const cache = await caches.open(name);
    for (let tries = 0; tries < 100 && ((await cache.keys()).length !== stored || !(await isCached())); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    embedder.dispose();
    return { length: vector[0], isCached: await isCached() };
  }, /** @type {const} */ ([CACHE, files]));
  assert.deepEqual(result, { length: 4, isCached: true });
}

const putInCache = (key, bytes) =>
  page.evaluate(
    async ([name, url, base64]) => {
      const cache = await caches.open(name);
      await cache.put(url, await fetch(`data:application/octet-stream;base64,${base64}`));
    },
    [CACHE, key, bytes.toString("base64")],
  );

const works = { length: 4, phases: ["start", "download", "initialize"] };

test("a compressed model is loaded whether the browser or the embedder decompresses it", async () => {
  const compressed = gzip(MODEL);
  const send = (content, headers) => (_request, response) => response.writeHead(200, headers).end(content);
  for (const headers of [{}, { "content-encoding": "gzip" }]) {
    server.respondWith(send(compressed, headers));
    assert.deepEqual(await load({ cache: false }), works);
  }
  const damaged = Buffer.from(compressed).fill(0xff, 1_000_000, 1_000_004);
  const bomb = gzip(Buffer.concat([MODEL, Buffer.alloc(1_000_000)]));
  for (const [name, content, message] of [
    ["truncated", compressed.subarray(0, -1), /its compression is incomplete/],
    ["damaged", damaged, /its compression is damaged|SHA-256/],
    ["bomb", bomb, /more than 2500000 bytes/],
  ]) {
    server.respondWith(send(content, {}));
    const error = await load({ cache: false });
    assert.equal(error.code, "integrity", String(name));
    assert.match(error.message ?? "", /** @type {RegExp} */ (message), String(name));
  }
});

test("the second visit loads the model from the cache without a download", async () => {
  await loadAndStore();
  assert.equal(server.requests.length, 1);
  assert.deepEqual(await load(), { length: 4, phases: ["start", "cache", "initialize"] });
  assert.equal(server.requests.length, 1);
});

test("clearCache removes the model, and the next load downloads it again", async () => {
  await loadAndStore();
  const isCached = await page.evaluate(async () => {
    const { clearCache, isCached } = await import("/index.js");
    await clearCache();
    return isCached();
  });
  assert.equal(isCached, false);
  assert.deepEqual(await load(), works);
});

test("a damaged, partial or unrelated copy in the cache is replaced by a download", async () => {
  const flipped = Buffer.from(MODEL);
  flipped[1_234_567] ^= 1;
  const copies = {
    flipped,
    partial: MODEL.subarray(0, 1_000_000),
    longer: Buffer.concat([MODEL, Buffer.alloc(1)]),
    unrelated: Buffer.from("<!doctype html><title>Sign in to this network</title>"),
    empty: Buffer.alloc(0),
  };
  for (const [name, copy] of Object.entries(copies)) {
    await putInCache(KEY, copy);
    server.respondWith(responses.whole);
    await loadAndStore();
    assert.equal(server.requests.length, 1, name);
    const stored = await page.evaluate(
      async ([cache, key]) => (await (await (await caches.open(cache)).match(key)).arrayBuffer()).byteLength,
      [CACHE, KEY],
    );
    assert.equal(stored, MODEL.length, name);
  }
});

test("a damaged copy is removed even if the download fails", async () => {
  await putInCache(KEY, MODEL.subarray(1));
  server.respondWith(responses.status(404));
  assert.equal((await load()).code, "network");
  assert.equal(await page.evaluate(async () => (await import("/index.js")).isCached()), false);
});

test("storing a model removes those of other versions", async () => {
  await putInCache("https://embedder.invalid/an-older-version", Buffer.from("old"));
  await loadAndStore();
  const keys = await page.evaluate(
    async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url),
    CACHE,
  );
  assert.ok(keys.includes(KEY) && keys.every((url) => url.startsWith(KEY)), keys.join());
});

/** Reads a passage in the page, and waits until a copy of the reader is stored, unless there is one; returns the phases of loading. */
function read() {
  return page.evaluate(async () => {
    const { createEmbedder, isCached } = await import("/index.js");
    const embedder = await createEmbedder();
    const phases = new Set();
    await embedder.loadReader({ onProgress: ({ phase }) => phases.add(phase) });
    const scores = await embedder.readPassages("q", [{ heading: "h", statements: ["four", "…"] }]);
    for (let tries = 0; tries < 100 && !((await isCached("reader")) && (await isCached())); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    embedder.dispose();
    return { scores, phases: [...phases], isCached: [await isCached("model"), await isCached("reader")] };
  });
}

test("the reader is stored next to the model, and the second visit downloads neither", async () => {
  let requests = 0;
  server.files.set(READER_FILE, (_request, response) => {
    requests++;
    response.writeHead(200).end(gzip(READER));
  });
  const scores = [[4, null]];
  const isCached = [true, true];
  assert.deepEqual(await read(), { scores, phases: ["start", "download", "initialize"], isCached });
  assert.deepEqual(await read(), { scores, phases: ["start", "cache", "initialize"], isCached });
  assert.deepEqual([server.requests.length, requests], [1, 1]);
  await putInCache(`https://embedder.invalid/${READER_IDENTITY.fingerprint}`, READER.subarray(1));
  assert.deepEqual(await read(), { scores, phases: ["start", "cache", "initialize", "download"], isCached });
  await putInCache(KEY, MODEL.subarray(1));
  await loadAndStore(2);
  assert.deepEqual(await read(), { scores, phases: ["start", "cache", "initialize"], isCached });
});

test("a downloaded file that is not the model is not stored", async () => {
  server.respondWith(responses.damaged);
  assert.equal((await load()).code, "integrity");
  assert.equal(await page.evaluate(async () => (await import("/index.js")).isCached()), false);
});

test("the embedder works if storage is full, blocked or unreadable", async () => {
  assert.deepEqual(await load({ cache: false }), works);
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.overrideQuotaForOrigin", { origin: server.origin, quotaSize: 1000 });
  assert.deepEqual(await load(), works);
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(async () => (await import("/index.js")).isCached()), false);
  await session.send("Storage.overrideQuotaForOrigin", { origin: server.origin });

  const blocked =
    'Object.defineProperty(self, "caches", { get() { throw new DOMException("no", "SecurityError"); } });';
  const unreadable = 'Cache.prototype.match = () => Promise.reject(new DOMException("no", "UnknownError"));';
  for (const fault of [blocked, unreadable]) {
    server.files.set("worker.js", fault + files.get("worker.js").toString());
    assert.deepEqual(await load(), works);
  }
});

test("without HTTPS, which the Cache API and crypto.subtle need, the embedder works and detects damage", async () => {
  await page.goto(`http://${INSECURE_HOST}:${server.port}/`);
  assert.equal(await page.evaluate(() => globalThis.caches ?? crypto.subtle), undefined);
  assert.deepEqual(await load(), works);
  server.respondWith(responses.damaged);
  assert.equal((await load()).code, "integrity");
});

test("two concurrent loads share one download", async () => {
  server.respondWith(responses.slowly(5, 600));
  const phases = await page.evaluate(async () => {
    const { createEmbedder } = await import("/index.js");
    const loads = [1, 2].map(async () => {
      const seen = new Set();
      const embedder = await createEmbedder({ onProgress: ({ phase }) => seen.add(phase), timeoutMs: 2000 });
      await embedder.embed("four");
      return [...seen].join(" ");
    });
    return (await Promise.all(loads)).sort();
  });
  assert.deepEqual(phases, ["start download initialize", "start wait cache initialize"]);
  assert.equal(server.requests.length, 1);
});

test("a load that times out releases the lock, and the next one downloads", async () => {
  server.respondWith(responses.stallAfter(1000), responses.whole);
  const outcome = await page.evaluate(async () => {
    const { createEmbedder } = await import("/index.js");
    const stalled = createEmbedder({ timeoutMs: 300 });
    stalled.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const next = await createEmbedder();
    next.dispose();
    return stalled.catch(({ code }) => code);
  });
  assert.equal(outcome, "timeout");
  assert.equal(server.requests.length, 2);
});

test("a cross-origin download is resumed without a CORS preflight", async () => {
  const otherOrigin = await responses.startServer(new Map(), { "access-control-allow-origin": "*" });
  try {
    otherOrigin.respondWith(responses.cutAfter(1_000_000), responses.ranged);
    assert.deepEqual(await load({ modelUrl: otherOrigin.modelUrl }), works);
    assert.deepEqual(
      otherOrigin.requests.map(({ response }) => response.statusCode),
      [200, 206],
    );
  } finally {
    await otherOrigin.close();
  }
});

test("workerUrl may be on another origin", async () => {
  const otherOrigin = await responses.startServer(files, { "access-control-allow-origin": "*" });
  try {
    assert.deepEqual(await load({ workerUrl: `${otherOrigin.origin}/worker.js` }), works);
  } finally {
    await otherOrigin.close();
  }
});

test("the whole package may be on another origin, without options", async () => {
  const otherOrigin = await responses.startServer(files, { "access-control-allow-origin": "*" });
  try {
    const length = await page.evaluate(async (url) => {
      const { createEmbedder } = await import(url);
      const embedder = await createEmbedder({ cache: false });
      const { vector } = await embedder.embed("four");
      embedder.dispose();
      return vector[0];
    }, `${otherOrigin.origin}/index.js`);
    assert.equal(length, 4);
    assert.equal(otherOrigin.requests.length, 1, "the model also comes from the other origin");
  } finally {
    await otherOrigin.close();
  }
});

test("the embedder works under the Content-Security-Policy of the README", async () => {
  server.headers = {
    "content-security-policy":
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'",
  };
  await page.goto(server.origin);
  page.errors.length = 0;
  assert.deepEqual(await load({ modelUrl: `/${MODEL_FILE}` }), works);
  assert.deepEqual(await load({ cache: false, mode: "inline" }), works);
  assert.deepEqual(page.errors, []);
});

test("a Content-Security-Policy that forbids WebAssembly fails with code blocked before any download", async () => {
  server.headers = { "content-security-policy": "script-src 'self'" };
  await page.goto(server.origin);
  for (const mode of ["worker", "inline"]) {
    const { name, code, message } = await load({ mode });
    assert.deepEqual([name, code], ["EmbedderError", "blocked"]);
    assert.match(message, /'wasm-unsafe-eval'/);
  }
  assert.equal(server.requests.length, 0);
});

/** The policy that the README names for a page with Trusted Types. */
const TRUSTED = "require-trusted-types-for 'script'; trusted-types evidence-chat-embedder";

/** Reopens the page under a policy. */
async function openUnder(policy) {
  server.headers = { "content-security-policy": policy };
  await page.goto(server.origin);
  page.errors.length = 0;
}

test("the embedder works on a page that requires Trusted Types, from any origin, without a policy violation", async () => {
  await openUnder(TRUSTED);
  const otherOrigin = await responses.startServer(files, { "access-control-allow-origin": "*" });
  try {
    await page.evaluate(() => {
      globalThis.violations = [];
      addEventListener("securitypolicyviolation", ({ violatedDirective }) => violations.push(violatedDirective));
    });
    assert.equal(await page.evaluate(async () => (await import("/index.js")).isSupported()), true);
    assert.deepEqual(await load(), works);
    for (const options of [
      { mode: "inline", cache: false },
      { workerUrl: "/worker.js", cache: false },
      { workerUrl: `${otherOrigin.origin}/worker.js`, cache: false },
      { cache: false },
    ]) {
      assert.deepEqual(await load(options), works);
    }
    assert.deepEqual([await page.evaluate(() => globalThis.violations), page.errors], [[], []]);
  } finally {
    await otherOrigin.close();
  }
});

test("a page that forbids our Trusted Types policy gets an error that names the policy", async () => {
  for (const directive of ["trusted-types 'none'", "trusted-types another"]) {
    await openUnder(`require-trusted-types-for 'script'; ${directive}`);
    assert.equal(await page.evaluate(async () => (await import("/index.js")).isSupported()), true);
    const { name, code, message } = await load();
    assert.deepEqual([name, code], ["EmbedderError", "blocked"]);
    assert.match(message, /Add evidence-chat-embedder to its trusted-types directive/);
  }
  await openUnder("trusted-types 'none'");
  assert.deepEqual(await load(), works, "a page that lists policies but requires none");
});

test("a browser without Trusted Types starts the worker in the form that bundlers detect", async () => {
  await page.evaluate(() => delete globalThis.trustedTypes);
  assert.deepEqual(await load(), works);
});

test("copies of the package on one page share the worker's trusted URL and nothing that could start another script", async () => {
  await openUnder(TRUSTED);
  const shared = await page.evaluate(async () => {
    const [first, second] = [await import("/index.js?copy=1"), await import("/index.js?copy=2")];
    const lengths = [];
    for (const { createEmbedder } of [first, second, first]) {
      const embedder = await createEmbedder({ cache: false });
      lengths.push((await embedder.embed("four")).vector[0]);
      embedder.dispose();
    }
    const key = Symbol.for("evidence-chat-embedder@1.0.0");
    const { configurable, enumerable, writable } = Object.getOwnPropertyDescriptor(globalThis, key);
    const worker = globalThis[key];
    return {
      lengths,
      isTrusted: worker instanceof TrustedScriptURL,
      worker: String(worker),
      methods: Object.getOwnPropertyNames(worker),
      flags: [configurable, enumerable, writable],
      symbols: Object.getOwnPropertySymbols(globalThis).filter((symbol) => String(symbol).includes("evidence")).length,
    };
  });
  assert.deepEqual(shared, {
    lengths: [4, 4, 4],
    isTrusted: true,
    worker: `${server.origin}/worker.js`,
    methods: [],
    flags: [false, false, false],
    symbols: 1,
  });
});

test("copies of two versions on one page need 'allow-duplicates', and fail with code blocked without it", async () => {
  const newer = await buildFakePackage({ version: "2.0.0" });
  const loadBoth = () =>
    page.evaluate(async () => {
      const outcomes = [];
      for (const path of ["/index.js", "/newer.js"]) {
        const { createEmbedder } = await import(path);
        const outcome = await createEmbedder({ cache: false }).catch((error) => error);
        outcomes.push(outcome.code ?? "works");
        outcome.dispose?.();
      }
      return outcomes;
    });
  server.files.set("newer.js", newer.get("index.js"));
  await openUnder(TRUSTED);
  assert.deepEqual(await loadBoth(), ["works", "blocked"]);
  await openUnder(`${TRUSTED} 'allow-duplicates'`);
  assert.deepEqual(await loadBoth(), ["works", "works"]);
});

test("countTokens resolves before a long batch in the worker", async () => {
  const outcome = await page.evaluate(async () => {
    const { createEmbedder } = await import("/index.js");
    const embedder = await createEmbedder();
    let isBatchDone = false;
    const batch = embedder.embedBatch(Array(200).fill("busy 5")).then(() => (isBatchDone = true));
    const tokens = await embedder.countTokens("four");
    const result = { tokens, isBatchDone };
    await batch;
    embedder.dispose();
    return result;
  });
  assert.deepEqual(outcome, { tokens: 6, isBatchDone: false });
});

test("a worker that is forbidden or missing fails with a message that says what to check", async () => {
  server.headers = { "content-security-policy": "worker-src 'none'" };
  await page.goto(server.origin);
  const forbidden = await load();
  assert.equal(forbidden.code, "network");
  assert.match(forbidden.message, /worker-src/);
  server.headers = {};
  await page.goto(server.origin);
  const missing = await load({ workerUrl: "/nowhere.js" });
  assert.equal(missing.code, "network");
  assert.match(missing.message, /workerUrl/);
});

test("a worker that dies rejects all pending calls with code crashed, and a new embedder works", async () => {
  const codes = await page.evaluate(async () => {
    const { createEmbedder } = await import("/index.js");
    const embedder = await createEmbedder();
    const calls = await Promise.allSettled([embedder.embed("trap"), embedder.embed("other")]);
    return calls.map((call) => call.status === "rejected" && call.reason.code);
  });
  assert.deepEqual(codes, ["crashed", "crashed"]);
  assert.equal((await load()).length, 4);

  const dying = 'addEventListener("message", ({ data }) => { if (data.type === "embed") throw new Error("boom"); });';
  server.files.set("worker.js", files.get("worker.js").toString() + dying);
  const { code, message } = await load();
  assert.equal(code, "crashed");
  assert.match(message, /boom/);
});

test("the page stays responsive while the worker computes", async () => {
  const ticks = await page.evaluate(async () => {
    const { createEmbedder } = await import("/index.js");
    const embedder = await createEmbedder();
    let count = 0;
    const timer = setInterval(() => count++, 10);
    await embedder.embed("busy 500");
    clearInterval(timer);
    embedder.dispose();
    return count;
  });
  assert.ok(ticks >= 20, `${ticks} timer ticks in half a second`);
});
