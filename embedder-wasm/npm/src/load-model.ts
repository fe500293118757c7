import { takeDownloadLock } from "@evidence-chat/model-loading/download-lock";
import { messageOf } from "@evidence-chat/model-loading/errors";
import { readBody, withoutQuery } from "@evidence-chat/model-loading/http";
import { ModelDownload } from "@evidence-chat/model-loading/model-download";
import { assertWasmAllowed } from "@evidence-chat/model-loading/support";
import type { ModelLoader, WasmEmbedder } from "../wasm/embedder.js";
import { EmbedderError } from "./errors.js";
import { ModelCache } from "./model-cache.js";
import { modelIdentity } from "./model-identity.js";
import type { LoadProgress } from "./progress.js";
import { startWasm, type WasmModule } from "./start-wasm.js";

export interface LoadOptions {
  readonly modelUrl: string;
  readonly wasmUrl: string;
  readonly cache: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
}

export interface LoadedModel {
  readonly engine: WasmEmbedder;
  readonly fingerprint: string;
}

const LOCK_NAME = "evidence-chat-embedder";
/** Storing may hang, for example on a permission prompt; other tabs wait for it no longer than this. */
const MAX_STORE_MS = 10_000;

/**
 * Starts the WebAssembly module and loads the model into it, from the cache or the network. The bytes go straight into
 * WebAssembly memory. Throws `EmbedderError`, the signal's reason, or what WebAssembly throws when out of memory.
 */
export async function loadModel(options: LoadOptions): Promise<LoadedModel> {
  assertWasmAllowed();
  const load = new ModelLoad(options);
  const wasm = startWasm(options.wasmUrl);
  wasm.catch(() => undefined);
  const cache = options.cache ? await ModelCache.open() : null;
  const engine = cache ? await load.throughCache(wasm, cache) : await load.fromNetwork(wasm, null);
  return { engine, fingerprint: modelIdentity().fingerprint };
}

class ModelLoad {
  readonly #options: LoadOptions;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#report("start", 0);
  }

  async throughCache(wasm: Promise<WasmModule>, cache: ModelCache): Promise<WasmEmbedder> {
    const release = await takeDownloadLock(LOCK_NAME, this.#options.signal, () => this.#report("wait", 0));
    let storing: Promise<void> | undefined;
    try {
      const stored = await cache.read();
      const engine = stored && (await this.#assembleStored(wasm, stored));
      if (engine) return engine;
      if (stored) await cache.remove();
      return await this.fromNetwork(wasm, (model) => {
        storing = cache.write(model);
      });
    } finally {
      // The embedder is ready before the model is stored; the next tab should find it in the cache.
      const limit = setTimeout(release, MAX_STORE_MS);
      void Promise.resolve(storing).then(() => {
        clearTimeout(limit);
        release();
      });
    }
  }

  /** `keep` receives the verified model if there is a cache to store it in. */
  async fromNetwork(wasm: Promise<WasmModule>, keep: ((model: Blob) => void) | null): Promise<WasmEmbedder> {
    // With our own cache, a second copy in the HTTP cache would only waste space.
    const first = this.#startDownload(keep ? "no-store" : "default");
    try {
      return await this.#assembleDownload(wasm, first, keep);
    } catch (thrown) {
      // Parts of two versions, or an old version from the HTTP cache: a download that uses neither fixes both.
      if (!isIntegrity(thrown) || (keep && !first.hasResumed)) throw thrown;
      return await this.#assembleDownload(wasm, this.#startDownload("reload"), keep);
    }
  }

  #startDownload(cache: RequestCache): ModelDownload {
    const { byteLength } = modelIdentity();
    return new ModelDownload(this.#options.modelUrl, { byteLength, cache, signal: this.#options.signal });
  }

  async #assembleDownload(
    wasm: Promise<WasmModule>,
    download: ModelDownload,
    keep: ((model: Blob) => void) | null,
  ): Promise<WasmEmbedder> {
    try {
      const fill = (loader: ModelLoader) => download.into(loader, (loaded) => this.#report("download", loaded));
      return await this.#assemble(await wasm, fill, keep);
    } finally {
      download.close();
    }
  }

  /** `null` if the stored copy is damaged or of another version. */
  async #assembleStored(wasm: Promise<WasmModule>, stored: Response): Promise<WasmEmbedder | null> {
    const module = await wasm;
    const fill = async (loader: ModelLoader) => {
      for await (const chunk of readBody(stored)) {
        loader.append(chunk);
        this.#report("cache", loader.received);
      }
    };
    try {
      return await this.#assemble(module, fill, null);
    } catch (thrown) {
      // A copy that cannot be read is treated as damaged.
      if (thrown instanceof WebAssembly.RuntimeError || this.#options.signal.aborted) throw thrown;
      return null;
    }
  }

  async #assemble(
    { ModelLoader: Loader }: WasmModule,
    fill: (loader: ModelLoader) => Promise<void>,
    keep: ((model: Blob) => void) | null,
  ): Promise<WasmEmbedder> {
    let loader: ModelLoader | undefined = new Loader();
    try {
      await fill(loader);
      this.#report("initialize", loader.received);
      const isVerified = await this.#verify(loader);
      const { signal } = this.#options;
      if (signal.aborted) throw signal.reason;
      // Not a second copy in this process: browsers store blobs elsewhere.
      keep?.(new Blob([view(loader)]));
      const filled = loader;
      loader = undefined; // `finish` consumes it, even when it throws.
      return filled.finish(isVerified);
    } catch (thrown) {
      throw isIntegrity(thrown) ? this.#wrongModel(thrown) : thrown;
    } finally {
      loader?.free();
    }
  }

  /** Throws if the bytes are not the model. Returns false where only WebAssembly can check them, which is slower. */
  async #verify(loader: ModelLoader): Promise<boolean> {
    const expected = modelIdentity().sha256;
    const actual = await sha256(view(loader));
    if (actual !== null && actual !== expected) {
      throw new EmbedderError("integrity", `its SHA-256 is ${actual} instead of ${expected}`);
    }
    return actual !== null;
  }

  #wrongModel(cause: Error): EmbedderError {
    const { file } = modelIdentity();
    return new EmbedderError(
      "integrity",
      `${withoutQuery(this.#options.modelUrl)} is not the model that this version needs (${messageOf(cause)}). ` +
        `Deploy ${file} from the same version of this package.`,
      { cause },
    );
  }

  #report(phase: LoadProgress["phase"], loadedBytes: number): void {
    this.#options.onProgress({ phase, loadedBytes, totalBytes: modelIdentity().byteLength });
  }
}

/** The bytes in WebAssembly memory; valid only until the next call into WebAssembly. */
function view(loader: ModelLoader): Uint8Array<ArrayBuffer> {
  return loader.view() as Uint8Array<ArrayBuffer>;
}

/** WebAssembly throws plain errors with a `code`. */
function isIntegrity(thrown: unknown): thrown is Error {
  return thrown instanceof Error && "code" in thrown && thrown.code === "integrity";
}

/** SHA-256 as lower-case hex, computed by the browser; `null` on pages without HTTPS, which have no `crypto.subtle`. */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string | null> {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return null;
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
