import { modelIdentity } from "./model-identity.js";

/** The name of the cache in the browser's Cache API. */
export const CACHE_NAME = "evidence-chat-embedder";

/** Where the model is in the cache. The Cache API requires an http(s) URL; the reserved domain `.invalid` never resolves. */
export function modelKey(): string {
  return `https://embedder.invalid/${modelIdentity().fingerprint}`;
}
