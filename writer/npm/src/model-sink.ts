import { Gunzip } from "@evidence-chat/model-loading/gunzip";
import type { ByteSink, Decompressor } from "@evidence-chat/model-loading/model-download";
import type { StoredCopy } from "./stored-copy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Loader, Model } from "../wasm/writer.js";
import { WriterError } from "./errors.js";

/** Where the bytes of a file go. */
export interface SinkOptions {
  readonly newLoader: () => Loader;
  /** Starts a copy in the cache; `null` if there is no cache or the file comes from it. */
  readonly newCopy: (() => StoredCopy) | null;
  readonly sha256: string | undefined;
}

/**
 * Passes each chunk of a model file to the engine, to the cache and to the hash at once, so that the file is never in
 * memory twice.
 */
export class ModelSink implements ByteSink {
  readonly #options: SinkOptions;
  #received = 0;
  #loader: Loader | undefined;
  #copy: StoredCopy | undefined;
  #hash = sha256.create();

  constructor(options: SinkOptions) {
    this.#options = options;
  }

  get received(): number {
    return this.#received;
  }

  async append(chunk: Uint8Array): Promise<void> {
    this.#loader ??= this.#options.newLoader();
    this.#copy ??= this.#options.newCopy?.();
    this.#loader.push(chunk);
    if (this.#options.sha256 !== undefined) this.#hash.update(chunk);
    this.#received += chunk.length;
    await this.#copy?.append(chunk);
  }

  reset(): void {
    this.#loader?.free();
    this.#loader = undefined;
    void this.#copy?.discard();
    this.#copy = undefined;
    this.#hash = sha256.create();
    this.#received = 0;
  }

  decompressor(maxBytes: number): Decompressor {
    return new Gunzip(this, maxBytes);
  }

  /** The model, once all bytes are there and are the expected ones. Throws `integrity`, or what the engine throws. */
  finish(): Model {
    const { sha256: expected } = this.#options;
    const actual = expected === undefined ? undefined : bytesToHex(this.#hash.digest());
    if (actual !== expected) {
      throw new WriterError("integrity", `its SHA-256 is ${actual} instead of ${expected}`);
    }
    const loader = this.#loader ?? this.#options.newLoader();
    // `finish` consumes it, even when it throws.
    this.#loader = undefined;
    return loader.finish();
  }

  /** Keeps the copy in the cache; resolves when it is stored, to whether it is. */
  async keep(): Promise<boolean> {
    await this.#copy?.close();
    return (await this.#copy?.stored) ?? false;
  }
}
