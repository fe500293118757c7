import { withoutQuery } from "@evidence-chat/model-loading/http";
import { openCache } from "@evidence-chat/model-loading/open-cache";
import { StoredParts, type StoredPartsOptions } from "@evidence-chat/model-loading/stored-parts";
import { StoredCopy } from "./stored-copy.js";

const CACHE_NAME = "evidence-chat-writer";

/**
 * Model files in the browser's Cache API, by their URLs. Verify what it returns like a download. Its failures never stop
 * loading: without a cache, or without space in it, the next visit downloads the model again.
 */
export class ModelCache {
  readonly #cache: Cache;

  private constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** `null` on pages without HTTPS, and if the visitor has blocked storage. */
  static async open(): Promise<ModelCache | null> {
    const cache = await openCache(CACHE_NAME);
    return cache && new ModelCache(cache);
  }

  async read(url: string): Promise<Response | undefined> {
    return this.#cache.match(url).catch(() => undefined);
  }

  /** Stores a file while it arrives. */
  write(url: string, byteLength: number): StoredCopy {
    return new StoredCopy((response) => this.#cache.put(url, response), byteLength);
  }

  /** The parts of an unfinished download of this file. */
  parts(url: string, options: StoredPartsOptions = {}): StoredParts {
    // The Cache API requires an http(s) URL; the reserved domain `.invalid` never resolves.
    return new StoredParts(this.#cache, `https://writer.invalid/${encodeURIComponent(withoutQuery(url))}`, options);
  }

  /** Resolves to whether the file was there. Its parts are kept. */
  async remove(url: string): Promise<boolean> {
    return this.#cache.delete(url).catch(() => false);
  }
}
