import { withoutQuery } from "./loading/http.js";
import { startWasmFile } from "./loading/start-wasm.js";
import initWasm, { fingerprint, ModelLoader } from "../wasm/embedder.js";
import { EmbedderError } from "./errors.js";
import { identityOf } from "./file-identity.js";

/** The exports of the running WebAssembly module. */
export interface WasmModule {
  readonly ModelLoader: typeof ModelLoader;
}

let started: Promise<WasmModule> | undefined;
/** The callbacks of all who wait. */
const listeners = new Set<() => void>();

/**
 * Fetches and starts the WebAssembly module, once per thread. Cannot be aborted, since other callers may wait for it; a
 * failed start can be retried. `onChunk` is called as it arrives.
 */
export function startWasm(url: string, onChunk: () => void): Promise<WasmModule> {
  started ??= start(url).catch((thrown: unknown) => {
    started = undefined;
    throw thrown;
  });
  listeners.add(onChunk);
  return started.finally(() => listeners.delete(onChunk));
}

async function start(url: string): Promise<WasmModule> {
  const init = (response: Response) => initWasm({ module_or_path: response });
  await startWasmFile(url, "wasmUrl", init, () => listeners.forEach((onChunk) => onChunk()));
  if (fingerprint() !== identityOf("model").fingerprint) {
    throw new EmbedderError(
      "integrity",
      `${withoutQuery(url)} belongs to another version of this package. Deploy its files together.`,
    );
  }
  return { ModelLoader };
}
