import { EmbedderError, messageOf } from "./errors.js";
import { readBody } from "./read-body.js";

const CACHE_NAME = "evidence-chat-model-v1";

/** Pieces in which a file is handed to the cache, so that storing it never doubles it in memory. */
const STORE_PIECE_BYTES = 1024 * 1024;

/** A file with its place in the cache. Nothing is stored until the caller knows that the bytes are good. */
export interface CachedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Stores the file for the next visit. Never fails: without a cache or room in it, the next visit downloads again. */
  keep(): Promise<void>;
  /** Removes the file from the cache, so that the next attempt downloads it again. Never fails. */
  forget(): Promise<void>;
}

/**
 * The model cache, or `null` where the browser has none: in an insecure context `caches` does not exist, and with
 * storage blocked it cannot be opened.
 */
export async function openModelCache(): Promise<Cache | null> {
  try {
    return await globalThis.caches.open(CACHE_NAME);
  } catch {
    return null;
  }
}

/** Gets a file from the cache or else from the network; throws `download_failed`. */
export async function fetchCached(
  url: string,
  cache: Cache | null,
  onProgress: (loadedBytes: number, totalBytes: number | null) => void,
): Promise<CachedFile> {
  const stored = await readStored(url, cache, onProgress);
  const bytes = stored ?? (await download(url, cache, onProgress));
  return {
    bytes,
    keep: async () => {
      if (stored === null) await store(url, cache, bytes);
    },
    forget: () => remove(url, cache),
  };
}

async function readStored(
  url: string,
  cache: Cache | null,
  onProgress: (loadedBytes: number, totalBytes: number | null) => void,
): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    const response = await cache?.match(url);
    return response ? await readBody(response, onProgress) : null;
  } catch {
    // A stored file that is shorter than its length says, or that the disk no longer gives back: download it again.
    await remove(url, cache);
    return null;
  }
}

async function download(
  url: string,
  cache: Cache | null,
  onProgress: (loadedBytes: number, totalBytes: number | null) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // With a cache of our own, a second copy in the HTTP cache would only take disk space from the visitor.
    const response = await fetch(url, { cache: cache ? "no-store" : "default" });
    if (!response.ok) throw new EmbedderError("download_failed", `${url} answered with status ${response.status}.`);
    return await readBody(response, onProgress);
  } catch (thrown) {
    if (thrown instanceof EmbedderError) throw thrown;
    throw new EmbedderError("download_failed", `${url} could not be downloaded: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

async function store(url: string, cache: Cache | null, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  try {
    const headers = { "content-type": "application/octet-stream", "content-length": String(bytes.byteLength) };
    await cache?.put(url, new Response(inPieces(bytes), { headers }));
  } catch {
    // Storage full or blocked: the model works all the same.
  }
}

async function remove(url: string, cache: Cache | null): Promise<void> {
  try {
    await cache?.delete(url);
  } catch {
    // Nothing was stored that could be removed.
  }
}

function inPieces(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (offset >= bytes.byteLength) return controller.close();
        controller.enqueue(bytes.subarray(offset, offset + STORE_PIECE_BYTES));
        offset += STORE_PIECE_BYTES;
      },
    },
    { highWaterMark: 0 },
  );
}
