import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../../tests/lib/import-ts.mjs";

const { createEmbedder, isSupported } = await importTs(new URL("../src/index.ts", import.meta.url));

test("a browser needs workers and WebAssembly", async (t) => {
  assert.equal(isSupported(), false, "Node has no Worker global");
  globalThis.Worker = class {};
  t.after(() => delete globalThis.Worker);
  assert.equal(isSupported(), true, "Node's WebAssembly has SIMD, so the probe must validate");

  const { WebAssembly } = globalThis;
  t.after(() => Object.assign(globalThis, { WebAssembly }));
  delete globalThis.WebAssembly;
  assert.equal(isSupported(), false);
});

test("an unsupported browser is told so before anything is downloaded", async () => {
  await assert.rejects(createEmbedder({ modelUrl: "http://127.0.0.1:1/" }), { code: "unsupported_browser" });
});
