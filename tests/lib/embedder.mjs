// The embedder as WebAssembly, loaded in Node.js: the same bytes a browser runs.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const WASM = new URL("../../embedder-wasm/npm/wasm/", import.meta.url);

let loading;

/** @returns {Promise<{embedder: import('../../embedder-wasm/npm/wasm/embedder.js').WasmEmbedder, fingerprint: string}>} */
export function loadEmbedder() {
  loading ??= load();
  return loading;
}

async function load() {
  const modelDir = process.env.EVIDENCE_MODEL_DIR;
  if (!modelDir) throw new Error("EVIDENCE_MODEL_DIR is not set; run these tests with `cargo xtask test`");
  const wasm = await import(new URL("embedder.js", WASM));
  await wasm.default({ module_or_path: await readFile(new URL("embedder_bg.wasm", WASM)) });
  const [model, tokenizer] = await Promise.all(
    ["model.safetensors", "tokenizer.json"].map((name) => readFile(join(modelDir, name))),
  );
  return { embedder: new wasm.WasmEmbedder(model, tokenizer), fingerprint: wasm.fingerprint() };
}
