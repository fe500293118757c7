import { EmbedderError } from "./errors.js";
import { identityOf } from "./file-identity.js";
import { withoutQuery } from "./loading/http.js";
import type { LoadProgress } from "./progress.js";
import { defaultMode, type EmbedderMode, wasmFile } from "./support.js";

/** Where the embedder's files are, and how to load them. Every option has a default. */
export interface EmbedderOptions {
  /**
   * The model file, compressed with gzip or not, or the folder of the file that this package contains, with `/` at the end.
   * Defaults to the file inside this package. Relative URLs are resolved against the page. In Node, `file:` URLs are read
   * from disk.
   */
  readonly modelUrl?: string | URL | undefined;
  /**
   * The reader's file, like `modelUrl`. It is only fetched when passages are read. Defaults to the file of the package's name
   * next to `modelUrl`, and without `modelUrl` to the file inside this package.
   */
  readonly readerUrl?: string | URL | undefined;
  /**
   * The folder of `embedder_relaxed_bg.wasm` and `embedder_bg.wasm`, with `/` at the end: browsers with relaxed SIMD load
   * the first, others the second. Or one file; only the second works everywhere. Defaults to the files inside this
   * package.
   */
  readonly wasmUrl?: string | URL | undefined;
  /** Defaults to `worker.js` inside this package. An origin other than the page's must allow CORS. */
  readonly workerUrl?: string | URL | undefined;
  /** `worker` in every browser; `inline`, the calling thread, where there are no workers. */
  readonly mode?: EmbedderMode | undefined;
  /** Whether to keep model and reader in the browser's Cache API for the next visit. Default: true. */
  readonly cache?: boolean | undefined;
  /** Milliseconds without a report of progress after which loading fails with `timeout`. Default: 15000; `Infinity` never fails. */
  readonly timeoutMs?: number | undefined;
  /** Stops loading, which then rejects with `aborted`. Has no effect once the embedder is ready. */
  readonly signal?: AbortSignal | undefined;
  /** Called while loading makes progress, about five times a second. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** The options with all defaults filled in. */
export interface Settings {
  readonly modelUrl: string;
  readonly readerUrl: string;
  readonly wasmUrl: string;
  /** `undefined` for the package's own worker, whose URL bundlers must see as a literal. */
  readonly workerUrl: string | undefined;
  readonly mode: EmbedderMode;
  readonly cache: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (progress: LoadProgress) => void;
}

// `./` and the name of the file, filled in by the build.
declare const MODEL_PATH: string;
declare const READER_PATH: string;

const DEFAULT_TIMEOUT_MS = 15_000;

/** Fills in the defaults; throws `bad_input`. */
export function readOptions(options: EmbedderOptions): Settings {
  const { mode = defaultMode(), timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  if (!(typeof timeoutMs === "number" && timeoutMs > 0)) {
    throw new EmbedderError("bad_input", `timeoutMs must be a positive number of milliseconds, not ${timeoutMs}.`);
  }
  if (mode !== "worker" && mode !== "inline") {
    throw new EmbedderError("bad_input", `mode must be "worker" or "inline", not ${JSON.stringify(mode)}.`);
  }
  // Bundlers detect the files only in this exact form of `new URL`.
  const ownModel = () => new URL(MODEL_PATH, import.meta.url);
  const ownReader = () => new URL(READER_PATH, import.meta.url);
  const ownWasm = () =>
    wasmFile() === "embedder_relaxed_bg.wasm"
      ? new URL("./embedder_relaxed_bg.wasm", import.meta.url)
      : new URL("./embedder_bg.wasm", import.meta.url);
  const modelUrl = fileIn(absolute("modelUrl", options.modelUrl ?? ownModel()), identityOf("model").file);
  const folder = withoutQuery(modelUrl).replace(/[^/]*$/, "");
  const readerUrl = options.readerUrl ?? (options.modelUrl === undefined ? ownReader() : folder);
  return {
    modelUrl,
    readerUrl: fileIn(absolute("readerUrl", readerUrl), identityOf("reader").file),
    wasmUrl: fileIn(absolute("wasmUrl", options.wasmUrl ?? ownWasm()), wasmFile()),
    workerUrl: options.workerUrl === undefined ? undefined : absolute("workerUrl", options.workerUrl),
    mode,
    cache: options.cache ?? true,
    timeoutMs,
    signal: options.signal,
    onProgress: options.onProgress ?? (() => undefined),
  };
}

/** Resolved here, against the page: the worker has another base. */
function absolute(name: string, url: string | URL): string {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  try {
    return new URL(url, base).href;
  } catch (cause) {
    const hint = base === undefined ? " Here it must be absolute, such as file:///… or https://…" : "";
    throw new EmbedderError("bad_input", `${name} is not a URL: ${String(url)}.${hint}`, { cause });
  }
}

/** `url` itself, or `file` in it if `url` is a folder. */
function fileIn(url: string, file: string): string {
  return url.endsWith("/") ? url + file : url;
}
