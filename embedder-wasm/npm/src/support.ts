import { EmbedderError } from "./errors.js";
import { hasTrustedTypes } from "./worker-policy.js";

/** Where the embedder runs: in its own Web Worker, or in the calling thread. */
export type EmbedderMode = "worker" | "inline";

/**
 * `(func (drop (i8x16.splat (i32.const 0))) (drop (ref.null extern)))`: a small module that is
 * valid only if WebAssembly has the features that our modules are compiled for, 128-bit SIMD and
 * reference types.
 */
// prettier-ignore
const PROBE = Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic, version
  0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // one type: () -> ()
  0x03, 0x02, 0x01, 0x00, // one function of that type
  0x0a, 0x0c, 0x01, 0x0a, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x1a, 0xd0, 0x6f, 0x1a, 0x0b, // its body
);

/**
 * `(func (drop (i32x4.relaxed_dot_i8x16_i7x16_add_s …)))` of three zeros: valid only if WebAssembly
 * has relaxed SIMD.
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

/**
 * A worker in a page and in its workers, otherwise (Node, Deno, Bun, service workers) the calling
 * thread. Some servers have workers of another kind.
 */
export function defaultMode(): EmbedderMode {
  // Only pages and their workers have an address.
  return globalThis.location !== undefined && typeof Worker === "function" ? "worker" : "inline";
}

/** Whether an embedder can run here. Needs no network and takes no time. */
export function isSupported(mode: EmbedderMode = defaultMode()): boolean {
  return missingFeature(mode) === null;
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

/**
 * Name of the WebAssembly file for this browser. With relaxed SIMD the module can multiply bytes,
 * which is twice as fast; a browser without it rejects that file. Both files return the same bits.
 */
export function wasmFile(): "embedder_relaxed_bg.wasm" | "embedder_bg.wasm" {
  const isRelaxed = typeof WebAssembly === "object" && WebAssembly.validate(RELAXED_PROBE);
  return isRelaxed ? "embedder_relaxed_bg.wasm" : "embedder_bg.wasm";
}

/**
 * Throws `blocked` if the Content-Security-Policy forbids WebAssembly. Only compiling a module
 * reveals it, and only for the current thread: a worker has the policy that its script was served
 * with.
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
  // The newest API that our code needs apart from these: Chrome has it from version 103.
  if (!("timeout" in AbortSignal)) return "AbortSignal.timeout";
  return null;
}

/** Browsers without module workers never read the option `type`. The URL is invalid, so no worker starts. */
function hasModuleWorkers(): boolean {
  if (typeof Worker !== "function") return false;
  // Every browser with Trusted Types has module workers, and it may forbid the untrusted URL of the
  // probe.
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
