// The static files that the Worker serves, in workerd: one deployment has the widget, its model and the API.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { headersFile } from "../../packages/build/assets.mjs";
import { ASSETS_DIR, startWorker } from "../../local/worker/worker.mjs";
import { headerOf } from "./support/client.mjs";

const IMMUTABLE = "public, max-age=31536000, immutable";
const REVALIDATE = "public, max-age=0, must-revalidate";

let worker, names;

before(async () => {
  assert.ok(existsSync(ASSETS_DIR), "The static files are not built yet; run `cargo xtask build assets` first.");
  names = (await readdir(ASSETS_DIR, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(ASSETS_DIR.length + 1));
  const variables = {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_test",
    CHAT_ALLOWED_ORIGINS: "https://www.example.com",
  };
  worker = await startWorker({ assets: ASSETS_DIR, variables, onLog: () => undefined });
});

after(() => worker?.close());

/** @param {RequestInit} [init] */
const get = (path, init) => fetch(worker.url + path, { redirect: "manual", ...init });

const MODEL = /^all-MiniLM-[\w-]+\.safetensors\.gz$/;
const READER = /^reader-[\w-]+\.safetensors\.gz$/;

const named = (pattern) => {
  const found = names.filter((name) => pattern.test(name));
  assert.equal(found.length, 1, `${pattern}: ${found.join(", ")}`);
  return `/${found[0]}`;
};

test("every file is served to pages of any origin, with the bytes that were built", async () => {
  const served = names.filter((name) => name !== "_headers");
  assert.ok(served.length > 20, served.join());
  for (const name of served) {
    // A page is served at the path of its folder.
    const response = await get(`/${name.replace(/(^|\/)index\.html$/, "$1")}`, {
      headers: { origin: "https://other.example" },
    });
    assert.equal(response.status, 200, name);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), await readFile(`${ASSETS_DIR}/${name}`), name);
    assert.equal(response.headers.get("access-control-allow-origin"), "*", name);
    assert.equal(response.headers.get("cross-origin-resource-policy"), "cross-origin", name);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff", name);
    assert.equal(response.headers.get("set-cookie"), null, name);
  }
});

test("files with a hash in their names are cached for good, and the others are revalidated", async () => {
  const caching = async (path) => (await get(path, { method: "HEAD" })).headers.get("cache-control");
  for (const pattern of [
    /^panel-\w+\.js$/,
    /^texts-de-\w+\.js$/,
    /^history-\w+\.js$/,
    /^worker-\w+\.js$/,
    /^embedder_bg-\w+\.wasm$/,
    MODEL,
    READER,
  ]) {
    assert.equal(await caching(named(pattern)), IMMUTABLE, String(pattern));
  }
  for (const path of ["/evidence-chat.js", "/integrity.json"]) {
    assert.equal(await caching(path), REVALIDATE, path);
  }
});

for (const [name, file] of /** @type {const} */ ([
  ["the model", MODEL],
  ["the reader", READER],
]))
  test(`${name} is also served in pieces, for hosts that ignore ranges`, async () => {
    const model = named(file);
    const { headers } = await get(model, { method: "HEAD", headers: { range: "bytes=5-" } });
    assert.match(headerOf(headers, "etag"), /^"/);
    assert.match(headerOf(headers, "access-control-expose-headers"), /ETag, Evidence-Chat-Piece-Bytes/);
    const pieceBytes = Number(headers.get("evidence-chat-piece-bytes"));
    const whole = await readFile(`${ASSETS_DIR}${model}`);
    for (let start = 0; start < whole.length; start += pieceBytes) {
      const piece = await get(`${model}.piece${start / pieceBytes}`);
      assert.deepEqual([piece.status, piece.headers.get("cache-control")], [200, IMMUTABLE]);
      assert.deepEqual(Buffer.from(await piece.arrayBuffer()), whole.subarray(start, start + pieceBytes));
    }
  });

test("the insights page is served under its own strict policy, its scripts are cached for good", async () => {
  const page = await get("/insights/");
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = headerOf(page.headers, "content-security-policy").split("; ");
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]) {
    assert.ok(policy.includes(rule), policy.join("; "));
  }
  const [, script] = /src="\.(\/assets\/[\w-]+\.js)"/.exec(await page.text()) ?? [];
  const { headers, status } = await get(`/insights${script}`, { method: "HEAD" });
  assert.deepEqual([status, headers.get("cache-control")], [200, IMMUTABLE]);
});

test("an unchanged launcher is answered with 304", async () => {
  const etag = (await get("/evidence-chat.js")).headers.get("etag");
  assert.ok(etag);
  const again = await get("/evidence-chat.js", { headers: { "if-none-match": etag } });
  assert.deepEqual([again.status, await again.text()], [304, ""]);
});

test("the model is sent as a gzip file of at most 16 MB, without a content encoding", async () => {
  const response = await get(named(MODEL), { headers: { "accept-encoding": "gzip, br" } });
  assert.equal(response.headers.get("content-type"), "application/gzip");
  assert.equal(response.headers.get("content-encoding"), null);
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(response.headers.get("content-length"), String(bytes.length));
  assert.ok(bytes.length < 16_000_000, `${bytes.length} bytes`);
  assert.ok(gunzipSync(bytes).length > 23_000_000);
});

test("scripts and WebAssembly have the types that browsers require", async () => {
  const type = async (path) => (await get(path, { method: "HEAD" })).headers.get("content-type");
  assert.equal(await type("/evidence-chat.js"), "text/javascript; charset=utf-8");
  assert.equal(await type(named(/^worker-\w+\.js$/)), "text/javascript; charset=utf-8");
  assert.equal(await type(named(/^embedder_relaxed_bg-\w+\.wasm$/)), "application/wasm");
});

test("a path that is neither a file nor a route gets the typed 404 of the API, which nothing caches", async () => {
  for (const path of [
    "/",
    "/index.html",
    "/_headers",
    "/writer",
    "/panel-GONE0000.js",
    "/evidence-chat",
    "/..%2fbuild",
  ]) {
    const response = await get(path);
    assert.equal(response.status, 404, path);
    assert.equal(response.headers.get("cache-control"), "no-store", path);
    const { code, retryable } = await response.json();
    assert.deepEqual([code, retryable], ["not_found", false], path);
  }
});

test("the routes of the API are not files", async () => {
  assert.deepEqual(await (await get("/api/health")).json(), { status: "ok" });
  assert.equal((await get("/api/chat", { method: "POST", body: "{}" })).status, 401);
  assert.equal((await get("/evidence-chat.js", { method: "POST", body: "{}" })).status, 405);
});

test("the published hashes are those of the served scripts", async () => {
  const { files } = await (await get("/integrity.json")).json();
  // No other page loads the scripts of the insights.
  for (const name of names.filter((name) => /^(?!insights\/).*\.(js|wasm|gz)$/.test(name))) {
    assert.match(files[name] ?? "", /^sha384-/, name);
    const response = await fetch(`${worker.url}/${name}`, { integrity: files[name] });
    assert.equal(response.status, 200, name);
    await response.arrayBuffer();
  }
});

test("the headers stay within Cloudflare's 100 rules", () => {
  assert.ok([...headersFile(names).matchAll(/^\//gm)].length <= 100);
});
