import { modelIdentity } from "./model-identity.js";

const CACHE_NAME = "evidence-chat-embedder";

/**
 * The model in the browser's Cache API, stored under the fingerprint. Verify what it returns like a download. Its failures
 * never stop loading: without a cache, or without space in it, the next visit downloads the model again.
 */
export class ModelCache {
  readonly #cache: Cache;

  private constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** `null` in Node, on pages without HTTPS, and if the visitor has blocked storage. */
  static async open(): Promise<ModelCache | null> {
    try {
      return new ModelCache(await globalThis.caches.open(CACHE_NAME));
    } catch {
      return null;
    }
  }

  async read(): Promise<Response | undefined> {
    return this.#cache.match(key()).catch(() => undefined);
  }

  /** Stores the model and removes those of other versions. */
  async write(model: Blob): Promise<void> {
    try {
      for (const request of await this.#cache.keys()) {
        if (request.url !== key()) await this.#cache.delete(request);
      }
      await this.#cache.put(key(), new Response(model, { headers: { "content-length": String(model.size) } }));
    } catch {
      // Storage is full or blocked.
    }
  }

  async remove(): Promise<void> {
    await this.#cache.delete(key()).catch(() => false);
  }
}

/** Whether the model of this version is in the browser's cache, so that loading needs no download. Never rejects. */
export async function isCached(): Promise<boolean> {
  const cache = await ModelCache.open();
  return (await cache?.read()) !== undefined;
}

/** Removes the models of all versions from the browser's cache. Never rejects. */
export async function clearCache(): Promise<void> {
  try {
    await globalThis.caches.delete(CACHE_NAME);
  } catch {
    // No Cache API, so nothing is stored.
  }
}

/** The Cache API requires an http(s) URL; the reserved domain `.invalid` never resolves. */
function key(): string {
  return `https://embedder.invalid/${modelIdentity().fingerprint}`;
}
