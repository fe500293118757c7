import { readFile } from "node:fs/promises";
import { basename } from "node:path";

const MANIFEST = new URL("../../embedder-wasm/npm/package.json", import.meta.url);

const { exports } = JSON.parse(await readFile(MANIFEST, "utf8"));

/** Name of the compressed model file in the package of the embedder. */
export const MODEL_FILE = basename(exports["./model"]);
/** Name of the reader's compressed file there. */
export const READER_FILE = basename(exports["./reader"]);
