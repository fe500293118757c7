import { LoadingError, messageOf, RetryableError } from "./errors.js";
import { Gunzip, isGzip } from "./gunzip.js";
import { assertIsFile, readBody, RetryBudget, send, withoutQuery } from "./http.js";

/** Receives the bytes of a file in order. */
export interface ByteSink {
  /** Bytes so far. */
  readonly received: number;
  /** The chunk is valid only until this returns. The download waits for a promise. */
  append(chunk: Uint8Array): void | Promise<void>;
  /** Discards all bytes. */
  reset(): void;
}

export interface DownloadOptions {
  /** Bytes of the whole file, uncompressed. */
  readonly byteLength: number;
  readonly signal: AbortSignal;
  /** What the browser's HTTP cache may do. */
  readonly cache: RequestCache;
}

/**
 * The download of one file, decompressed if the server sends a gzip file. Resumes a dropped connection where it broke off, if
 * the server supports ranges.
 */
export class ModelDownload {
  readonly #url: string;
  readonly #options: DownloadOptions;
  readonly #isCrossOrigin: boolean;
  readonly #ended = new AbortController();
  #firstResponse: Promise<Response> | undefined;
  /** Bytes of the transferred file so far; fewer than the sink has if the file is compressed. */
  #transferred = 0;
  #gunzip: Gunzip | undefined;
  #canResume = false;
  #etag: string | null = null;
  #hasResumed = false;

  /** Sends the request at once, so that the response arrives while the caller prepares the sink. */
  constructor(url: string, options: DownloadOptions) {
    this.#url = url;
    this.#options = options;
    // Node has no origin.
    this.#isCrossOrigin = globalThis.location !== undefined && new URL(url).origin !== globalThis.location.origin;
    const { signal } = options;
    signal.addEventListener("abort", () => this.#ended.abort(signal.reason), { signal: this.#ended.signal });
    this.#firstResponse = this.#request(0);
    this.#firstResponse.catch(() => undefined);
  }

  /** Whether the file was assembled from several responses, which may belong to different versions of it. */
  get hasResumed(): boolean {
    return this.#hasResumed;
  }

  /** Fills `sink` with the whole file. Throws `network`, `integrity` if the length is wrong, or the signal's reason. */
  async into(sink: ByteSink, onProgress: (loadedBytes: number) => void): Promise<void> {
    const { byteLength, signal } = this.#options;
    const retries = new RetryBudget(signal);
    sink.reset();
    while (sink.received < byteLength) {
      try {
        const response = await this.#respond(this.#canResume ? this.#transferred : 0);
        if (response.status !== 206) this.#startOver(sink);
        await this.#receive(response, sink, onProgress);
      } catch (failure) {
        if (signal.aborted) throw signal.reason;
        await retries.spend(failure, sink.received);
      }
    }
  }

  /** Aborts pending requests. */
  close(): void {
    this.#ended.abort();
    this.#gunzip?.abort();
  }

  #startOver(sink: ByteSink): void {
    this.#gunzip?.abort();
    this.#gunzip = undefined;
    this.#transferred = 0;
    sink.reset();
  }

  /** A response that continues at byte `start` (status 206) or that starts from the beginning. */
  async #respond(start: number): Promise<Response> {
    const pending = this.#firstResponse ?? this.#request(start);
    this.#firstResponse = undefined;
    const response = await pending.catch((failure: unknown) => {
      // Some browsers send a CORS preflight for a range, which the server may not support.
      if (this.#isCrossOrigin) this.#canResume = false;
      throw failure;
    });
    if (response.status === 416 || (response.status === 206 && !continuesAt(response, start))) {
      void response.body?.cancel();
      this.#canResume = false;
      throw new RetryableError(`${withoutQuery(this.#url)} changed on the server during the download. Try again.`);
    }
    assertIsFile(response, this.#url, "modelUrl");
    if (response.status === 206) this.#hasResumed = true;
    else this.#readHeaders(response);
    return response;
  }

  #request(start: number): Promise<Response> {
    const headers = new Headers();
    if (start > 0) {
      headers.set("range", `bytes=${start}-`);
      // Cross-origin it would need a CORS preflight. Without it the checksum reveals parts that do not match.
      if (this.#etag && !this.#isCrossOrigin) headers.set("if-range", this.#etag);
    }
    return send(this.#url, { headers, signal: this.#ended.signal, cache: this.#options.cache });
  }

  #readHeaders({ headers }: Response): void {
    this.#canResume = !headers.has("content-encoding") && headers.get("accept-ranges") !== "none";
    const etag = headers.get("etag");
    this.#etag = etag?.startsWith('"') ? etag : null;
  }

  async #receive(response: Response, sink: ByteSink, onProgress: (loadedBytes: number) => void): Promise<void> {
    const chunks = readBody(response);
    onProgress(sink.received);
    for (let chunk = await this.#next(chunks, sink); chunk; chunk = await this.#next(chunks, sink)) {
      if (this.#transferred === 0) this.#begin(chunk, response, sink);
      this.#transferred += chunk.length;
      await (this.#gunzip ?? sink).append(chunk);
      onProgress(sink.received);
    }
    if (this.#transferred === 0) this.#checkLength(response);
    await this.#gunzip?.finish();
    if (sink.received < this.#options.byteLength) throw this.#brokenOff(sink);
    onProgress(sink.received);
  }

  /** Only the first bytes tell: a server may send a compressed file as it is, or let the browser decompress it. */
  #begin(chunk: Uint8Array, response: Response, sink: ByteSink): void {
    if (isGzip(chunk)) this.#gunzip = new Gunzip(sink, this.#options.byteLength);
    else this.#checkLength(response);
  }

  /** Rejects another file before it is downloaded. */
  #checkLength({ headers, type }: Response): void {
    const { byteLength } = this.#options;
    const length = headers.get("content-length");
    if (length === null || Number(length) === byteLength) return;
    // The length is that of the transfer, and only same-origin responses always expose whether it is compressed.
    if (!headers.has("content-encoding") && type !== "cors") {
      throw new LoadingError("integrity", `it has ${length} bytes instead of ${byteLength}`);
    }
    this.#canResume = false;
  }

  async #next(chunks: AsyncGenerator<Uint8Array, void>, sink: ByteSink): Promise<Uint8Array | void> {
    try {
      return (await chunks.next()).value;
    } catch (cause) {
      throw this.#brokenOff(sink, cause);
    }
  }

  #brokenOff({ received }: ByteSink, cause?: unknown): RetryableError {
    const reason = cause === undefined ? "" : ` (${messageOf(cause)})`;
    return new RetryableError(
      `The download of ${withoutQuery(this.#url)} broke off after ${received} of ${this.#options.byteLength} bytes${reason}. ` +
        "Check the connection and try again.",
      { cause },
    );
  }
}

/** Cross-origin responses often hide Content-Range; then only the checksum can reveal a mismatch. */
function continuesAt(response: Response, start: number): boolean {
  const range = response.headers.get("content-range");
  return start > 0 && (range === null || range.startsWith(`bytes ${start}-`));
}
