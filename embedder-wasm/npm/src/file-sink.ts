import { BlockVerifier } from "./loading/block-digests.js";
import type { ByteSink } from "./loading/model-download.js";
import type { WasmModule } from "./loading/start-wasm.js";
import type { ModelLoader } from "../wasm/embedder.js";
import type { LoadedFile } from "./loaded-file.js";

/** Bytes of the file that are copied at a time. */
const PIECE_BYTES = 1024 * 1024;
/** Compressed bytes that are in WebAssembly memory at a time: some browsers give a file in one chunk. */
const COMPRESSED_BYTES = 64 * 1024;

/**
 * Passes each chunk of a file to WebAssembly and to the check of its blocks. A copy for the cache
 * is made in pieces while the file arrives, as blobs, which browsers keep in another process: the
 * memory of this one has the file only once.
 */
export class FileSink<Loaded> implements ByteSink {
  readonly #file: LoadedFile<Loaded>;
  readonly #copies: boolean;
  #loader: ModelLoader | undefined;
  #verifier: BlockVerifier | undefined;
  #pieces: Blob[] = [];
  /** Bytes in `#pieces`. */
  #copied = 0;

  /** `copies`: whether a copy is made. */
  constructor(file: LoadedFile<Loaded>, wasm: WasmModule, { copies }: { readonly copies: boolean }) {
    this.#file = file;
    this.#copies = copies;
    this.#loader = file.newLoader(wasm);
    this.#verifier = this.#newVerifier();
  }

  get received(): number {
    return this.#loader?.received ?? 0;
  }

  /** The whole file, once `finish` has verified it; `undefined` without copies. */
  get copy(): Blob | undefined {
    return this.#copies ? new Blob(this.#pieces) : undefined;
  }

  append(chunk: Uint8Array): Promise<void> {
    return this.#grow((loader) => loader.append(chunk));
  }

  /**
   * Decompresses in WebAssembly, which knows the length of the file. What the browser decompresses
   * would stay in memory until its garbage collector runs: as much as the whole file.
   */
  async appendGzip(chunk: Uint8Array): Promise<void> {
    for (let start = 0; start < chunk.length; start += COMPRESSED_BYTES) {
      const piece = chunk.subarray(start, start + COMPRESSED_BYTES);
      await this.#grow((loader) => loader.appendGzip(piece));
    }
  }

  finishGzip(): Promise<void> {
    return this.#grow((loader) => loader.finishGzip());
  }

  async #grow(append: (loader: ModelLoader) => void): Promise<void> {
    const loader = this.#loader;
    if (!loader) return;
    append(loader);
    if (loader.received - this.#copied >= PIECE_BYTES) this.#copyRest(loader);
    await this.#verifier?.check(() => view(loader));
  }

  reset(): void {
    this.#loader?.reset();
    this.#pieces = [];
    this.#copied = 0;
    this.#verifier = this.#newVerifier();
  }

  /** Verifies the file and starts what it becomes. Throws `integrity`, or what WebAssembly throws. */
  async finish(signal: AbortSignal): Promise<Loaded> {
    const loader = this.#loader;
    if (!loader) throw new Error("finished twice");
    // Where the browser cannot, WebAssembly verifies the file, which is slower.
    await this.#verifier?.check(() => view(loader), true);
    if (signal.aborted) throw signal.reason;
    this.#copyRest(loader);
    this.#loader = undefined; // `finish` consumes it, even if it throws.
    return this.#file.finish(loader, this.#verifier !== undefined);
  }

  /** Frees the memory. */
  discard(): void {
    this.#loader?.free();
    this.#loader = undefined;
    this.#pieces = [];
  }

  #copyRest(loader: ModelLoader): void {
    if (!this.#copies) return;
    this.#pieces.push(new Blob([view(loader).subarray(this.#copied)]));
    this.#copied = loader.received;
  }

  /** Pages without HTTPS have no `crypto.subtle`. */
  #newVerifier(): BlockVerifier | undefined {
    const subtle = globalThis.crypto?.subtle;
    return subtle && new BlockVerifier(this.#file.blocks, subtle);
  }
}

/** The bytes in WebAssembly memory; valid only until the next call into WebAssembly. */
function view(loader: ModelLoader): Uint8Array<ArrayBuffer> {
  return loader.view() as Uint8Array<ArrayBuffer>;
}
