// Where the packed widget finds the model, which only the package of the embedder contains. Each way really loads it.
import assert from "node:assert/strict";
import { cp, readdir, readFile, stat } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { build, createServer } from "vite";
import webpack from "webpack";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { MODEL_FILE } from "../lib/model-file.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";

const SCOPE = "node_modules/@evidence-chat";
const { version } = JSON.parse(await readFile(new URL("../../web/package.json", import.meta.url), "utf8"));

let consumer, browser;

before(async () => {
  consumer = await createConsumer([EMBEDDER, WIDGET]);
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await consumer?.remove();
});

const pageWith = (script) =>
  `<!doctype html><title>page</title><script type="module" src="${script}"></script>` +
  '<evidence-chat endpoint="/api/chat"></evidence-chat>';

/** Opens the page, turns to the chat, and returns the path of the model that was loaded. */
async function loadedModel(url) {
  const page = await browser.page.context().newPage();
  try {
    const models = [];
    page.on("request", (request) => request.url().endsWith(".gz") && models.push(request.url()));
    await page.goto(url);
    await page.locator("evidence-chat [part~=input]").click();
    await page.locator("evidence-chat:is([data-state=ready], [data-state=error])").waitFor();
    assert.equal(await page.locator("evidence-chat").getAttribute("data-state"), "ready", models.join());
    assert.equal(models.length, 1, models.join());
    return new URL(models[0]).pathname;
  } finally {
    await page.close();
  }
}

/** Serves a folder of the consumer, and returns the path of the model that its page loads. */
async function modelOf(folder) {
  const server = await serve(consumer.path(folder));
  try {
    return await loadedModel(server.origin);
  } finally {
    await server.close();
  }
}

const copy = (from, to) => cp(consumer.path(from), consumer.path(to), { recursive: true });

describe("the packed widget without a bundler", () => {
  for (const address of [version, "latest"]) {
    test(`loads the model of its version from a CDN for npm packages that serves it as @${address}`, async () => {
      await copy(`${SCOPE}/embedder`, `cdn/npm/@evidence-chat/embedder@${version}`);
      await copy(`${SCOPE}/widget`, `cdn/npm/@evidence-chat/widget@${address}`);
      const cdn = await serve(consumer.path("cdn"), { "access-control-allow-origin": "*" });
      const script = `${cdn.origin}/npm/@evidence-chat/widget@${address}/dist/evidence-chat.js`;
      await consumer.write(`from-cdn-${address}`, { "index.html": pageWith(script) });
      try {
        const path = await modelOf(`from-cdn-${address}`);
        assert.equal(path, `/npm/@evidence-chat/embedder@${version}/dist/${MODEL_FILE}`);
      } finally {
        await cdn.close();
      }
    });
  }

  test("loads the model of the package next to it from a served node_modules", async () => {
    await consumer.write(".", { "index.html": pageWith(`/${SCOPE}/widget/dist/evidence-chat.js`) });
    assert.equal(await modelOf("."), `/${SCOPE}/embedder/dist/${MODEL_FILE}`);
  });

  test("loads the model from its own folder if the site serves that under another name", async () => {
    await copy(`${SCOPE}/widget/dist`, "plain/evidence-chat");
    await copy(`${SCOPE}/embedder/dist/${MODEL_FILE}`, `plain/evidence-chat/${MODEL_FILE}`);
    await consumer.write("plain", { "index.html": pageWith("/evidence-chat/evidence-chat.js") });
    assert.equal(await modelOf("plain"), `/evidence-chat/${MODEL_FILE}`);
  });
});

describe("the packed widget with a bundler", () => {
  const MAIN = 'import "@evidence-chat/widget/define";';

  test("loads the model that the build of Vite emits", async () => {
    const root = await consumer.write("vite", { "index.html": pageWith("./main.js"), "main.js": MAIN });
    await build({ root, configFile: false, logLevel: "error" });
    const emitted = (await readdir(`${root}/dist/assets`)).filter((name) => name.endsWith(".gz")).sort();
    assert.equal(emitted.length, 2, "model and reader");
    assert.equal(await modelOf("vite/dist"), `/assets/${emitted[0]}`);
  });

  test("loads the model from the development server of Vite", async () => {
    const root = await consumer.write("vite-dev", { "index.html": pageWith("./main.js"), "main.js": MAIN });
    const server = await createServer({ root, configFile: false, logLevel: "error", server: { host: "127.0.0.1" } });
    try {
      await server.listen(0);
      assert.ok((await loadedModel(server.resolvedUrls.local[0])).endsWith(`/embedder/dist/${MODEL_FILE}`));
    } finally {
      await server.close();
    }
  });

  test("loads the model that the build of webpack emits", async () => {
    const context = await consumer.write("webpack", { "main.js": MAIN });
    const output = { path: consumer.path("webpack/dist"), filename: "main.js", publicPath: "auto" };
    const compiler = webpack({ context, entry: "./main.js", mode: "production", output, performance: false });
    const stats = await promisify(compiler.run.bind(compiler))();
    const { errors, warnings } = stats.toJson({ errors: true, warnings: true });
    assert.deepEqual([errors, warnings], [[], []]);
    const emitted = (await readdir(output.path)).filter((name) => name.endsWith(".gz"));
    assert.equal(emitted.length, 2, "model and reader");
    await consumer.write("webpack/dist", { "index.html": pageWith("./main.js") });
    const { size } = await stat(consumer.path("webpack/dist", (await modelOf("webpack/dist")).slice(1)));
    assert.ok(size > 15_000_000, `${size} bytes are not those of the model`);
  });
});
