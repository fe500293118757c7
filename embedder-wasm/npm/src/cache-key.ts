import { type FileName, identityOf } from "./file-identity.js";

/** The name of the cache in the browser's Cache API. */
export const CACHE_NAME = "evidence-chat-embedder";

/** Where a file is in the cache. The Cache API requires an http(s) URL; the reserved domain `.invalid` never resolves. */
export function cacheKey(file: FileName): string {
  return `https://embedder.invalid/${identityOf(file).fingerprint}`;
}
