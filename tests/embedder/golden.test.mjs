// The package returns the bits of the native embedder (embedder-wasm/tests/golden.json): with both WebAssembly files, in
// Node.js and in a browser.
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BROWSER, openBrowser } from "../lib/browser.mjs";
import { modelFolder } from "../lib/embedder.mjs";
import { serve } from "../lib/static-server.mjs";

const DIST = new URL("../../embedder-wasm/npm/dist/", import.meta.url);

let golden, folder, server, browser, page;

before(async () => {
  golden = JSON.parse(await readFile(new URL("../../embedder-wasm/tests/golden.json", import.meta.url), "utf8"));
  folder = await mkdtemp(join(tmpdir(), "embedder-golden-"));
  await cp(fileURLToPath(DIST), folder, { recursive: true });
  await writeFile(join(folder, "index.html"), "<!doctype html><title>golden</title>");
  server = await serve(folder);
  browser = await openBrowser();
  page = browser.page;
});

after(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Embeds the texts one by one and as a batch, in the form of golden.json. Also runs, as source code, in the page. */
async function embed({ module, options, texts }) {
  const { createEmbedder } = await import(module);
  const embedder = await createEmbedder(options);
  const oneByOne = [];
  for (const text of texts) oneByOne.push(await embedder.embed(text));
  const batch = await embedder.embedBatch(texts);
  embedder.dispose();
  const hex = (vector) => {
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const items = (embeddings) =>
    embeddings.map(({ vector, ...rest }, index) => ({ text: texts[index], ...rest, vector: hex(vector) }));
  return { fingerprint: embedder.fingerprint, oneByOne: items(oneByOne), batch: items(batch) };
}

function assertGolden({ fingerprint, ...outcomes }) {
  assert.equal(fingerprint, golden.fingerprint, "golden.json belongs to another model or engine");
  assert.ok(golden.items.length > 0);
  for (const [method, items] of Object.entries(outcomes)) {
    assert.equal(items.length, golden.items.length);
    for (const [index, item] of golden.items.entries()) {
      assert.match(item.vector, /^[0-9a-f]{3072}$/);
      assert.deepEqual(items[index], item, `item ${index}, ${method}`);
    }
  }
}

const texts = () => golden.items.map(({ text }) => text);

// Each from its own folder, because a module starts WebAssembly only once.
const IN_NODE = [
  {
    name: "embedder_bg.wasm and the model file of kb",
    from: () => DIST,
    wasmFile: "embedder_bg.wasm",
    model: () => pathToFileURL(`${modelFolder()}/all-MiniLM-L6-v2-int8.safetensors`),
  },
  {
    name: "the files that it chooses",
    from: () => pathToFileURL(`${folder}/`),
    wasmFile: undefined,
    model: () => undefined,
  },
];

// Not again in each browser.
for (const { name, from, wasmFile, model } of BROWSER === "chromium" ? IN_NODE : []) {
  test(`Node.js with ${name} returns the golden vectors`, async () => {
    const wasmUrl = wasmFile && new URL(wasmFile, from());
    const options = { wasmUrl, modelUrl: model() };
    assertGolden(await embed({ module: new URL("index.js", from()), options, texts: texts() }));
  });
}

for (const [name, hasRelaxedSimd] of [
  ["embedder_relaxed_bg.wasm", true],
  ["embedder_bg.wasm", false],
]) {
  // WebKitGTK 2.50 has no relaxed SIMD.
  const skip = hasRelaxedSimd && BROWSER === "webkit" && "platform: WebKitGTK has no relaxed SIMD";
  test(
    `A browser ${hasRelaxedSimd ? "with" : "without"} relaxed SIMD fetches only ${name} and returns the golden vectors`,
    { skip },
    async () => {
      await page.goto(server.origin);
      if (!hasRelaxedSimd) await page.evaluate(denyRelaxedSimd);
      server.requests.length = 0;
      const options = { mode: "worker", cache: false };
      assertGolden(await page.evaluate(embed, { module: "/index.js", options, texts: texts() }));
      assert.ok(server.requests.includes("/worker.js"));
      assert.deepEqual(
        server.requests.filter((path) => path.endsWith(".wasm")),
        [`/${name}`],
      );
    },
  );
}

test("A browser returns the golden vectors in the calling thread", async () => {
  await page.goto(server.origin);
  const options = { mode: "inline", cache: false };
  assertGolden(await page.evaluate(embed, { module: "/index.js", options, texts: texts() }));
});

/** Simulates a browser that does not support `i32x4.relaxed_dot_i8x16_i7x16_add_s`. */
function denyRelaxedSimd() {
  const { validate } = WebAssembly;
  WebAssembly.validate = (module) =>
    !Array.from(/** @type {Uint8Array<ArrayBuffer>} */ (module))
      .join()
      .includes("253,147,2") && validate(module);
}
