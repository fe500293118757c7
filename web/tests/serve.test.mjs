import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createDemoServer } from "../demo/serve.mjs";

const MODEL = "all-MiniLM-L6-v2-int8-0123abcd.safetensors.gz";
const WRITER_MODEL = "/writer-model/b179c9523d0e/writer.gguf";

let root;
let server;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "serve-test-"));
  await mkdir(join(root, "dist", "demo", "assets"), { recursive: true });
  await mkdir(join(root, "dist", "chunks"));
  await mkdir(join(root, "dist-private"));
  await mkdir(join(root, "writer"));
  await writeFile(join(root, "writer", "writer.gguf"), "0123456789");
  await writeFile(join(root, "writer", "key.json"), "secret");
  await writeFile(join(root, "secret.txt"), "secret");
  await writeFile(join(root, "dist-private", "key.json"), "secret");
  await writeFile(join(root, "dist", ".env"), "secret");
  await writeFile(join(root, "dist", MODEL), Buffer.alloc(3_000_000, 7));
  await writeFile(join(root, "dist", "demo", "index.html"), "<!doctype html>");
  await writeFile(join(root, "dist", "evidence-chat.js"), "export {};");
  await writeFile(join(root, "dist", "embedder_bg.wasm"), "wasm");
  await writeFile(join(root, "dist", "chunks", "panel-2QF7XKAB.js"), "export {};");
  await writeFile(join(root, "dist", "evidence-chat.js.map"), "{}");
  await writeFile(join(root, "dist", "demo", "assets", "index-BxAm1usz.css"), "body{}");
  await writeFile(join(root, "dist", "demo", "assets", "fern-DnOuwKTc.svg"), "<svg/>");
  const settings = {
    CHAT_ENDPOINT: "http://127.0.0.1:1/api/chat",
    DEMO_EMAIL: "demo@example.com",
    ON_DEVICE_MODEL_URL: WRITER_MODEL,
    ON_DEVICE_MODEL_FILE: join(root, "writer", "writer.gguf"),
  };
  server = createDemoServer(settings, join(root, "dist"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

after(async () => {
  server.close();
  await rm(root, { recursive: true });
});

/** A raw request, because `fetch` resolves `..` before sending. */
async function get(path, { method = "GET", headers = {} } = {}) {
  const sent = request({ host: "127.0.0.1", port: server.address().port, path, method, headers, agent: false }).end();
  const [response] = await once(sent, "response");
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

test("the page, the widget and the settings are served with their content types", async () => {
  const types = {
    "/": "text/html; charset=utf-8",
    "/widget/evidence-chat.js": "text/javascript; charset=utf-8",
    "/widget/embedder_bg.wasm": "application/wasm",
    "/widget/chunks/panel-2QF7XKAB.js": "text/javascript; charset=utf-8",
    "/assets/index-BxAm1usz.css": "text/css; charset=utf-8",
    "/assets/fern-DnOuwKTc.svg": "image/svg+xml",
  };
  for (const [path, type] of Object.entries(types)) {
    const { status, headers } = await get(path);
    assert.equal(status, 200, path);
    assert.equal(headers["content-type"], type);
  }
  const config = JSON.parse((await get("/config.json")).body.toString());
  assert.equal(config.chatEndpoint, "http://127.0.0.1:1/api/chat");
  assert.equal(config.demoEmail, "demo@example.com");
  assert.equal(config.hasOwnDocuments, false);
});

test("the settings say whether the documents are those of the sample shop", async () => {
  const own = createDemoServer({ DEMO_OWN_DOCUMENTS: "1" }, join(root, "dist"));
  own.listen(0, "127.0.0.1");
  await once(own, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (own.address());
  const response = await fetch(`http://127.0.0.1:${port}/config.json`);
  assert.equal((await response.json()).hasOwnDocuments, true);
  own.close();
});

test("the page's policy allows the chat server and forbids inline and foreign scripts", async () => {
  const policy = (await get("/")).headers["content-security-policy"];
  const directives = new Map(policy.split("; ").map((one) => one.match(/^(\S+) (.*)$/).slice(1)));
  assert.equal(directives.get("default-src"), "'none'");
  assert.equal(directives.get("connect-src"), "'self' http://127.0.0.1:1");
  assert.equal(directives.get("script-src"), "'self' 'wasm-unsafe-eval'");
  assert.equal(directives.get("style-src"), "'self'");
  assert.equal(directives.get("worker-src"), "'self' blob:");
  assert.equal(directives.get("require-trusted-types-for"), "'script'");
  assert.equal(directives.get("trusted-types"), "evidence-chat-embedder evidence-chat-writer");
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|data:|\*/);
});

test("files with a hash in their name are immutable and others are revalidated", async () => {
  const caching = async (path) => (await get(path)).headers["cache-control"];
  for (const path of ["/assets/index-BxAm1usz.css", "/assets/fern-DnOuwKTc.svg", "/widget/chunks/panel-2QF7XKAB.js"]) {
    assert.equal(await caching(path), "public, max-age=31536000, immutable", path);
  }
  for (const path of ["/", "/widget/evidence-chat.js", "/widget/evidence-chat.js.map", "/widget/embedder_bg.wasm"]) {
    assert.equal(await caching(path), "no-cache", path);
  }
  assert.equal(await caching("/config.json"), "no-store");
  assert.equal(await caching("/assets/gone-AAAAAAAA.css"), undefined, "a missing file is not missing for good");
});

test("the model is served with its length, and with 304 while it is unchanged", async () => {
  const { status, headers, body } = await get(`/widget/${MODEL}`);
  assert.equal(status, 200);
  assert.equal(headers["content-length"], "3000000");
  assert.equal(headers["content-type"], "application/gzip");
  assert.equal(headers["content-encoding"], undefined, "the embedder decompresses it");
  assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(body.length, 3_000_000);
  const again = await get(`/widget/${MODEL}`, { headers: { "if-none-match": headers.etag } });
  assert.equal(again.status, 304);
  assert.equal(again.body.length, 0);
});

test("the language model is served under its own URL only, for good, and the page is told", async () => {
  const { status, headers, body } = await get(WRITER_MODEL);
  assert.equal(status, 200);
  assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(body.toString(), "0123456789");
  assert.equal(JSON.parse((await get("/config.json")).body.toString()).onDeviceModelUrl, WRITER_MODEL);
  for (const path of ["/writer-model/", "/writer-model/key.json", "/writer-model/b179c9523d0e/key.json"]) {
    assert.equal((await get(path)).status, 404, path);
  }
});

test("HEAD gives only the headers, and other methods are rejected", async () => {
  const head = await get(`/widget/${MODEL}`, { method: "HEAD" });
  assert.equal(head.headers["content-length"], "3000000");
  assert.equal(head.body.length, 0);
  assert.equal((await get("/", { method: "POST" })).status, 405);
});

test("no path escapes the served folders", async () => {
  const escapes = [
    "/../secret.txt",
    "/widget/../secret.txt",
    "/widget/../../secret.txt",
    "/widget/..%2fsecret.txt",
    "/widget/%2e%2e/secret.txt",
    "/widget/%2e%2e%2fsecret.txt",
    "/widget/..%5csecret.txt",
    "/widget/..%2fdist-private%2fkey.json",
    "/widget/%2fetc%2fpasswd",
    "/widget//etc/passwd",
    "/widget/.env",
    "/widget/%00",
    "/widget/%zz",
    "/widget/",
    "/widget/../../secret.txt",
    "/assets/../../../secret.txt",
    "/assets/%2e%2e/%2e%2e/%2e%2e/secret.txt",
    "//secret.txt",
  ];
  for (const path of escapes) {
    const { status, body } = await get(path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(body.toString(), /secret|root:/, path);
  }
});

test("the program reports when it is ready and ends when its parent closes stdin", { timeout: 20_000 }, async () => {
  const program = fileURLToPath(new URL("../demo/serve.mjs", import.meta.url));
  const child = spawn(process.execPath, [program], { env: { PORT: "0" }, stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  assert.match(line.toString(), /^ready http:\/\/127\.0\.0\.1:\d+\n$/);
  child.stdin.end();
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});
