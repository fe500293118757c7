// Apart from the cache itself, whose types are those of a package that is not published.
import { ModelCache } from "./model-cache.js";
import { absolute } from "./options.js";

/**
 * Whether a model file is in the browser's cache, so that loading needs no download. With `byteLength`, a file of another size
 * does not count: it would be downloaded again. Never rejects.
 */
export async function hasModel(url: string | URL, byteLength?: number): Promise<boolean> {
  const cache = await ModelCache.open();
  const stored = await cache?.read(absolute("url", url));
  const storedLength = Number(stored?.headers.get("content-length"));
  return stored !== undefined && storedLength === (byteLength ?? storedLength);
}

/** Removes a model file from the browser's cache, also an unfinished download. Resolves to whether the whole file was there. */
export async function deleteModel(url: string | URL): Promise<boolean> {
  const cache = await ModelCache.open();
  if (!cache) return false;
  const address = absolute("url", url);
  await cache.parts(address).clear();
  return cache.remove(address);
}
