import { MAX_STORE_MS, within } from "./within.js";

/** Never stored. The Cache API requires an http(s) URL; the reserved domain `.invalid` never resolves. */
const PROBE = "https://probe.invalid/";

/** In milliseconds. Half of what storing may take, because a cache is asked twice. */
const MAX_ANSWER_MS = MAX_STORE_MS / 2;

/**
 * Opens a cache of the browser's Cache API; `null` if there is none, it does not answer, or the visitor has blocked storage. Never
 * rejects.
 *
 * A cache that does not answer is replaced by an empty one: if a page is left while it stores something, Chromium (156) may never
 * answer a request for that cache again until it is restarted, but it still deletes the cache. Storing alone does not keep a cache
 * from answering.
 */
export async function openCache(name: string): Promise<Cache | null> {
  const open = () => within(globalThis.caches.open(name), MAX_ANSWER_MS);
  try {
    const cache = await open();
    // Twice: after a sleep, the first time may be over before the answer is read.
    if ((await answers(cache)) || (await answers(cache))) return cache;
    await within(globalThis.caches.delete(name), MAX_ANSWER_MS);
    const replacement = await open();
    return (await answers(replacement)) ? replacement : null;
  } catch {
    return null;
  }
}

function answers(cache: Cache): Promise<boolean> {
  // A failure is an answer.
  const answer = cache.match(PROBE).catch(() => undefined);
  return within(answer, MAX_ANSWER_MS).then(
    () => true,
    () => false,
  );
}
