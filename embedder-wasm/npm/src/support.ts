import { hasRelaxedSimd, missingFeature } from "./loading/support.js";
import { EmbedderError } from "./errors.js";

/** Where the embedder runs: in its own Web Worker, or in the calling thread. */
export type EmbedderMode = "worker" | "inline";

/**
 * A worker in a page and in its workers, otherwise (Node, Deno, Bun, service workers) the calling thread. Some servers have workers of
 * another kind.
 */
export function defaultMode(): EmbedderMode {
  // Only pages and their workers have an address.
  return globalThis.location !== undefined && typeof Worker === "function" ? "worker" : "inline";
}

/** Whether an embedder can run here. Needs no network and takes no time. */
export function isSupported(mode: EmbedderMode = defaultMode()): boolean {
  return missingFeature(mode) === null;
}

/**
 * Name of the WebAssembly file for this browser. With relaxed SIMD the module can multiply bytes, which is twice as fast;
 * a browser without it rejects that file. Both files return the same bits.
 */
export function wasmFile(): "embedder_relaxed_bg.wasm" | "embedder_bg.wasm" {
  return hasRelaxedSimd() ? "embedder_relaxed_bg.wasm" : "embedder_bg.wasm";
}

/** Throws `unsupported_browser` if an embedder cannot run here. */
export function assertSupported(mode: EmbedderMode): void {
  const missing = missingFeature(mode);
  if (missing === null) return;
  throw new EmbedderError(
    "unsupported_browser",
    `This browser does not support ${missing}. Use Chrome or Edge 103, Firefox 114, Safari 16.4, or a later version.`,
  );
}
