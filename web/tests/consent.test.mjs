// Consent before the model is downloaded.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

// Defined by the embedder's build.
globalThis.MODEL_IDENTITY = { fingerprint: "0123456789abcdef" };

const { mustAskBeforeDownload } = await importTs(new URL("../src/panel/model/consent.ts", import.meta.url));

/** Sets whether the browser's cache contains the model. */
function cacheWith(model) {
  Object.assign(globalThis, { caches: { open: async () => ({ match: async () => model }) } });
}

const LIMITED = [
  { connection: { saveData: true } },
  { connection: { saveData: true, effectiveType: "4g" }, deviceMemory: 8 },
  { connection: { saveData: false, effectiveType: "slow-2g" } },
  { connection: { effectiveType: "2g" } },
  { connection: {}, deviceMemory: 0.5 },
  { deviceMemory: 0.25 },
  { deviceMemory: 1 },
];

const UNLIMITED = [
  {},
  { connection: {} },
  { connection: { saveData: false } },
  { connection: { saveData: false, effectiveType: "3g" } },
  { connection: { effectiveType: "4g" } },
  { deviceMemory: 2 },
  { deviceMemory: 8 },
  { connection: { saveData: false, effectiveType: "3g" }, deviceMemory: 2 },
];

beforeEach(() => cacheWith(undefined));

afterEach(() => delete globalThis.caches);

for (const device of LIMITED) {
  test(`the visitor is asked on ${JSON.stringify(device)}`, async () => {
    assert.equal(await mustAskBeforeDownload(device), true);
  });

  test(`the visitor is not asked if the model is cached, on ${JSON.stringify(device)}`, async () => {
    cacheWith(new Response("the model"));
    assert.equal(await mustAskBeforeDownload(device), false);
  });
}

for (const device of UNLIMITED) {
  test(`the visitor is not asked on ${JSON.stringify(device)}`, async () => {
    assert.equal(await mustAskBeforeDownload(device), false);
  });
}

test("the visitor is asked on a limited device whose cache is blocked or broken", async () => {
  const [device] = LIMITED;
  const broken = async () => {
    throw new DOMException("Storage is blocked.", "SecurityError");
  };
  for (const caches of [undefined, { open: broken }, { open: async () => ({ match: broken }) }]) {
    Object.assign(globalThis, { caches });
    assert.equal(await mustAskBeforeDownload(device), true);
  }
});
