import { asWriterError, messageOf, WriterError } from "./errors.js";
import type { LoadProgress } from "./writer.js";

/** The expected model file. */
export interface ModelDescription {
  /** Size of the file in bytes. */
  readonly byteLength?: number | undefined;
  /** SHA-256 of the file as hex. With it, a file that is not this one is rejected, also from the cache. */
  readonly sha256?: string | undefined;
}

const CACHE_NAME = "evidence-chat-writer";
const REPORT_INTERVAL_MS = 200;

/**
 * Whether a model file is in the browser's cache, so that loading needs no download. With `byteLength`, a file of another size
 * does not count: it would be downloaded again. Never rejects.
 */
export async function hasModel(url: string | URL, byteLength?: number): Promise<boolean> {
  const stored = await (await openCache())?.match(url).catch(() => undefined);
  const storedLength = Number(stored?.headers.get("content-length"));
  return stored !== undefined && storedLength === (byteLength ?? storedLength);
}

/**
 * The size of a model file in bytes, as its server tells: for the question whether the visitor allows the download.
 *
 * @throws {@link WriterError} `download_failed`.
 */
export async function modelSize(url: string | URL): Promise<number> {
  const length = lengthOf(await request(url, { method: "HEAD" }));
  if (length !== undefined) return length;
  throw new WriterError("download_failed", `${withoutQuery(url)} has no Content-Length. Set model.byteLength.`);
}

/** The file, from the cache or the network, and what puts it into the cache. Throws `WriterError`. */
export async function modelFile(
  url: string | URL,
  expected: ModelDescription,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
): Promise<{ file: Blob; keep: () => void }> {
  const cache = await openCache();
  const stored = await cache?.match(url).then(
    (response) => response?.blob(),
    () => undefined,
  );
  if (stored && (await differenceOf(stored, expected)) === undefined) {
    onProgress({ loadedBytes: stored.size, totalBytes: stored.size, isCached: true });
    return { file: stored, keep: () => undefined };
  }
  const file = await download(url, expected.byteLength, signal, onProgress);
  const difference = await differenceOf(file, expected);
  if (difference !== undefined) {
    throw new WriterError(
      "integrity",
      `${withoutQuery(url)} is not the expected model: ${difference}. Check modelUrl and model.`,
    );
  }
  const copy = new Response(file, { headers: { "content-length": String(file.size) } });
  // Without space for it, the next visit downloads it again.
  return { file, keep: () => void cache?.put(url, copy).catch(() => undefined) };
}

async function download(
  url: string | URL,
  byteLength: number | undefined,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
): Promise<Blob> {
  // With our own cache, a second copy in the HTTP cache would only waste space.
  const response = await request(url, { signal, cache: "no-store" });
  const totalBytes = byteLength ?? lengthOf(response) ?? 0;
  let loadedBytes = 0;
  let reportedAt = -Infinity;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      loadedBytes += chunk.byteLength;
      if (performance.now() - reportedAt > REPORT_INTERVAL_MS || loadedBytes === totalBytes) {
        reportedAt = performance.now();
        onProgress({ loadedBytes, totalBytes: Math.max(totalBytes, loadedBytes), isCached: false });
      }
      controller.enqueue(chunk);
    },
  });
  try {
    return await new Response(response.body?.pipeThrough(counter) ?? null).blob();
  } catch (thrown) {
    throw asWriterError(thrown, "download_failed", `${withoutQuery(url)} broke off. Check the connection`);
  }
}

/** Throws `download_failed` for everything but the file. */
export async function request(url: string | URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch((cause: unknown) => {
    const hint = "Check the connection, and that the server allows this page's origin (CORS).";
    const message = `${withoutQuery(url)} could not be fetched (${messageOf(cause)}). ${hint}`;
    throw new WriterError("download_failed", message, { cause });
  });
  // Servers of single-page applications answer every unknown path with the page.
  const isPage = /^text\/html\b/i.test(response.headers.get("content-type") ?? "");
  if (response.ok && !isPage) return response;
  const problem = response.ok ? "is a web page, not the file" : `answered with status ${response.status}`;
  throw new WriterError("download_failed", `${withoutQuery(url)} ${problem}. Check that it is there.`);
}

/** How the file differs from the expected one. The browser hashes only a whole file, so it is in memory for that time. */
async function differenceOf(file: Blob, { byteLength, sha256 }: ModelDescription): Promise<string | undefined> {
  if (byteLength !== undefined && file.size !== byteLength) return `it has ${file.size} bytes instead of ${byteLength}`;
  if (sha256 === undefined) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  const actual = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return actual === sha256.toLowerCase() ? undefined : `its SHA-256 is ${actual} instead of ${sha256}`;
}

/** `undefined` on pages without HTTPS, and if the visitor has blocked storage. */
function openCache(): Promise<Cache | undefined> {
  return globalThis.caches?.open(CACHE_NAME).catch(() => undefined) ?? Promise.resolve(undefined);
}

function lengthOf({ headers }: Response): number | undefined {
  return headers.has("content-encoding") ? undefined : Number(headers.get("content-length")) || undefined;
}

/** For messages: the query of a signed URL is secret. */
export function withoutQuery(url: string | URL): string {
  return String(url).replace(/[?#].*$/s, "");
}
