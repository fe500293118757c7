import { MAX_STORE_MS, within } from "./within.js";

/** Never stored. The Cache API requires an http(s) URL; the reserved domain `.invalid` never resolves. */
const PROBE = "https://probe.invalid/";

/**
 * Opens a cache of the browser's Cache API; `null` if there is none, or the visitor has blocked storage. A cache that does not answer is
 * replaced by an empty one: if a page is left while it stores something, Chromium (156) may never answer a request for that cache again
 * until it is restarted, but it still deletes the cache. Storing alone does not keep a cache from answering. Never rejects.
 */
export async function openCache(name: string): Promise<Cache | null> {
  try {
    const { caches } = globalThis;
    const cache = await within(caches.open(name), MAX_STORE_MS);
    if (await answers(cache)) return cache;
    await within(caches.delete(name), MAX_STORE_MS);
    return await within(caches.open(name), MAX_STORE_MS);
  } catch {
    return null;
  }
}

function answers(cache: Cache): Promise<boolean> {
  // A failure is an answer.
  const answer = cache.match(PROBE).catch(() => undefined);
  return within(answer, MAX_STORE_MS).then(
    () => true,
    () => false,
  );
}
