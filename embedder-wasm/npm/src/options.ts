import { EmbedderError } from "./errors.js";
import { modelIdentity } from "./model-identity.js";
import type { LoadProgress } from "./progress.js";
import { defaultMode, type EmbedderMode, wasmFile } from "./support.js";

/** Where the embedder's parts are, and who wants to know how their loading goes. All of it may be left out. */
export interface EmbedderOptions {
  /**
   * The model file, or the folder that holds it (then it ends with `/`). Defaults to the file inside this package.
   * Relative URLs are the page's. In Node, `file:` URLs are read from disk.
   */
  readonly modelUrl?: string | URL | undefined;
  /**
   * The folder that holds `embedder_relaxed_bg.wasm` and `embedder_bg.wasm` (then it ends with `/`): the first one is
   * taken where the browser has relaxed SIMD, else the second. Or one file; only the second works everywhere. Defaults
   * to the files inside this package.
   */
  readonly wasmUrl?: string | URL | undefined;
  /** Defaults to `worker.js` inside this package. Another origin than the page's must allow CORS. */
  readonly workerUrl?: string | URL | undefined;
  /** `worker` where there are workers (every browser), else `inline`: in the calling thread. */
  readonly mode?: EmbedderMode | undefined;
  /** Whether to keep the model in the browser's Cache API for the next visit. Default: true. */
  readonly cache?: boolean | undefined;
  /** Milliseconds without any progress after which loading fails with `timeout`. Default: 15000; `Infinity` waits. */
  readonly timeoutMs?: number | undefined;
  /** Stops the loading, which then rejects with `aborted`. Without effect once the embedder is there. */
  readonly signal?: AbortSignal | undefined;
  /** Called from the first byte to the last. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** The options with everything filled in. */
export interface Settings {
  readonly modelUrl: string;
  readonly wasmUrl: string;
  /** `undefined` for the package's own, which bundlers must see as a literal. */
  readonly workerUrl: string | undefined;
  readonly mode: EmbedderMode;
  readonly cache: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (progress: LoadProgress) => void;
}

const TIMEOUT_MS = 15_000;

/** Fills in the defaults; throws `bad_input`. */
export function readOptions(options: EmbedderOptions): Settings {
  const { mode = defaultMode(), timeoutMs = TIMEOUT_MS } = options;
  if (!(typeof timeoutMs === "number" && timeoutMs > 0)) {
    throw new EmbedderError("bad_input", `timeoutMs must be a positive number of milliseconds, not ${timeoutMs}.`);
  }
  if (mode !== "worker" && mode !== "inline") {
    throw new EmbedderError("bad_input", `mode must be "worker" or "inline", not ${JSON.stringify(mode)}.`);
  }
  // Bundlers find the files by this exact form of `new URL`.
  const ownModel = () => new URL("./all-MiniLM-L6-v2-int8.safetensors", import.meta.url);
  const ownWasm = () =>
    wasmFile() === "embedder_relaxed_bg.wasm"
      ? new URL("./embedder_relaxed_bg.wasm", import.meta.url)
      : new URL("./embedder_bg.wasm", import.meta.url);
  return {
    modelUrl: fileIn(absolute("modelUrl", options.modelUrl ?? ownModel()), modelIdentity().file),
    wasmUrl: fileIn(absolute("wasmUrl", options.wasmUrl ?? ownWasm()), wasmFile()),
    workerUrl: options.workerUrl === undefined ? undefined : absolute("workerUrl", options.workerUrl),
    mode,
    cache: options.cache ?? true,
    timeoutMs,
    signal: options.signal,
    onProgress: options.onProgress ?? (() => undefined),
  };
}

/** Relative URLs are the page's; the worker has another base. */
function absolute(name: string, url: string | URL): string {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  try {
    return new URL(url, base).href;
  } catch (cause) {
    const hint = base === undefined ? " Here it must be absolute, such as file:///… or https://…" : "";
    throw new EmbedderError("bad_input", `${name} is not a URL: ${String(url)}.${hint}`, { cause });
  }
}

/** `url` itself, or `file` in it if it is a folder. */
function fileIn(url: string, file: string): string {
  return url.endsWith("/") ? url + file : url;
}
