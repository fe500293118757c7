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

/** The initialised module of this file, one per file, the files that it requires, and the bytes of its model file. */
export async function loadWasm(file = "embedder_bg.wasm") {
  const wasm = await import(new URL(`embedder.js?${file}`, WASM).href);
  await wasm.default({ module_or_path: await readFile(new URL(file, WASM)) });
  const files = JSON.parse(wasm.requiredFiles());
  return { wasm, files, model: await readFile(join(modelFolder(), files.model.source)) };
}

/** The URL of the reader's file. */
export const readerFile = ({ reader }) => new URL(`../../embedder-wasm/reader/${reader.source}`, import.meta.url);

/** The embedding of one text. */
export function embedOne(embedder, text) {
  const batch = embedder.embedBatch([text]);
  const [tokens] = batch.tokens;
  const embedding = { vector: batch.vectors, tokens, truncated: batch.truncated[0] === 1 };
  batch.free();
  return embedding;
}

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
