// Apart from the cache itself, whose types are those of a package that is not published.
import { CACHE_NAME, ModelCache } from "./model-cache.js";

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
