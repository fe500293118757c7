import { openCache } from "./loading/open-cache.js";
import { StoredParts } from "./loading/stored-parts.js";
import { CACHE_NAME, modelKey } from "./model-key.js";

/**
 * The model in the browser's Cache API, stored under the fingerprint. Verify what it returns like a download. Its failures
 * never stop loading: without a cache, or without space in it, the next visit downloads the model again.
 */
export class ModelCache {
  /** The parts of a download that has not finished. */
  readonly parts: StoredParts;
  readonly #cache: Cache;

  private constructor(cache: Cache) {
    this.#cache = cache;
    this.parts = new StoredParts(cache, `${modelKey()}/part`);
  }

  /** `null` in Node, on pages without HTTPS, and if the visitor has blocked storage. */
  static async open(): Promise<ModelCache | null> {
    const cache = await openCache(CACHE_NAME);
    return cache && new ModelCache(cache);
  }

  async read(): Promise<Response | undefined> {
    return this.#cache.match(modelKey()).catch(() => undefined);
  }

  /** Stores the model, then removes the parts that it arrived in and the models of other versions. Never rejects. */
  async write(model: Blob): Promise<void> {
    try {
      for (const { url } of await this.#cache.keys()) if (!url.startsWith(modelKey())) await this.#cache.delete(url);
      await this.#cache.put(modelKey(), new Response(model, { headers: { "content-length": String(model.size) } }));
      await this.parts.clear();
    } catch {
      // Storage is full or blocked. The next attempt needs the parts.
    }
  }

  async remove(): Promise<void> {
    await this.#cache.delete(modelKey()).catch(() => false);
  }
}
