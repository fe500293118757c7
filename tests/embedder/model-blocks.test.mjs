// The digests with which a browser verifies the model block by block are those of the model that the crate requires.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { modelFolder } from "../lib/embedder.mjs";

const DIGESTS = new URL("../../embedder-wasm/npm/model-blocks.json", import.meta.url);

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("the digests of the model's blocks are those of the model", async () => {
  const { blockBytes, sha256: digests } = JSON.parse(await readFile(DIGESTS, "utf8"));
  const model = await readFile(`${modelFolder()}/all-MiniLM-L6-v2-int8.safetensors`);
  const actual = [];
  for (let start = 0; start < model.length; start += blockBytes) {
    actual.push(sha256(model.subarray(start, start + blockBytes)));
  }
  assert.deepEqual(digests, actual);
});
