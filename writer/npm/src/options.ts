import { WriterError } from "./errors.js";
import type { ModelFile } from "./protocol.js";

/** How far loading the model has come. */
export interface LoadProgress {
  /** Bytes of the model so far. Returns to 0 when a download starts over. */
  readonly loadedBytes: number;
  readonly totalBytes: number;
  /** Whether the bytes come from the browser's cache. */
  readonly isCached: boolean;
}

/** A model file. */
export interface ModelDescription {
  /** Name of the model. Default: the file's name, without its extension. */
  readonly name?: string | undefined;
  /** Size of the file. Default: the server's `Content-Length`. */
  readonly byteLength?: number | undefined;
  /** SHA-256 of the file as hex. With it, a file that is not this one is rejected, also from the cache. */
  readonly sha256?: string | undefined;
}

/** Where the model and the package's files are, and how to load them. */
export interface WriterOptions {
  /** A GGUF file of the llama family with a chat template. Relative URLs are resolved against the page. */
  readonly modelUrl: string | URL;
  readonly model?: ModelDescription | undefined;
  /** Defaults to `writer_bg.wasm` inside this package. */
  readonly wasmUrl?: string | URL | undefined;
  /** Defaults to `worker.js` inside this package. An origin other than the page's must allow CORS. */
  readonly workerUrl?: string | URL | undefined;
  /** Whether to keep the model in the browser's Cache API for the next visit. Default: true. */
  readonly cache?: boolean | undefined;
  /** Milliseconds without a report of progress after which loading fails with `timeout`. Default: 30000; `Infinity` never fails. */
  readonly timeoutMs?: number | undefined;
  /** Stops loading, which then rejects with `aborted`. Has no effect once the writer is ready. */
  readonly signal?: AbortSignal | undefined;
  /** Called while the model is loading, about five times a second. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** The options with all defaults filled in. */
export interface Settings extends ModelFile {
  readonly name: string;
  /** `undefined` for the package's own worker, whose URL bundlers must see as a literal. */
  readonly workerUrl: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (progress: LoadProgress) => void;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Fills in the defaults; throws `invalid_input`. */
export function readOptions(options: WriterOptions): Settings {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, model = {} } = options;
  if (!(typeof timeoutMs === "number" && timeoutMs > 0)) {
    throw new WriterError("invalid_input", `timeoutMs must be a positive number of milliseconds, not ${timeoutMs}.`);
  }
  const { byteLength } = model;
  if (byteLength !== undefined && !(Number.isSafeInteger(byteLength) && byteLength > 0)) {
    throw new WriterError("invalid_input", `model.byteLength must be a positive whole number, not ${byteLength}.`);
  }
  const sha256 = model.sha256?.toLowerCase();
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new WriterError("invalid_input", "model.sha256 must be 64 hex digits.");
  }
  const modelUrl = absolute("modelUrl", options.modelUrl);
  return {
    modelUrl,
    name: model.name ?? nameOf(modelUrl),
    // Bundlers detect the file only in this exact form of `new URL`.
    wasmUrl: absolute("wasmUrl", options.wasmUrl ?? new URL("./writer_bg.wasm", import.meta.url)),
    workerUrl: options.workerUrl === undefined ? undefined : absolute("workerUrl", options.workerUrl),
    byteLength,
    sha256,
    cache: options.cache ?? true,
    timeoutMs,
    signal: options.signal,
    onProgress: options.onProgress ?? (() => undefined),
  };
}

/** Resolved here, against the page: the worker has another base. Throws `invalid_input`. */
export function absolute(name: string, url: string | URL): string {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  try {
    const resolved = new URL(url, base);
    // The Cache API ignores it, and it is never sent.
    resolved.hash = "";
    return resolved.href;
  } catch (cause) {
    throw new WriterError("invalid_input", `${name} is not a URL: ${String(url)}.`, { cause });
  }
}

function nameOf(url: string): string {
  const file = new URL(url).pathname.split("/").pop() ?? "";
  try {
    return decodeURIComponent(file).replace(/\.gguf$/i, "");
  } catch {
    return file;
  }
}
