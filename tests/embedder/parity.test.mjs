import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { promisify } from "node:util";
import { loadEmbedder } from "../lib/embedder.mjs";
import { cosine, referenceItems } from "../lib/reference.mjs";

test("WebAssembly gives the reference token ids and vectors", async (t) => {
  const { items, reason } = await referenceItems();
  if (!items) return t.skip(reason);
  const { embedder } = await loadEmbedder();
  assert.ok(items.length > 0);
  for (const [index, item] of items.entries()) {
    assert.deepEqual([...embedder.tokenIds(item.text)], item.ids, `token ids of item ${index}`);
    const embedding = embedder.embed(item.text);
    assert.equal(embedding.tokenCount, item.untruncated_len, `token count of item ${index}`);
    assert.equal(embedding.truncated, item.untruncated_len > 256, `truncation of item ${index}`);
    const similarity = cosine(embedding.vector, item.embedding);
    assert.ok(similarity >= 0.9999, `item ${index}: cosine ${similarity}`);
    embedding.free();
  }
});

test("WebAssembly and the kb command line agree on vector and fingerprint", async () => {
  const text = "Can I get my money back after two weeks?";
  const { stdout } = await promisify(execFile)(process.env.KB_BINARY, ["embed", text]);
  const native = JSON.parse(stdout);
  const { embedder, fingerprint } = await loadEmbedder();
  const embedding = embedder.embed(text);
  assert.equal(native.model, fingerprint);
  assert.equal(native.token_count, embedding.tokenCount);
  assert.ok(cosine(native.vector, embedding.vector) >= 0.99999);
});

test("damaged files are refused with a message, and the module goes on working", async () => {
  const { embedder } = await loadEmbedder();
  const { WasmEmbedder } = await import("../../embedder-wasm/npm/wasm/embedder.js");
  assert.throws(() => new WasmEmbedder(new Uint8Array(10), new Uint8Array(10)), /is not the expected file/);
  assert.equal(embedder.embed("still here").vector.length, 384);
});
