import { type DownloadLock, takeDownloadLock } from "./loading/download-lock.js";
import { readBody, withoutQuery } from "./loading/http.js";
import { type DownloadOptions, ModelDownload } from "./loading/model-download.js";
import { startWasm, type WasmModule } from "./loading/start-wasm.js";
import { EmbedderError, messageOf } from "./errors.js";
import { FileCache } from "./file-cache.js";
import { type FileIdentity, identityOf } from "./file-identity.js";
import { FileSink } from "./file-sink.js";
import type { LoadedFile } from "./loaded-file.js";
import type { LoadProgress } from "./progress.js";
import { assertWasmAllowed } from "./support.js";

export interface LoadOptions {
  /** Of the file. */
  readonly url: string;
  readonly wasmUrl: string;
  readonly cache: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
}

/** Storing may hang, for example on a permission prompt; other tabs wait for it no longer than this. */
const MAX_STORE_MS = 10_000;

/**
 * Starts the WebAssembly module and loads a file into it, from the cache or the network. The bytes
 * go straight into WebAssembly memory. Throws `EmbedderError`, the signal's reason, or what
 * WebAssembly throws when out of memory.
 */
export async function loadFile<Loaded extends object>(file: LoadedFile<Loaded>, options: LoadOptions): Promise<Loaded> {
  assertWasmAllowed();
  const load = new FileLoad(file, options);
  const wasm = startWasm(options.wasmUrl, () => load.reportAgain());
  wasm.catch(() => undefined);
  const cache = options.cache ? await FileCache.open(file.name) : null;
  return cache ? load.throughCache(wasm, cache) : load.fromNetwork(wasm, null);
}

class FileLoad<Loaded extends object> {
  readonly #file: LoadedFile<Loaded>;
  readonly #identity: FileIdentity;
  readonly #options: LoadOptions;
  #lock: DownloadLock | undefined;
  #reported: LoadProgress | undefined;
  /** Settles when nothing is being stored any more. */
  #storing: Promise<void> | undefined;

  constructor(file: LoadedFile<Loaded>, options: LoadOptions) {
    this.#file = file;
    this.#identity = identityOf(file.name);
    this.#options = options;
    this.#report("start", 0);
  }

  /** For the progress of the module itself, which has no phase where it arrives while another tab downloads the file. */
  reportAgain(): void {
    if (this.#reported) this.#report(this.#reported.phase, this.#reported.loadedBytes);
  }

  async throughCache(wasm: Promise<WasmModule>, cache: FileCache): Promise<Loaded> {
    const { signal } = this.#options;
    const lock = await takeDownloadLock(this.#file.lock, signal, (loadedBytes) => this.#report("wait", loadedBytes));
    this.#lock = lock;
    try {
      const stored = await cache.read();
      const loaded = stored && (await this.#assembleStored(wasm, stored));
      if (loaded) {
        // Left by a tab without locks.
        this.#storing = cache.parts.clear();
        return loaded;
      }
      if (stored) await cache.remove();
      return await this.fromNetwork(wasm, cache);
    } finally {
      // What is loaded is ready before the file is stored; the next tab should find it in the
      // cache.
      const limit = setTimeout(() => lock.release(), MAX_STORE_MS);
      void Promise.resolve(this.#storing).then(() => {
        clearTimeout(limit);
        lock.release();
      });
    }
  }

  async fromNetwork(wasm: Promise<WasmModule>, cache: FileCache | null): Promise<Loaded> {
    const parts = cache?.parts ?? null;
    // With our own cache, a second copy in the HTTP cache would only waste space.
    const first = this.#startDownload({ cache: cache ? "no-store" : "default", parts });
    try {
      return await this.#assembleDownload(wasm, first, cache);
    } catch (thrown) {
      if (!isIntegrity(thrown)) throw thrown;
      await parts?.clear();
      // Parts of two versions, or an old version from the HTTP cache: a download that uses neither
      // fixes both.
      if (cache && !first.hasResumed) throw thrown;
      const second = this.#startDownload({ cache: "reload", parts: null, mayResume: false });
      return await this.#assembleDownload(wasm, second, cache);
    }
  }

  #startDownload(options: Pick<DownloadOptions, "cache" | "parts" | "mayResume">): ModelDownload {
    const { url, signal } = this.#options;
    const { option } = this.#file;
    return new ModelDownload(url, { option, byteLength: this.#identity.byteLength, signal, ...options });
  }

  async #assembleDownload(
    wasm: Promise<WasmModule>,
    download: ModelDownload,
    cache: FileCache | null,
  ): Promise<Loaded> {
    try {
      const sink = new FileSink(this.#file, await wasm, { copies: cache !== null });
      const fill = () => download.into(sink, (loaded) => this.#report("download", loaded));
      const loaded = await this.#assemble(sink, fill);
      const { copy } = sink;
      if (copy) this.#storing = cache?.write(copy);
      return loaded;
    } finally {
      download.close();
    }
  }

  /** `null` if the stored copy is damaged or of another version. */
  async #assembleStored(wasm: Promise<WasmModule>, stored: Response): Promise<Loaded | null> {
    const sink = new FileSink(this.#file, await wasm, { copies: false });
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

  async #assemble(sink: FileSink<Loaded>, fill: () => Promise<void>): Promise<Loaded> {
    try {
      await fill();
      this.#report("initialize", sink.received);
      return await sink.finish(this.#options.signal);
    } catch (thrown) {
      sink.discard();
      throw isIntegrity(thrown) ? this.#wrongFile(thrown) : thrown;
    }
  }

  #wrongFile(cause: Error): EmbedderError {
    return new EmbedderError(
      "integrity",
      `${withoutQuery(this.#options.url)} is not the ${this.#file.name} that this version needs (${messageOf(cause)}). ` +
        `Deploy ${this.#identity.file} from the same version of this package.`,
      { cause },
    );
  }

  #report(phase: LoadProgress["phase"], loadedBytes: number): void {
    this.#lock?.report(loadedBytes);
    this.#reported = { phase, loadedBytes, totalBytes: this.#identity.byteLength };
    this.#options.onProgress(this.#reported);
  }
}

/** WebAssembly throws plain errors with a `code`. */
function isIntegrity(thrown: unknown): thrown is Error {
  return thrown instanceof Error && "code" in thrown && thrown.code === "integrity";
}
