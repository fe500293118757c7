import { absolute } from "./options.js";

const CACHE_NAME = "evidence-chat-writer";

/**
 * Model files in the browser's Cache API, by their URLs. Verify what it returns like a download. Its failures never stop
 * loading: without a cache, or without space in it, the next visit downloads the model again.
 */
export class ModelCache {
  readonly #cache: Cache;

  private constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** `null` on pages without HTTPS, and if the visitor has blocked storage. */
  static async open(): Promise<ModelCache | null> {
    try {
      return new ModelCache(await globalThis.caches.open(CACHE_NAME));
    } catch {
      return null;
    }
  }

  async read(url: string): Promise<Response | undefined> {
    return this.#cache.match(url).catch(() => undefined);
  }

  /** Stores a file while it arrives. */
  write(url: string, byteLength: number): StoredCopy {
    return new StoredCopy((response) => this.#cache.put(url, response), byteLength);
  }

  async remove(url: string): Promise<boolean> {
    return this.#cache.delete(url).catch(() => false);
  }
}

/** How many bytes may wait for the disk. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** A copy of a file that is written while the file arrives. It exists only once it is complete. */
export class StoredCopy {
  /** Settles when the copy is stored or given up. Never rejects. */
  readonly stored: Promise<void>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #hasFailed = false;

  constructor(put: (response: Response) => Promise<void>, byteLength: number) {
    const queue = new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>(undefined, queue);
    this.#writer = writable.getWriter();
    const giveUp = () => {
      this.#hasFailed = true;
    };
    this.#writer.closed.catch(giveUp);
    const response = new Response(readable, { headers: { "content-length": String(byteLength) } });
    this.stored = put(response).catch((reason: unknown) => {
      // Storage is full or blocked, or the file was not the expected one.
      giveUp();
      void this.#writer.abort(reason).catch(giveUp);
    });
  }

  /** Copies the chunk; resolves when there is space for the next one. */
  async append(chunk: Uint8Array): Promise<void> {
    if (this.#hasFailed) return;
    try {
      void this.#writer.write(chunk.slice()).catch(() => undefined);
      await this.#writer.ready;
    } catch {
      this.#hasFailed = true;
    }
  }

  /** The file is complete. */
  async close(): Promise<void> {
    await this.#writer.close().catch(() => undefined);
  }

  /** Discards the copy. */
  async discard(): Promise<void> {
    this.#hasFailed = true;
    await this.#writer.abort(new DOMException("The file is not complete.", "AbortError")).catch(() => undefined);
  }
}

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

/** Removes a model file from the browser's cache. Resolves to whether it was there. */
export async function deleteModel(url: string | URL): Promise<boolean> {
  const cache = await ModelCache.open();
  return (await cache?.remove(absolute("url", url))) ?? false;
}
