// The packed tarball, used in every way that users have. Each way embeds texts, and all give the same bits.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";
import webpack from "webpack";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer } from "./consumer.mjs";

/** An ordinary text, and texts that break careless programs; the last one is a megabyte. */
const TEXTS = String.raw`["How do I get my money back?", "", " \n\t", "\ud800", "a\0b", "word ".repeat(200_000)]`;
/** The policy of the README. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";
const PAGE = '<!doctype html><title>consumer</title><script type="module" src="./main.js"></script>';
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

let consumer, browser, expected;

before(async () => {
  consumer = await createConsumer();
  browser = await openBrowser();
  await consumer.write(".", { "main.mjs": program({ report: "console.log" }) });
  expected = JSON.parse(await consumer.node("main.mjs"));
});

after(async () => {
  await browser?.close();
  await consumer?.remove();
});

/** A program that embeds the texts and passes the outcome to `report` as JSON. */
function program({
  module = "@evidence-chat/embedder",
  options = "{}",
  report = "(outcome) => { globalThis.outcome = outcome; }",
} = {}) {
  return `
    import { createEmbedder } from ${JSON.stringify(module)};
    async function embed() {
      const embedder = await createEmbedder(${options});
      const embeddings = [];
      for (const text of ${TEXTS}) {
        const { vector, tokens, truncated } = await embedder.embed(text);
        embeddings.push({ tokens, truncated, vector: Array.from(vector) });
      }
      const refused = await embedder.embed(7).catch(({ code }) => code);
      embedder.dispose();
      return { fingerprint: embedder.fingerprint, embeddings, refused };
    }
    embed().catch(({ code, message }) => ({ code, message })).then((outcome) => (${report})(JSON.stringify(outcome)));`;
}

/** Serves a folder and checks that its page gives the same bits as Node, without requests to another server. */
async function assertWorks(folder, headers) {
  const server = await serve(folder, headers);
  const { page } = browser;
  const foreign = [];
  const watch = (request) => {
    if (!request.url().startsWith(server.origin)) foreign.push(request.url());
  };
  page.errors.length = 0;
  page.on("request", watch);
  try {
    await page.goto(server.origin);
    const outcome = await page.waitForFunction(() => globalThis.outcome);
    assert.deepEqual(JSON.parse(await outcome.jsonValue()), expected);
    assert.deepEqual(foreign, []);
    const wasm = server.requests.filter((path) => path.endsWith(".wasm"));
    assert.equal(wasm.length, 1, `only one of the two WebAssembly files is loaded: ${wasm.join(", ")}`);
    assert.deepEqual(page.errors, []);
  } finally {
    page.off("request", watch);
    await server.close();
  }
}

test("the embedder works in Node.js without options", () => {
  assert.equal(expected.message, undefined);
  assert.equal(expected.refused, "bad_input");
  const { embeddings } = expected;
  assert.deepEqual(
    embeddings.map(({ tokens, truncated }) => [tokens, truncated]),
    [
      [10, false],
      [2, false],
      [2, false],
      [2, false],
      [3, false],
      [200_002, true],
    ],
  );
  for (const { vector } of embeddings) {
    const squares = vector.reduce((sum, x) => sum + x * x, 0);
    assert.ok(Math.abs(squares - 1) < 1e-5, `squared length ${squares}`);
  }
});

test("the embedder works in a page without bundler, under the Content-Security-Policy of the README", async () => {
  await consumer.copyDist("plain/embedder");
  const folder = await consumer.write("plain", {
    "index.html": PAGE,
    "main.js": program({ module: "./embedder/index.js" }),
  });
  await assertWorks(folder, { "content-security-policy": POLICY });
});

test("the embedder works in inline mode in a page without bundler, under the same policy", async () => {
  const folder = await consumer.write("plain", {
    "main.js": program({ module: "./embedder/index.js", options: '{ mode: "inline", cache: false }' }),
  });
  await assertWorks(folder, { "content-security-policy": POLICY });
});

test("the embedder works in a page built by Vite", async () => {
  const root = await consumer.write("vite", { "index.html": PAGE, "main.js": program() });
  await build({ root, configFile: false, logLevel: "error" });
  await assertAssets(consumer.path("vite/dist/assets"));
  await assertWorks(consumer.path("vite/dist"), { "content-security-policy": POLICY });
});

test("the embedder works in a page built by webpack", async () => {
  const context = await consumer.write("webpack", { "main.js": program() });
  const output = { path: consumer.path("webpack/dist"), filename: "main.js", publicPath: "auto" };
  const compiler = webpack({
    context,
    entry: "./main.js",
    mode: "production",
    output,
    performance: false,
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  assert.deepEqual(stats.toJson({ errors: true, warnings: true }).errors, []);
  assert.deepEqual(stats.toJson({ errors: true, warnings: true }).warnings, []);
  await assertAssets(output.path);
  await consumer.write("webpack/dist", { "index.html": PAGE });
  await assertWorks(output.path, { "content-security-policy": POLICY });
});

/** Bundlers must find both WebAssembly files and include the weights of model and reader only once. */
async function assertAssets(folder) {
  const names = await readdir(folder);
  const count = (extension) => names.filter((name) => name.endsWith(extension)).length;
  assert.deepEqual([count(".gz"), count(".wasm")], [2, 2], names.join(", "));
}

test("the types resolve under nodenext and bundler resolution", async () => {
  const source = `
    import { createEmbedder, EmbedderError, isCached, type Embedding, type LoadProgress } from "@evidence-chat/embedder";
    const onProgress = ({ loadedBytes, totalBytes }: LoadProgress): number => loadedBytes / totalBytes;
    export async function embed(texts: string[], signal?: AbortSignal): Promise<Embedding[]> {
      const embedder = await createEmbedder({ onProgress, signal, timeoutMs: 1000, cache: !(await isCached()) });
      return embedder.embedBatch(texts, { signal });
    }
    // @ts-expect-error a number is not a text
    export const wrong = createEmbedder().then((embedder) => embedder.embed(7));
    export const isAborted = (error: unknown) => error instanceof EmbedderError && error.code === "aborted";`;
  await consumer.write("types", { "main.ts": source });
  for (const resolution of [
    ["--module", "nodenext"],
    ["--module", "esnext", "--moduleResolution", "bundler"],
  ]) {
    await consumer.node(TSC, "--noEmit", "--strict", "--target", "es2022", ...resolution, "types/main.ts");
  }
});

test("the package contains every exported file and the licences", async () => {
  const wasm = ["embedder_bg.wasm", "embedder_relaxed_bg.wasm"];
  const names = ["worker", ...wasm, "model", "package.json"];
  const specifiers = names.map((name) => `@evidence-chat/embedder/${name}`);
  await consumer.write(".", {
    "resolve.mjs": `console.log(JSON.stringify(${JSON.stringify(specifiers)}.map((name) => import.meta.resolve(name))))`,
  });
  for (const url of JSON.parse(await consumer.node("resolve.mjs")))
    assert.ok((await readFile(new URL(url))).length > 0);
  for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) await readFile(`${consumer.installed}/dist/${name}`);
});
