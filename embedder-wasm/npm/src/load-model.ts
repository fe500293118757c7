import { type DownloadLock, takeDownloadLock } from "./loading/download-lock.js";
import { messageOf } from "./loading/errors.js";
import { readBody, withoutQuery } from "./loading/http.js";
import { type DownloadOptions, ModelDownload } from "./loading/model-download.js";
import { assertWasmAllowed } from "./loading/support.js";
import type { WasmEmbedder } from "../wasm/embedder.js";
import { EmbedderError } from "./errors.js";
import { ModelCache } from "./model-cache.js";
import { modelIdentity } from "./model-identity.js";
import { ModelSink } from "./model-sink.js";
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
  const wasm = startWasm(options.wasmUrl, () => load.reportAgain());
  wasm.catch(() => undefined);
  const cache = options.cache ? await ModelCache.open() : null;
  const engine = cache ? await load.throughCache(wasm, cache) : await load.fromNetwork(wasm, null);
  return { engine, fingerprint: modelIdentity().fingerprint };
}

class ModelLoad {
  readonly #options: LoadOptions;
  #lock: DownloadLock | undefined;
  #reported: LoadProgress | undefined;
  /** Settles when nothing is being stored any more. */
  #storing: Promise<void> | undefined;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#report("start", 0);
  }

  /** For the progress of the module itself, which has no phase where it arrives while another tab downloads the model. */
  reportAgain(): void {
    if (this.#reported) this.#report(this.#reported.phase, this.#reported.loadedBytes);
  }

  async throughCache(wasm: Promise<WasmModule>, cache: ModelCache): Promise<WasmEmbedder> {
    const { signal } = this.#options;
    const lock = await takeDownloadLock(LOCK_NAME, signal, (loadedBytes) => this.#report("wait", loadedBytes));
    this.#lock = lock;
    try {
      const stored = await cache.read();
      const engine = stored && (await this.#assembleStored(wasm, stored));
      if (engine) {
        // Left by a tab without locks.
        this.#storing = cache.parts.clear();
        return engine;
      }
      if (stored) await cache.remove();
      return await this.fromNetwork(wasm, cache);
    } finally {
      // The embedder is ready before the model is stored; the next tab should find it in the cache.
      const limit = setTimeout(() => lock.release(), MAX_STORE_MS);
      void Promise.resolve(this.#storing).then(() => {
        clearTimeout(limit);
        lock.release();
      });
    }
  }

  async fromNetwork(wasm: Promise<WasmModule>, cache: ModelCache | null): Promise<WasmEmbedder> {
    const parts = cache?.parts ?? null;
    // With our own cache, a second copy in the HTTP cache would only waste space.
    const first = this.#startDownload({ cache: cache ? "no-store" : "default", parts });
    try {
      return await this.#assembleDownload(wasm, first, cache);
    } catch (thrown) {
      if (!isIntegrity(thrown)) throw thrown;
      await parts?.clear();
      // Parts of two versions, or an old version from the HTTP cache: a download that uses neither fixes both.
      if (cache && !first.hasResumed) throw thrown;
      const second = this.#startDownload({ cache: "reload", parts: null, mayResume: false });
      return await this.#assembleDownload(wasm, second, cache);
    }
  }

  #startDownload(options: Pick<DownloadOptions, "cache" | "parts" | "mayResume">): ModelDownload {
    const { byteLength } = modelIdentity();
    return new ModelDownload(this.#options.modelUrl, { byteLength, signal: this.#options.signal, ...options });
  }

  async #assembleDownload(
    wasm: Promise<WasmModule>,
    download: ModelDownload,
    cache: ModelCache | null,
  ): Promise<WasmEmbedder> {
    try {
      const sink = new ModelSink(await wasm, { copies: cache !== null });
      const fill = () => download.into(sink, (loaded) => this.#report("download", loaded));
      const engine = await this.#assemble(sink, fill);
      const { copy } = sink;
      if (copy) this.#storing = cache?.write(copy);
      return engine;
    } finally {
      download.close();
    }
  }

  /** `null` if the stored copy is damaged or of another version. */
  async #assembleStored(wasm: Promise<WasmModule>, stored: Response): Promise<WasmEmbedder | null> {
    const sink = new ModelSink(await wasm, { copies: false });
    const fill = async () => {
      for await (const chunk of readBody(stored)) {
        await sink.append(chunk);
        this.#report("cache", sink.received);
      }
    };
    try {
      return await this.#assemble(sink, fill);
    } catch (thrown) {
      // A copy that cannot be read is treated as damaged.
      if (thrown instanceof WebAssembly.RuntimeError || this.#options.signal.aborted) throw thrown;
      return null;
    }
  }

  async #assemble(sink: ModelSink, fill: () => Promise<void>): Promise<WasmEmbedder> {
    try {
      await fill();
      this.#report("initialize", sink.received);
      return await sink.finish(this.#options.signal);
    } catch (thrown) {
      sink.discard();
      throw isIntegrity(thrown) ? this.#wrongModel(thrown) : thrown;
    }
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
    this.#lock?.report(loadedBytes);
    this.#reported = { phase, loadedBytes, totalBytes: modelIdentity().byteLength };
    this.#options.onProgress(this.#reported);
  }
}

/** WebAssembly throws plain errors with a `code`. */
function isIntegrity(thrown: unknown): thrown is Error {
  return thrown instanceof Error && "code" in thrown && thrown.code === "integrity";
}
