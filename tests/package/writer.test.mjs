// The packed writer in every way that users have: without a bundler, with Vite and with webpack. Its real WebAssembly runs; a
// real model does in tests/generation/.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";
import webpack from "webpack";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer, EMBEDDER, WIDGET, WRITER } from "./consumer.mjs";

/** The policy of the README. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; " +
  "require-trusted-types-for 'script'; trusted-types evidence-chat-writer";
const PAGE = '<!doctype html><title>consumer</title><script type="module" src="./main.js"></script>';
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

let consumer, browser;

before(async () => {
  consumer = await createConsumer([EMBEDDER, WRITER, WIDGET]);
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await consumer?.remove();
});

/** A program that verifies a scripted draft, and lets the engine read a file that is no model. */
const program = (module = "@evidence-chat/writer") => `
  import { createWriter, writeAnswer } from ${JSON.stringify(module)};
  const excerpt = "Refunds are paid within 5 days. Write to us first.";
  const text = "Refunds are paid within 5 days.";
  const quotes = [{ start: 0, end: text.length, text, kind: "sentence", pieces: [{ text }] }];
  const citation = { index: 1, chunk_id: crypto.randomUUID(), document_id: crypto.randomUUID(), title: "Refunds", score: 0.7, excerpt, quotes };
  const writer = {
    name: "scripted",
    async write(messages, { onText }) {
      for (const piece of ["Refunds are paid within", " 5 days [1]. Refunds are paid within 9 days [1]."]) onText(piece);
      return { promptTokens: 10, completionTokens: 20, ending: "stop" };
    },
    async dispose() {},
  };
  async function run() {
    const input = { question: "When is a refund paid?", citations: [citation], hedged: false };
    const { answer, generation, error } = await writeAnswer(writer, input);
    const invalid = await createWriter({ modelUrl: "/no-model.gguf" }).catch(({ code, message }) => [code, message]);
    return { deltas: answer?.deltas, generation, error: error?.message, invalid };
  }
  run().catch(({ code, message }) => ({ code, message })).then((outcome) => (globalThis.outcome = outcome));`;

/** Serves a folder and checks what its page gives, and that it contacts no other server. */
async function assertWorks(folder) {
  await consumer.write(folder, { "no-model.gguf": "This is not a model. ".repeat(100) });
  const server = await serve(consumer.path(folder), { "content-security-policy": POLICY });
  const { page } = browser;
  page.errors.length = 0;
  const foreign = [];
  // wllama's worker starts from a URL that begins with `blob:`.
  const watch = (request) => new URL(request.url()).origin === server.origin || foreign.push(request.url());
  page.on("request", watch);
  try {
    await page.goto(server.origin);
    const outcome = await (await page.waitForFunction(() => globalThis.outcome)).jsonValue();
    assert.equal(outcome.error, undefined);
    assert.equal(outcome.deltas?.length, 1, JSON.stringify(outcome));
    assert.match(outcome.deltas[0], /^Refunds are paid within 5 days\.? \[1\]$/);
    assert.deepEqual(outcome.generation.dropped, { number: 1 });
    assert.deepEqual([outcome.generation.model, outcome.generation.sentences], ["scripted", 1]);
    assert.equal(outcome.invalid?.[0], "invalid_model", JSON.stringify(outcome.invalid));
    assert.deepEqual(foreign, []);
    assert.deepEqual(page.errors, []);
  } finally {
    page.off("request", watch);
    await server.close();
  }
}

test("the writer works in a page without bundler, under the Content-Security-Policy of the README", async () => {
  const { cp } = await import("node:fs/promises");
  await cp(consumer.path("node_modules/@evidence-chat/writer/dist"), consumer.path("plain/writer"), {
    recursive: true,
  });
  await consumer.write("plain", { "index.html": PAGE, "main.js": program("./writer/index.js") });
  await assertWorks("plain");
});

test("the writer works in a page built by Vite", async () => {
  const root = await consumer.write("vite", { "index.html": PAGE, "main.js": program() });
  await build({ root, configFile: false, logLevel: "error" });
  await assertAssets(consumer.path("vite/dist/assets"));
  await assertWorks("vite/dist");
});

test("the writer works in a page built by webpack", async () => {
  const context = await consumer.write("webpack", { "main.js": program() });
  const output = { path: consumer.path("webpack/dist"), filename: "main.js", publicPath: "auto" };
  const compiler = webpack({ context, entry: "./main.js", mode: "production", output, performance: false });
  const stats = await promisify(compiler.run.bind(compiler))();
  assert.deepEqual(stats.toJson({ errors: true }).errors, []);
  await assertAssets(output.path);
  await consumer.write("webpack/dist", { "index.html": PAGE });
  await assertWorks("webpack/dist");
});

/** Bundlers must find both WebAssembly files. */
async function assertAssets(folder) {
  const names = await readdir(folder);
  assert.equal(names.filter((name) => name.endsWith(".wasm")).length, 2, names.join(", "));
}

test("the types resolve under nodenext and bundler resolution, and fit the widget", async () => {
  const source = `
    import { createWriter, hasModel, writeAnswer, WriterError, type Writer } from "@evidence-chat/writer";
    import type { EvidenceChatElement } from "@evidence-chat/widget";
    export const load = (signal: AbortSignal): Promise<Writer> =>
      createWriter({ modelUrl: "/a.gguf", model: { byteLength: 9 }, signal, onProgress: ({ isCached }) => isCached });
    export const answer = async (writer: Writer) =>
      (await writeAnswer(writer, { question: "?", citations: [], hedged: false })).answer?.deltas.join("");
    export const isKnown: Promise<boolean> = hasModel("/a.gguf");
    export const isAborted = (error: unknown) => error instanceof WriterError && error.code === "aborted";
    // @ts-expect-error a model needs a URL
    export const wrong = createWriter({});
    export function connect(chat: EvidenceChatElement): void {
      chat.writerLoader = () => import("@evidence-chat/writer");
    }`;
  await consumer.write("types", { "main.ts": source });
  for (const resolution of [
    ["--module", "nodenext"],
    ["--module", "esnext", "--moduleResolution", "bundler"],
  ]) {
    await consumer.node(
      TSC,
      "--noEmit",
      "--strict",
      "--target",
      "es2022",
      "--lib",
      "es2023,dom,dom.iterable",
      ...resolution,
      "types/main.ts",
    );
  }
});

test("the widget's package does not contain the writer", async () => {
  const names = await readdir(join(consumer.folder, "node_modules/@evidence-chat/widget/dist"));
  assert.ok(!names.includes("writer"), names.join(", "));
});
