// The language model as WebAssembly, without its npm package.
import { readFile } from "node:fs/promises";

const WASM = new URL("../../../writer/npm/wasm/", import.meta.url);

/** The module, with its memory. */
export async function openWriter() {
  const writer = await import(new URL("writer.js", WASM).href);
  const { memory } = await writer.default({ module_or_path: await readFile(new URL("writer_bg.wasm", WASM)) });
  return { ...writer, memory };
}

/** Loads a GGUF file that arrives in pieces of this size. */
export function loadModel(writer, file, size) {
  const loader = writer.Model.loader(file.length);
  for (let start = 0; start < file.length; start += size) loader.push(file.subarray(start, start + size));
  return loader.finish();
}
