import { MAX_STORE_MS, within } from "./within.js";

/** Maximum length of a stored part: the most that a cut costs on a fast connection. */
const PART_BYTES = 1024 * 1024;
/** On a slow connection a part is stored after this time, however short it is. */
const PART_MS = 2000;
/** Parts that may wait for the storage, which is slower than a fast network, before the download waits for it. */
const MAX_STORING = 4;

/** Identity of one version of a file: parts of different versions are never joined. */
export interface FileVersion {
  /** Without the query, which may be a signature. */
  readonly url: string;
  /** A strong entity tag; empty if the server sends none. */
  readonly etag: string;
  /** Bytes of the file as it is transferred; 0 if the server does not tell. */
  readonly byteLength: number;
}

/** The stored beginning of a file. */
export interface StoredStart {
  readonly version: FileVersion;
  /** Bytes without a gap from the first one. More than 0. */
  readonly byteLength: number;
  /** Addresses of the parts in the cache, in order. */
  readonly parts: readonly string[];
}

interface Part extends FileVersion {
  readonly key: string;
  readonly start: number;
  readonly length: number;
}

/**
 * The parts of unfinished downloads in the browser's Cache API, so that the next attempt continues
 * where this one stops: after a cut, a reload, or in another tab. Everything about a part is in its
 * address, so that two tabs that store the same part do not conflict. Failures of the storage never
 * stop a download.
 */
export class StoredParts {
  readonly #cache: Cache;
  readonly #prefix: string;
  #writer: PartWriter | undefined;

  /** `prefix`: the URL, without a query, under which the parts of this file are stored. */
  constructor(cache: Cache, prefix: string) {
    this.#cache = cache;
    this.#prefix = `${prefix}?`;
  }

  /** The longest stored beginning of the file at this URL. Never rejects. */
  async find(url: string): Promise<StoredStart | null> {
    const versions = new Map<string, Part[]>();
    for (const part of (await this.#keys()).map(parsePart)) {
      if (part.url !== url) continue;
      const id = `${part.byteLength} ${part.etag}`;
      versions.set(id, [...(versions.get(id) ?? []), part]);
    }
    const starts = [...versions.values()].map(joined).filter((start) => start !== null);
    return starts.sort((a, b) => b.byteLength - a.byteLength)[0] ?? null;
  }

  /** The bytes of the parts. Throws if one is missing or not as long as when it was stored. */
  async *read({ parts }: StoredStart): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    for (const key of parts) {
      const bytes = await (await this.#cache.match(key))?.arrayBuffer();
      if (bytes?.byteLength !== parsePart(key).length) throw new Error("a stored part is damaged");
      yield new Uint8Array(bytes);
    }
  }

  /** Stores the bytes from `start` on. Replaces the previous writer. */
  writer(version: FileVersion, start: number): PartWriter {
    void this.#writer?.stop();
    this.#writer = new PartWriter((part, at) => {
      const body = new Response(part, { headers: { "content-length": String(part.size) } });
      return this.#cache.put(this.#prefix + query({ ...version, start: at, length: part.size }), body);
    }, start);
    return this.#writer;
  }

  /** Removes all parts, and stops their writer. Never rejects. */
  async clear(): Promise<void> {
    await this.#writer?.stop();
    for (const key of await this.#keys()) await this.#cache.delete(key).catch(() => false);
  }

  async #keys(): Promise<string[]> {
    const requests = await this.#cache.keys().catch(() => []);
    return requests.map(({ url }) => url).filter((url) => url.startsWith(this.#prefix));
  }
}

/** Collects the chunks of a download into parts and stores them. */
export class PartWriter {
  readonly #put: (part: Blob, start: number) => Promise<void>;
  #buffer = new Uint8Array(PART_BYTES);
  #filled = 0;
  #start: number;
  #storedAt = performance.now();
  /** Parts that are being stored. */
  readonly #storing = new Set<Promise<void>>();
  #hasFailed = false;

  constructor(put: (part: Blob, start: number) => Promise<void>, start: number) {
    this.#put = put;
    this.#start = start;
  }

  /** Copies the chunk. Waits for the storage only if `MAX_STORING` parts are waiting already. Never rejects. */
  async append(chunk: Uint8Array): Promise<void> {
    for (let offset = 0; offset < chunk.length && !this.#hasFailed;) {
      const piece = chunk.subarray(offset, offset + PART_BYTES - this.#filled);
      this.#buffer.set(piece, this.#filled);
      this.#filled += piece.length;
      offset += piece.length;
      const isDue = this.#filled === PART_BYTES || performance.now() - this.#storedAt > PART_MS;
      if (isDue) await this.#store();
    }
  }

  /** Resolves when nothing is being stored. Drops bytes that are not stored yet. Never rejects. */
  async stop(): Promise<void> {
    this.#hasFailed = true;
    await Promise.all(this.#storing);
  }

  async #store(): Promise<void> {
    while (this.#storing.size >= MAX_STORING) await Promise.race(this.#storing);
    if (this.#hasFailed) return;
    // Not arrays, which stay in memory until the garbage collector runs.
    const stored = this.#put(new Blob([this.#buffer.subarray(0, this.#filled)]), this.#start);
    this.#start += this.#filled;
    this.#filled = 0;
    this.#storedAt = performance.now();
    const giveUp = () => {
      this.#hasFailed = true;
    };
    // Storage is full or blocked, or does not answer.
    const settled: Promise<void> = within(stored, MAX_STORE_MS)
      .catch(giveUp)
      .finally(() => this.#storing.delete(settled));
    this.#storing.add(settled);
  }
}

/** The parts that follow each other from the first byte on. */
function joined(parts: readonly Part[]): StoredStart | null {
  const [version] = parts;
  if (!version) return null;
  let byteLength = 0;
  const keys: string[] = [];
  // Two tabs may have stored parts that overlap; the longer one goes further.
  for (const { key, start, length } of [...parts].sort((a, b) => a.start - b.start || b.length - a.length)) {
    if (start !== byteLength) continue;
    keys.push(key);
    byteLength += length;
  }
  return byteLength > 0 ? { version, byteLength, parts: keys } : null;
}

function query({ url, etag, byteLength, start, length }: Omit<Part, "key">): string {
  const fields = { start, length, of: byteLength, etag, url };
  return String(new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])));
}

function parsePart(key: string): Part {
  const { searchParams } = new URL(key);
  const text = (name: string) => searchParams.get(name) ?? "";
  const number = (name: string) => Number(text(name));
  return {
    key,
    url: text("url"),
    etag: text("etag"),
    byteLength: number("of"),
    start: number("start"),
    length: number("length"),
  };
}
