import { modelIdentity } from "./model-identity.js";

const CACHE_NAME = "evidence-chat-embedder";

/**
 * The model in the browser's Cache API, under the fingerprint. What comes out has to be checked like a download; what
 * goes wrong here never stops the loading: without a cache, or room in it, the next visit downloads again.
 */
export class ModelCache {
  readonly #cache: Cache;

  private constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** `null` in Node, on pages without HTTPS, and where the visitor has blocked storage. */
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

  /** Stores the model, and removes those of other versions. */
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

/** Removes the model from the browser's cache, of this and every other version. Never rejects. */
export async function clearCache(): Promise<void> {
  try {
    await globalThis.caches.delete(CACHE_NAME);
  } catch {
    // No Cache API, so nothing is stored.
  }
}

/** The Cache API wants an http(s) address; this one exists nowhere. */
function key(): string {
  return `https://embedder.invalid/${modelIdentity().fingerprint}`;
}
