import { readFile } from "node:fs/promises";
import { basename } from "node:path";

const MANIFEST = new URL("../../embedder-wasm/npm/package.json", import.meta.url);

/** Name of the compressed model file in the package of the embedder. */
export const MODEL_FILE = basename(JSON.parse(await readFile(MANIFEST, "utf8")).exports["./model"]);
