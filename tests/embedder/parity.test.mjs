import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import test from "node:test";
import { promisify } from "node:util";
import { embedOne, loadEmbedder, loadWasm } from "../lib/embedder.mjs";
import { cosine, referenceItems } from "../lib/reference.mjs";

test("WebAssembly returns the reference token ids, and vectors close to those of the f32 model", async () => {
  const items = await referenceItems();
  const { embedder } = await loadEmbedder();
  assert.ok(items.length > 0);
  const similarities = [];
  for (const [index, item] of items.entries()) {
    assert.deepEqual([...embedder.tokenIds(item.text)], item.ids, `token ids of item ${index}`);
    const embedding = embedOne(embedder, item.text);
    assert.equal(embedding.tokens, item.untruncated_len, `token count of item ${index}`);
    assert.equal(embedding.truncated, item.untruncated_len > 256, `truncation of item ${index}`);
    similarities.push(cosine(embedding.vector, item.embedding));
  }
  const mean = similarities.reduce((sum, similarity) => sum + similarity, 0) / items.length;
  const min = Math.min(...similarities);
  assert.ok(mean >= 0.998, `mean cosine ${mean}`);
  assert.ok(min >= 0.995, `cosine ${min} of item ${similarities.indexOf(min)}`);
});

test("WebAssembly and `kb embed` return the same bits and the same fingerprint", async () => {
  const { embedder, fingerprint } = await loadEmbedder();
  for (const text of ["Can I get my money back after two weeks?", "", "word ".repeat(300)]) {
    const { stdout } = await promisify(execFile)(process.env.KB_BINARY, ["embed", text]);
    const native = JSON.parse(stdout);
    const embedding = embedOne(embedder, text);
    assert.equal(native.model, fingerprint);
    assert.equal(native.tokens, embedding.tokens);
    assert.equal(native.truncated, embedding.truncated);
    assert.deepEqual(Float32Array.from(native.vector), embedding.vector);
  }
});

test("ModelLoader accepts the model in chunks of any size, and again after a reset", async () => {
  const { embedder } = await loadEmbedder();
  const { wasm, files, model } = await loadWasm();
  assert.equal(files.model.byteLength, model.length);
  assert.equal(files.model.sha256, createHash("sha256").update(model).digest("hex"));
  const loader = new wasm.ModelLoader();
  loader.append(model.subarray(0, 12_345));
  loader.reset();
  assert.equal(loader.received, 0);
  for (let start = 0, size = 1; start < model.length; start += size, size = size * 3 + 1) {
    loader.append(model.subarray(start, start + size));
  }
  assert.equal(loader.received, model.length);
  assert.ok(model.equals(loader.view()));
  const other = loader.finish(false);
  assert.deepEqual(embedOne(other, "same"), embedOne(embedder, "same"));
  other.free();
});

test('ModelLoader rejects any file but the model with code "integrity", and the module keeps working', async () => {
  const { embedder } = await loadEmbedder();
  const { wasm, model } = await loadWasm();
  const damaged = Buffer.from(model);
  damaged[damaged.length >> 1] ^= 1;
  for (const bytes of [Buffer.alloc(0), model.subarray(1), damaged]) {
    const loader = new wasm.ModelLoader();
    loader.append(bytes);
    assert.throws(() => loader.finish(false), { code: "integrity" });
  }
  const full = new wasm.ModelLoader();
  full.append(model);
  assert.throws(() => full.append(new Uint8Array(1)), { code: "integrity" });
  full.free();
  assert.equal(embedOne(embedder, "still here").vector.length, 384);
});
