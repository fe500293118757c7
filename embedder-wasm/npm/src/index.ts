/** Sentence embeddings in the browser: a WebAssembly build of all-MiniLM-L6-v2 that runs in a Web Worker. */
import { BrowserEmbedder } from "./browser-embedder.js";
import { EmbedderError } from "./errors.js";
import type { EmbedderProgress } from "./progress.js";
import { startWorker } from "./start-worker.js";
import { isSupported } from "./support.js";

export { BrowserEmbedder } from "./browser-embedder.js";
export { EmbedderError, type EmbedderErrorCode } from "./errors.js";
export type { EmbedderProgress } from "./progress.js";
export type { TextEmbedding } from "./protocol.js";
export { isSupported } from "./support.js";

/** Where the embedder's parts are, and who wants to know how their loading goes. */
export interface EmbedderOptions {
  /** Base URL of the folder that holds `model.safetensors` and `tokenizer.json`. */
  readonly modelUrl: string | URL;
  readonly onProgress?: (progress: EmbedderProgress) => void;
  /** Aborting it stops the loading, and the returned promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Defaults to `worker.js` beside this module. Another origin is fine if it allows CORS. */
  readonly workerUrl?: string | URL;
  /** Defaults to `embedder_bg.wasm` beside this module. */
  readonly wasmUrl?: string | URL;
}

/** Downloads the model (or takes it from the browser's cache) and starts the embedder; rejects with `EmbedderError`. */
export async function createEmbedder(options: EmbedderOptions): Promise<BrowserEmbedder> {
  options.signal?.throwIfAborted();
  if (!isSupported()) {
    throw new EmbedderError(
      "unsupported_browser",
      "This browser does not support WebAssembly with SIMD in Web Workers.",
    );
  }
  const { worker, release } = startWorker(absolute(options.workerUrl ?? new URL("./worker.js", import.meta.url)));
  try {
    return await BrowserEmbedder.load(worker, {
      modelUrl: absolute(options.modelUrl).href,
      wasmUrl: absolute(options.wasmUrl ?? new URL("./embedder_bg.wasm", import.meta.url)).href,
      ...(options.onProgress && { onProgress: options.onProgress }),
      ...(options.signal && { signal: options.signal }),
    });
  } finally {
    release();
  }
}

/** Relative URLs are the page's; the worker has another base. */
function absolute(url: string | URL): URL {
  return new URL(url, globalThis.document?.baseURI);
}
