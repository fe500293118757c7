// The reader as WebAssembly returns the bits of the native one (embedder-wasm/tests/reader.json): with both WebAssembly files,
// in Node.js and in a browser.
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BROWSER, openBrowser } from "../lib/browser.mjs";
import { embedOne, loadWasm, modelFolder, readerFile } from "../lib/embedder.mjs";
import { serve } from "../lib/static-server.mjs";

const FILES = ["embedder_bg.wasm", "embedder_relaxed_bg.wasm"];

let golden;

before(async () => {
  const { items } = JSON.parse(
    await readFile(new URL("../../embedder-wasm/tests/reader.json", import.meta.url), "utf8"),
  );
  golden = items.filter(({ bits }) => bits);
  assert.ok(golden.length >= 10);
});

/** The digits of the bits of each z; null for NaN. */
const bitsOf = (z) =>
  [...z].map((value) => {
    if (Number.isNaN(value)) return null;
    const view = new DataView(new ArrayBuffer(4));
    view.setFloat32(0, value);
    return view.getUint32(0).toString(16).padStart(8, "0");
  });

for (const file of FILES) {
  test(`${file} returns the golden scores, passage by passage and together`, async () => {
    const { reader } = await load(file);
    for (const { question, heading, statements, bits } of golden) {
      const z = reader.readPassages(question, [heading], statements, Uint32Array.of(statements.length));
      assert.deepEqual(bitsOf(z), bits, question);
    }
    const { question } = golden[0];
    const together = golden.map(({ heading, statements }) => ({ heading, statements }));
    const one = ({ heading, statements }) => read(reader, question, [{ heading, statements }]);
    assert.deepEqual(
      bitsOf(read(reader, question, together)),
      together.flatMap((passage) => bitsOf(one(passage))),
    );
  });
}

test("A browser returns the golden scores", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "embedder-reader-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { files } = await loadWasm();
  await cp(fileURLToPath(new URL("../../embedder-wasm/npm/wasm/", import.meta.url)), folder, { recursive: true });
  await cp(join(modelFolder(), files.model.source), join(folder, "model"));
  await cp(readerFile(files), join(folder, "reader"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>reader</title>");
  const server = await serve(folder);
  t.after(() => server.close());
  const browser = await openBrowser();
  t.after(() => browser.close());
  await browser.page.goto(server.origin);
  // WebKitGTK 2.50 has no relaxed SIMD.
  for (const file of BROWSER === "webkit" ? FILES.slice(0, 1) : FILES) {
    const read = await browser.page.evaluate(readInPage, { file, items: golden });
    for (const [index, { question, bits }] of golden.entries()) {
      assert.deepEqual(bitsOf(read[index]), bits, `${file}: ${question}`);
    }
  }
});

/** Runs in the page, as source code. */
async function readInPage({ file, items }) {
  const wasm = await import(`/embedder.js?${file}`);
  await wasm.default({ module_or_path: `/${file}` });
  const fill = async (loader, url) => {
    loader.append(new Uint8Array(await (await fetch(url)).arrayBuffer()));
    return loader;
  };
  const embedder = (await fill(new wasm.ModelLoader(), "/model")).finish(false);
  const reader = (await fill(wasm.ModelLoader.forReader(), "/reader")).finishReader(embedder, false);
  return items.map(({ question, heading, statements }) => [
    ...reader.readPassages(question, [heading], statements, Uint32Array.of(statements.length)),
  ]);
}

test("reading changes no vector, and a reader outlives its embedder", async () => {
  const { embedder, reader } = await load(FILES[0]);
  const { question, heading, statements } = golden[0];
  const { vector } = embedOne(embedder, question);
  const z = read(reader, question, [{ heading, statements }]);
  assert.deepEqual(embedOne(embedder, question).vector, vector);
  embedder.free();
  assert.deepEqual(read(reader, question, [{ heading, statements }]), z);
});

test("readPassages rejects counts that do not add up", async () => {
  const { reader } = await load(FILES[0]);
  for (const counts of [[], [1], [3], [1, 1], [4294967295]]) {
    assert.throws(() => reader.readPassages("q", ["h"], ["a", "b"], Uint32Array.from(counts)), RangeError);
  }
  assert.equal(reader.readPassages("q", ["h"], ["a", "b"], Uint32Array.of(2)).length, 2);
  assert.equal(reader.readPassages("q", [], [], new Uint32Array()).length, 0);
});

test('finishReader rejects any file but the reader with code "integrity"', async () => {
  const { wasm, files, embedder, file } = await load(FILES[0]);
  assert.equal(files.reader.byteLength, file.length);
  const damaged = Buffer.from(file);
  damaged[damaged.length >> 1] ^= 1;
  for (const [bytes, verified] of [
    [Buffer.alloc(0), false],
    [file.subarray(1), false],
    [file.subarray(1), true],
    [damaged, false],
  ]) {
    const loader = wasm.ModelLoader.forReader();
    loader.append(bytes);
    assert.throws(() => loader.finishReader(embedder, verified), { code: "integrity" });
  }
  const full = wasm.ModelLoader.forReader();
  full.append(file);
  assert.throws(() => full.append(new Uint8Array(1)), { code: "integrity" });
  assert.throws(() => full.finish(true), { code: "integrity" });
});

function read(reader, question, passages) {
  const headings = passages.map(({ heading }) => heading);
  const counts = Uint32Array.from(passages, ({ statements }) => statements.length);
  return reader.readPassages(
    question,
    headings,
    passages.flatMap(({ statements }) => statements),
    counts,
  );
}

async function load(wasmFile) {
  const { wasm, files, model } = await loadWasm(wasmFile);
  const loader = new wasm.ModelLoader();
  loader.append(model);
  const embedder = loader.finish(true);
  const file = await readFile(readerFile(files));
  const readerLoader = wasm.ModelLoader.forReader();
  readerLoader.append(file.subarray(0, 1000));
  readerLoader.append(file.subarray(1000));
  return { wasm, files, embedder, file, reader: readerLoader.finishReader(embedder, false) };
}
