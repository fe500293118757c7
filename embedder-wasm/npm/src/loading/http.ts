import { EmbedderError, messageOf } from "../errors.js";

/** A `network` error that a retry may resolve: a dropped connection, a busy server. */
export class RetryableError extends EmbedderError {
  constructor(message: string, options?: ErrorOptions) {
    super("network", message, options);
  }
}

/** Timeout, too early, too many requests: worth a retry, like all of 5xx. */
const RETRYABLE_STATUSES = [408, 425, 429];

/** Sends a GET; throws `network`, as a `RetryableError` if the server cannot be reached. */
export async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetchUrl(url, init);
  } catch (cause) {
    const what = `${withoutQuery(url)} could not be fetched (${messageOf(cause)}).`;
    if (url.startsWith("file:")) {
      throw new EmbedderError("network", `${what} Check that the file is there.`, { cause });
    }
    const hint = "Check the connection, and that the server allows this page's origin (CORS).";
    throw new RetryableError(`${what} ${hint}`, { cause });
  }
}

/** Whether the server answers at all, whatever it allows this page to read. Never rejects. */
export async function isReachable(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    await fetch(url, { method: "HEAD", mode: "no-cors", cache: "no-store", signal });
    return true;
  } catch {
    return false;
  }
}

/** Throws `network` for a response that is not the requested file. `option` is the option that set the URL. */
export function assertIsFile(response: Response, url: string, option: string): void {
  const { status, ok } = response;
  if (!ok) {
    void response.body?.cancel();
    const message = `${withoutQuery(url)} answered with status ${status}.`;
    if (status >= 500 || RETRYABLE_STATUSES.includes(status)) throw new RetryableError(`${message} Try again later.`);
    throw new EmbedderError("network", `${message} Check ${option}.`);
  }
  // Servers of single-page applications answer every unknown path with the page.
  if (/^text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
    void response.body?.cancel();
    throw new EmbedderError(
      "network",
      `${withoutQuery(url)} is a web page, not the file. Check ${option} and that the file was deployed.`,
    );
  }
}

/** For messages: the query of a signed URL is secret. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

interface NodeProcess {
  getBuiltinModule?(name: "node:fs/promises"): { readFile(path: URL): Promise<Uint8Array<ArrayBuffer>> };
}

/** `fetch`, and in Node also `file:` URLs from disk. Rejects with whatever went wrong. */
async function fetchUrl(url: string, init: RequestInit): Promise<Response> {
  if (!url.startsWith("file:")) return fetch(url, init);
  // Not an import: bundlers for browsers would try to resolve the module.
  const { process } = globalThis as { process?: NodeProcess };
  const files = process?.getBuiltinModule?.("node:fs/promises");
  if (!files) return fetch(url, init);
  const bytes = await files.readFile(new URL(url));
  const type = url.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(bytes, { headers: { "content-length": String(bytes.byteLength), "content-type": type } });
}

/** Large enough to be fast, small enough to be negligible. */
const BUFFER_BYTES = 256 * 1024;

/**
 * Yields the chunks of a response's body. Each is valid only until the next one is requested:
 * browsers with byte streams read all of them into the same buffer, so that a large file leaves no
 * garbage of its size.
 */
export async function* readBody({ body }: Response): AsyncGenerator<Uint8Array, void, undefined> {
  if (!body) return;
  const reader = byteReader(body);
  if (!reader) return yield* readChunks(body);
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) return;
    yield value;
    buffer = value.buffer;
  }
}

/** `null` if bodies are not byte streams in this browser. */
function byteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
}

/** Retries without progress. */
const MAX_RETRIES = 5;
/** Waits of 0.25, 0.5, 1, 2 and 4 seconds: enough for a phone to change networks. */
const FIRST_DELAY_MS = 250;
/** Progress of this many bytes resets the count of failures. */
const PROGRESS_BYTES = 1024 * 1024;

/** Decides whether to retry, and waits before a retry. Bounded, however a server behaves. */
export class RetryBudget {
  readonly #signal: AbortSignal;
  #failures = 0;
  #furthest = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Waits if `failure` is retryable and retries are left, otherwise throws it. `received`: bytes so far. */
  async spend(failure: unknown, received: number): Promise<void> {
    if (received >= this.#furthest + PROGRESS_BYTES) {
      this.#furthest = received;
      this.#failures = 0;
    }
    const isFinal = !(failure instanceof RetryableError) || this.#signal.aborted || this.#failures === MAX_RETRIES;
    if (isFinal) throw failure;
    await pause(FIRST_DELAY_MS * 2 ** this.#failures++, this.#signal);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
