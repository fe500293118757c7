// The manifest of @evidence-chat/embedder, as npm and the tools of its users read it.
import { checkPackage } from "./check-package.mjs";
import { MODEL_FILE, READER_FILE } from "../lib/model-file.mjs";
import { EMBEDDER } from "./consumer.mjs";

checkPackage("embedder", {
  path: EMBEDDER,
  directory: "embedder-wasm/npm",
  // The other entries are WebAssembly, model, reader and the manifest, which have no types.
  entries: [".", "./worker"],
  models: [MODEL_FILE, READER_FILE],
});
