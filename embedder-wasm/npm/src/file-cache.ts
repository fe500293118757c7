import { openCache } from "./loading/open-cache.js";
import { StoredParts } from "./loading/stored-parts.js";
import { CACHE_NAME, cacheKey } from "./cache-key.js";
import type { FileName } from "./file-identity.js";

/**
 * Model or reader in the browser's Cache API, stored under the fingerprint. Verify what it returns like a download. Its failures
 * never stop loading: without a cache, or without space in it, the next visit downloads the file again.
 */
export class FileCache {
  /** The parts of a download that has not finished. */
  readonly parts: StoredParts;
  readonly #cache: Cache;
  readonly #key: string;

  private constructor(cache: Cache, file: FileName) {
    this.#cache = cache;
    this.#key = cacheKey(file);
    this.parts = new StoredParts(cache, `${this.#key}/part`);
  }

  /** `null` in Node, on pages without HTTPS, and if the visitor has blocked storage. */
  static async open(file: FileName): Promise<FileCache | null> {
    const cache = await openCache(CACHE_NAME);
    return cache && new FileCache(cache, file);
  }

  async read(): Promise<Response | undefined> {
    return this.#cache.match(this.#key).catch(() => undefined);
  }

  /** Stores the file, then removes the parts that it arrived in and the files of other versions. Never rejects. */
  async write(content: Blob): Promise<void> {
    try {
      const own = [cacheKey("model"), cacheKey("reader")];
      for (const { url } of await this.#cache.keys()) {
        if (!own.some((key) => url.startsWith(key))) await this.#cache.delete(url);
      }
      const headers = { "content-length": String(content.size) };
      await this.#cache.put(this.#key, new Response(content, { headers }));
      await this.parts.clear();
    } catch {
      // Storage is full or blocked. The next attempt needs the parts.
    }
  }

  async remove(): Promise<void> {
    await this.#cache.delete(this.#key).catch(() => false);
  }
}
