import { type BlockDigests, BlockVerifier } from "@evidence-chat/model-loading/block-digests";
import type { ByteSink } from "@evidence-chat/model-loading/model-download";
import type { StoredCopy } from "@evidence-chat/model-loading/stored-copy";
import type { ModelLoader, WasmEmbedder } from "../wasm/embedder.js";
import type { WasmModule } from "./start-wasm.js";

/** Filled in by the build. */
declare const MODEL_BLOCKS: BlockDigests;

/**
 * Passes each chunk of the model to WebAssembly, to the cache and to the check of its blocks, so that the model is in memory
 * only once.
 */
export class ModelSink implements ByteSink {
  readonly #newCopy: (() => StoredCopy | undefined) | null;
  #loader: ModelLoader | undefined;
  #copy: StoredCopy | undefined;
  #verifier: BlockVerifier | undefined;

  /** `newCopy` starts a copy in the cache, if one is to be made; `null` if the model comes from there. */
  constructor({ ModelLoader: Loader }: WasmModule, newCopy: (() => StoredCopy | undefined) | null) {
    this.#newCopy = newCopy;
    this.#loader = new Loader();
    this.#verifier = newVerifier();
  }

  get received(): number {
    return this.#loader?.received ?? 0;
  }

  async append(chunk: Uint8Array): Promise<void> {
    const loader = this.#loader;
    if (!loader) return;
    loader.append(chunk);
    this.#copy ??= this.#newCopy?.();
    // The chunk is valid only until the first wait, and copied before.
    const copied = this.#copy?.append(chunk);
    await this.#verifier?.check(() => view(loader));
    await copied;
  }

  reset(): void {
    this.#loader?.reset();
    void this.#copy?.discard();
    this.#copy = undefined;
    this.#verifier = newVerifier();
  }

  /** Verifies the model and starts it. Throws `integrity`, or what WebAssembly throws. */
  async finish(signal: AbortSignal): Promise<WasmEmbedder> {
    const loader = this.#loader;
    if (!loader) throw new Error("finished twice");
    // Where the browser cannot, WebAssembly verifies the model, which is slower.
    await this.#verifier?.check(() => view(loader), true);
    if (signal.aborted) throw signal.reason;
    this.#loader = undefined; // `finish` consumes it, even when it throws.
    return loader.finish(this.#verifier !== undefined);
  }

  /** Keeps the copy in the cache. Resolves to whether there is one, once it is stored. Never rejects. */
  async keep(): Promise<boolean> {
    await this.#copy?.close();
    return (await this.#copy?.stored) ?? false;
  }

  /** Frees the memory and discards the copy. */
  discard(): void {
    this.#loader?.free();
    this.#loader = undefined;
    void this.#copy?.discard();
  }
}

/** Pages without HTTPS have no `crypto.subtle`. */
function newVerifier(): BlockVerifier | undefined {
  const subtle = globalThis.crypto?.subtle;
  return subtle && new BlockVerifier(MODEL_BLOCKS, subtle);
}

/** The bytes in WebAssembly memory; valid only until the next call into WebAssembly. */
function view(loader: ModelLoader): Uint8Array<ArrayBuffer> {
  return loader.view() as Uint8Array<ArrayBuffer>;
}
