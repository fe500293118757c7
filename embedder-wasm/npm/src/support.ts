import { EmbedderError } from "./errors.js";
import { hasTrustedTypes } from "./trusted-url.js";

/** Where the embedder computes: in a Web Worker of its own, or in the thread that calls it. */
export type EmbedderMode = "worker" | "inline";

/**
 * `(func (drop (i8x16.splat (i32.const 0))) (drop (ref.null extern)))`: a small module that is only valid where
 * WebAssembly has what the embedder is compiled to, 128-bit SIMD and reference types.
 */
// prettier-ignore
const PROBE = Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic, version
  0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // one type: () -> ()
  0x03, 0x02, 0x01, 0x00, // one function of that type
  0x0a, 0x0c, 0x01, 0x0a, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x1a, 0xd0, 0x6f, 0x1a, 0x0b, // its body
);

/**
 * `(func (drop (i32x4.relaxed_dot_i8x16_i7x16_add_s …)))` of three zeros: valid where WebAssembly has relaxed SIMD.
 */
// prettier-ignore
const RELAXED_PROBE = Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic, version
  0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // one type: () -> ()
  0x03, 0x02, 0x01, 0x00, // one function of that type
  0x0a, 0x14, 0x01, 0x12, 0x00, // its body: no locals,
  0x41, 0x00, 0xfd, 0x0f, 0x41, 0x00, 0xfd, 0x0f, 0x41, 0x00, 0xfd, 0x0f, // i8x16.splat (i32.const 0), three times
  0xfd, 0x93, 0x02, 0x1a, 0x0b,
);

/** A worker where there are any; else (Node, service workers) the calling thread. */
export function defaultMode(): EmbedderMode {
  return typeof Worker === "function" ? "worker" : "inline";
}

/** Whether an embedder can run here. Asks nothing of the network and takes no time. */
export function isSupported(mode: EmbedderMode = defaultMode()): boolean {
  return missingFeature(mode) === null;
}

/**
 * Name of the WebAssembly file that this browser takes: with relaxed SIMD the module may multiply bytes, which is twice
 * as fast. A browser without it refuses that file. Both files give the same bits.
 */
export function wasmFile(): "embedder_relaxed_bg.wasm" | "embedder_bg.wasm" {
  const isRelaxed = typeof WebAssembly === "object" && WebAssembly.validate(RELAXED_PROBE);
  return isRelaxed ? "embedder_relaxed_bg.wasm" : "embedder_bg.wasm";
}

/** Throws `unsupported_browser` where an embedder cannot run. */
export function assertSupported(mode: EmbedderMode): void {
  const missing = missingFeature(mode);
  if (missing === null) return;
  throw new EmbedderError(
    "unsupported_browser",
    `This browser has no ${missing}. Use Chrome or Edge 96, Firefox 114, Safari 16.4, or a later version.`,
  );
}

/**
 * Throws `blocked` where the Content-Security-Policy forbids WebAssembly. Only compiling tells, and it tells for the
 * thread it is tried in: a worker has the policy that its own script was served with.
 */
export function assertWasmAllowed(): void {
  try {
    new WebAssembly.Module(PROBE);
  } catch (cause) {
    throw new EmbedderError(
      "blocked",
      "The Content-Security-Policy forbids WebAssembly. Add 'wasm-unsafe-eval' to its script-src.",
      { cause },
    );
  }
}

function missingFeature(mode: EmbedderMode): string | null {
  if (typeof WebAssembly !== "object") return "WebAssembly";
  if (!WebAssembly.validate(PROBE)) return "WebAssembly with SIMD and reference types";
  if (mode === "worker" && !hasModuleWorkers()) return "module workers";
  return null;
}

/** Browsers without module workers never read the option `type`. The address is invalid, so that no worker starts. */
function hasModuleWorkers(): boolean {
  // Who has these has module workers, and may not be asked with an address that nobody trusts.
  if (hasTrustedTypes()) return true;
  let isRead = false;
  const options = {
    get type() {
      isRead = true;
      return "module" as const;
    },
  };
  try {
    new Worker("http://[", options).terminate();
  } catch {
    // "http://[" is not a URL.
  }
  return isRead;
}
