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

/** The initialised module of this file, one per file, and the bytes of its model file. */
export async function loadWasm(file = "embedder_bg.wasm") {
  const wasm = await import(new URL(`embedder.js?${file}`, WASM).href);
  await wasm.default({ module_or_path: await readFile(new URL(file, WASM)) });
  return { wasm, model: await readFile(join(modelFolder(), wasm.modelFile())) };
}

/** The reader's file that this module requires. */
export const readerFile = (wasm) => new URL(`../../embedder-wasm/reader/${wasm.readerFile()}`, import.meta.url);

/** The folder with the model file. */
export function modelFolder() {
  const folder = process.env.EVIDENCE_MODEL_DIR;
  if (!folder) throw new Error("EVIDENCE_MODEL_DIR is not set; run these tests with `cargo xtask test`");
  return folder;
}

async function load() {
  const { wasm, model } = await loadWasm();
  const loader = new wasm.ModelLoader();
  loader.append(model);
  return { embedder: loader.finish(false), fingerprint: wasm.fingerprint() };
}
