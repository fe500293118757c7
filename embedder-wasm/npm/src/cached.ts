// Without `FileCache`: the panel of each widget would load its code for unfinished downloads, which only the worker needs.
import { MAX_STORE_MS, within } from "./loading/within.js";
import { CACHE_NAME, cacheKey } from "./cache-key.js";
import type { FileName } from "./file-identity.js";

/** Whether the file of this version is in the browser's cache, so that loading it needs no download. Never rejects. */
export async function isCached(file: FileName = "model"): Promise<boolean> {
  try {
    const stored = globalThis.caches.open(CACHE_NAME).then((cache) => cache.match(cacheKey(file)));
    return (await within(stored, MAX_STORE_MS)) !== undefined;
  } catch {
    // No Cache API, blocked, or it does not answer.
    return false;
  }
}

/** Removes the models and readers of all versions from the browser's cache. Never rejects. */
export async function clearCache(): Promise<void> {
  try {
    await globalThis.caches.delete(CACHE_NAME);
  } catch {
    // No Cache API, so nothing is stored.
  }
}
