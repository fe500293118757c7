// A download of the model that is cut continues in the next tab or after a reload, and tabs share one download. With a fake engine
// and a small model.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { eventuallyEqual } from "../../../tests/lib/eventually-equal.mjs";
import { listen } from "../../../tests/lib/listen.mjs";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { buildFakePackage, MODEL, sha256 } from "./fake/package.mjs";

const CACHE = "evidence-chat-writer";
/** The package stores parts of this length. */
const PART_BYTES = 1024 * 1024;
const CUT_AT = 1_500_000;
const TYPES = { js: "text/javascript", wasm: "application/wasm" };

const files = await buildFakePackage();

/** Serves the package and a page, and the model with `site.respond`; `site.ranges` are those of its requests. */
async function startSite() {
  const site = { ranges: [], respond: ranged(MODEL) };
  const server = await listen((request, response) => {
    const name = request.url.slice(1);
    if (name === "") return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
    if (name === "model.gguf") {
      if (request.method === "GET") site.ranges.push(request.headers.range ?? null);
      return site.respond(request, response);
    }
    const file = files.get(name.replace(/^writer\//, ""));
    if (!file) return response.writeHead(404).end();
    return response.writeHead(200, { "content-type": TYPES[name.split(".").pop()] }).end(file);
  });
  return Object.assign(site, server);
}

/** Like a server that supports ranges. An empty `etag` is not sent. */
function ranged(content, etag = '"1"') {
  const tag = etag && { etag };
  return (request, response) => {
    const { range, "if-range": condition = etag } = request.headers;
    const start = condition === etag ? Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0) : 0;
    const rest = content.subarray(start);
    const of = start > 0 && { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` };
    response.writeHead(of ? 206 : 200, { "content-length": rest.length, "accept-ranges": "bytes", ...tag, ...of });
    response.end(request.method === "HEAD" ? undefined : rest);
  };
}

/** Sends the beginning of the file and then nothing, unless `drip` or `rest` of the result is called. */
function stalled(etag = '"1"') {
  let response;
  let sent = CUT_AT;
  const respond = (request, started) => {
    started.writeHead(200, { "content-length": MODEL.length, "accept-ranges": "bytes", ...(etag && { etag }) });
    if (request.method === "HEAD") return started.end();
    response = started;
    response.write(MODEL.subarray(0, CUT_AT));
  };
  const drip = () => response.write(MODEL.subarray(sent, (sent += 1000)));
  return Object.assign(respond, { drip, rest: () => response.end(MODEL.subarray(sent)) });
}

const { site, page } = await startSuite(startSite);
const model = { byteLength: MODEL.length, sha256: sha256(MODEL) };

beforeEach(async () => {
  await page.goto(site.origin);
  await page.evaluate((name) => caches.delete(name), CACHE);
});

async function newTab() {
  const tab = await page.context().newPage();
  await tab.goto(site.origin);
  return tab;
}

/** @typedef {{ model?: { byteLength: number, sha256: string } }} Options */

/** Starts to load in a tab; `result` in the page is the text that the model writes, `loaded` the last progress from the network. */
function start(tab, /** @type {Options} */ options = { model }) {
  return tab.evaluate(async (given) => {
    const { createWriter } = await import("/writer/index.js");
    const onProgress = ({ loadedBytes, isCached }) => {
      if (!isCached) globalThis.loaded = loadedBytes;
    };
    const write = async (writer) => {
      let text = "";
      await writer.write([{ role: "user", content: "Hi" }], { onText: (piece) => (text += piece) });
      return text;
    };
    globalThis.result = createWriter({ modelUrl: "/model.gguf", onProgress, ...given }).then(write, ({ code }) => code);
  }, options);
}

const outcome = (tab) => tab.evaluate(() => globalThis.result);

const stored = () =>
  page.evaluate(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url), CACHE);
const parts = async () => (await stored()).filter((url) => url.startsWith("https://writer.invalid/"));

const isStored = () => eventuallyEqual(stored, [`${site.origin}/model.gguf`]);

/** Begins a download in a tab that is closed before the file is complete. */
async function leaveUnfinished(respond = stalled(), /** @type {Options} */ options = { model }) {
  site.respond = respond;
  const tab = await newTab();
  await start(tab, options);
  while ((await parts()).length === 0) await page.waitForTimeout(20);
  await tab.close();
  site.ranges.length = 0;
}

/** Runs `action` with a worker that begins with the code `fault` and waits less for storage: `limits` are milliseconds by constant. */
async function withWorker(fault, limits, action) {
  const worker = files.get("worker.js");
  let code = fault + worker.toString();
  // Whether the cache answers at all has its own time.
  for (const [name, milliseconds] of Object.entries({ MAX_ANSWER_MS: 2500, ...limits })) {
    const definition = new RegExp(`\\b${name} = [^;,]+`);
    assert.match(code, definition);
    code = code.replace(definition, `${name} = ${milliseconds}`);
  }
  files.set("worker.js", Buffer.from(code));
  site.respond = ranged(MODEL);
  try {
    await action();
  } finally {
    files.set("worker.js", worker);
  }
}

test("a model whose download was cut continues after a reload, and only the whole model stays in the cache", async () => {
  await leaveUnfinished();
  site.respond = ranged(MODEL);
  await start(page);
  assert.equal(await outcome(page), "Hello.");
  assert.deepEqual(site.ranges, [`bytes=${PART_BYTES}-`]);
  await isStored();
});

test("a model that changed on the server since the cut is downloaded from its beginning", async () => {
  await leaveUnfinished();
  const changed = Buffer.concat([MODEL.subarray(0, -1), Buffer.from("!")]);
  site.respond = ranged(changed, '"2"');
  await start(page, { model: { byteLength: changed.length, sha256: sha256(changed) } });
  assert.equal(await outcome(page), "Hello.");
  await isStored();
});

test("parts that do not give the expected model are dropped, and the model is downloaded whole", async () => {
  await leaveUnfinished();
  await page.evaluate(async (name) => {
    const cache = await caches.open(name);
    for (const request of await cache.keys())
      await cache.put(request, new Response(new Uint8Array(1024 * 1024).fill(1)));
  }, CACHE);
  site.respond = ranged(MODEL);
  await start(page);
  assert.equal(await outcome(page), "Hello.");
  // The request for the rest is sent before the parts are read, so the two may arrive in either order.
  await eventuallyEqual(() => site.ranges.map(String).sort(), [`bytes=${PART_BYTES}-`, "null"]);
  await isStored();
});

test("a model without a known hash continues only if the server's entity tag tells its versions apart", async () => {
  for (const [etag, range] of [
    ['"1"', `bytes=${PART_BYTES}-`],
    ["", null],
  ]) {
    await page.evaluate((name) => caches.delete(name), CACHE);
    await leaveUnfinished(stalled(etag), {});
    site.respond = ranged(MODEL, etag);
    await start(page, {});
    assert.equal(await outcome(page), "Hello.");
    assert.deepEqual(site.ranges, [range]);
    await page.goto(site.origin);
  }
});

test("two tabs download the model once, and the second shows the progress of the first", async () => {
  const download = stalled();
  site.respond = download;
  site.ranges.length = 0;
  const [first, second] = [await newTab(), await newTab()];
  await start(first);
  while ((await parts()).length === 0) await page.waitForTimeout(20);
  await start(second);
  // Progress is reported when bytes arrive.
  const dripping = setInterval(download.drip, 100);
  await second.waitForFunction(() => globalThis.loaded > 0);
  clearInterval(dripping);
  download.rest();
  assert.equal(await outcome(first), "Hello.");
  assert.equal(await outcome(second), "Hello.");
  assert.deepEqual(site.ranges, [null]);
  await Promise.all([first.close(), second.close()]);
});

test("a disk that stops for a while does not cost the model", async () => {
  const stall = `const put = Cache.prototype.put;
    Cache.prototype.put = async function (...response) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return put.apply(this, response);
    };`;
  await withWorker(stall, { MAX_STORE_MS: 100 }, async () => {
    await start(page);
    assert.equal(await outcome(page), "Hello.");
    await isStored();
  });
});

test("a storage that never answers does not stop a download", async () => {
  const silence = "Cache.prototype.put = () => new Promise(() => undefined);";
  await withWorker(silence, { MAX_STORE_MS: 100, MAX_STALL_MS: 200 }, async () => {
    await start(page);
    assert.equal(await outcome(page), "Hello.");
    assert.deepEqual(await stored(), []);
  });
});

test("an unfinished download is deleted with its model", async () => {
  await leaveUnfinished();
  const wasThere = await page.evaluate(async () => {
    const { deleteModel } = await import("/writer/index.js");
    return deleteModel("/model.gguf");
  });
  assert.equal(wasThere, false);
  assert.deepEqual(await stored(), []);
});
