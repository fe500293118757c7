import { EmbedderError, messageOf } from "../errors.js";
import { assertIsFile, isReachable, readBody, RetryableError, RetryBudget, send, withoutQuery } from "./http.js";
import { type Piece, pieceAt, pieceBytesOf } from "./pieces.js";
import type { FileVersion, PartWriter, StoredParts, StoredStart } from "./stored-parts.js";

/** Receives the bytes of a file in order. */
export interface ByteSink {
  /** Bytes so far. */
  readonly received: number;
  /** The chunk is valid only until this returns. The download waits for a promise. */
  append(chunk: Uint8Array): Promise<void>;
  /** Discards all bytes. */
  reset(): void;
  /** Like `append`, for the bytes of a gzip file. Throws `integrity` if the file is damaged. */
  appendGzip(chunk: Uint8Array): Promise<void>;
  /** The gzip file has ended. Throws `integrity` if it is incomplete. */
  finishGzip(): Promise<void>;
}

export interface DownloadOptions {
  /** The option that set the URL, for messages. */
  readonly option: string;
  /** Bytes of the whole file, uncompressed. */
  readonly byteLength: number;
  readonly signal: AbortSignal;
  /** How the request uses the browser's HTTP cache. */
  readonly cache: RequestCache;
  /** Keeps what has arrived for the next attempt, which continues there; `null` if nothing can be kept. */
  readonly parts: StoredParts | null;
  /** Whether the file may be assembled from several responses. Default: true. */
  readonly mayResume?: boolean;
}

/** Range requests to another origin that may fail, with a server that can be reached, before no more are sent. */
const MAX_RANGE_FAILURES = 2;

/** The first two bytes of every gzip file. */
const GZIP_MAGIC = [0x1f, 0x8b];

/** A response and the kind of its body. */
interface Reply {
  readonly response: Response;
  /** `file`: the whole file; `rest`: all that is missing; or the piece that begins before or at what is missing. */
  readonly body: "file" | "rest" | Piece;
}

/**
 * The download of one file, decompressed if the server sends a gzip file. If the server supports
 * ranges or serves pieces, it continues where a dropped connection or an earlier attempt broke off.
 * The caller must verify the file: servers may lie.
 */
export class ModelDownload {
  readonly #url: string;
  readonly #options: DownloadOptions;
  readonly #isCrossOrigin: boolean;
  readonly #ended = new AbortController();
  readonly #stored: Promise<StoredStart | null>;
  #firstResponse: Promise<Response | null> | undefined;
  /** Bytes of the transferred file so far; fewer than the sink has if the file is compressed. */
  #transferred = 0;
  #isGzip = false;
  #canResume = false;
  /** Of the file that is being transferred. */
  #version: FileVersion;
  /** See `pieceBytesOf`. */
  #pieceBytes = 0;
  #writer: PartWriter | undefined;
  #rangeFailures = 0;
  #hasResumed = false;

  /** Sends the request at once, so that the response arrives while the caller prepares the sink. */
  constructor(url: string, options: DownloadOptions) {
    this.#url = url;
    this.#options = options;
    // Node has no origin.
    this.#isCrossOrigin = globalThis.location !== undefined && new URL(url).origin !== globalThis.location.origin;
    const { signal } = options;
    signal.addEventListener("abort", () => this.#ended.abort(signal.reason), { signal: this.#ended.signal });
    this.#version = { url: withoutQuery(url), etag: "", byteLength: 0 };
    this.#stored = this.#findStored();
    this.#firstResponse = this.#sendFirst();
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
    await this.#replay(sink, onProgress);
    while (sink.received < byteLength) {
      try {
        const reply = await this.#respond(this.#canResume ? this.#transferred : 0);
        if (reply.body === "file") await this.#startOver(sink);
        await this.#receive(reply, sink, onProgress);
      } catch (failure) {
        if (signal.aborted) throw signal.reason;
        await retries.spend(failure, sink.received);
      }
    }
  }

  /** Aborts pending requests. */
  close(): void {
    this.#ended.abort();
  }

  /** Finds the parts that an earlier attempt has stored. Does not delay a download without storage. */
  #findStored(): Promise<StoredStart | null> {
    const { parts, mayResume = true } = this.#options;
    return parts && mayResume ? parts.find(this.#version.url) : Promise.resolve(null);
  }

  /** `null` if the whole file is stored. */
  async #sendFirst(): Promise<Response | null> {
    if (!this.#options.parts) return this.#request(0);
    const stored = await this.#stored;
    if (!stored) return this.#request(0);
    this.#version = stored.version;
    this.#canResume = true;
    return stored.byteLength === stored.version.byteLength ? null : this.#request(stored.byteLength);
  }

  /** Passes on the parts that an earlier attempt has stored. */
  async #replay(sink: ByteSink, onProgress: (loadedBytes: number) => void): Promise<void> {
    const { parts, signal, byteLength } = this.#options;
    const stored = await this.#stored;
    if (!parts || !stored) return;
    try {
      for await (const part of parts.read(stored)) {
        await this.#accept(part, sink);
        onProgress(sink.received);
      }
      this.#hasResumed = true;
      if (stored.byteLength !== stored.version.byteLength) return;
      this.#firstResponse = undefined;
      if (this.#isGzip) await sink.finishGzip();
      if (sink.received < byteLength) throw new EmbedderError("integrity", "the stored file is too short");
    } catch {
      if (signal.aborted) throw signal.reason;
      // The parts are damaged or were evicted.
      await parts.clear();
      this.#canResume = false;
      void this.#firstResponse?.then((response) => response?.body?.cancel()).catch(() => undefined);
      this.#firstResponse = undefined;
      await this.#startOver(sink);
    }
  }

  /** Drops everything that has arrived, because what follows does not continue it. */
  async #startOver(sink: ByteSink): Promise<void> {
    this.#isGzip = false;
    sink.reset();
    if (this.#transferred > 0) await this.#options.parts?.clear();
    this.#transferred = 0;
    this.#writer = this.#canResume ? this.#options.parts?.writer(this.#version, 0) : undefined;
  }

  async #respond(start: number): Promise<Reply> {
    const piece = this.#pieceFor(start);
    const pending = this.#firstResponse ?? (piece ? this.#send(piece.url) : this.#request(start));
    this.#firstResponse = undefined;
    const received = await pending.catch(async (failure: unknown) => {
      // Some browsers send a CORS preflight for a range, which the server may not support.
      const isRange = this.#isCrossOrigin && start > 0 && !piece;
      const isRefused = isRange && (await isReachable(this.#url, this.#ended.signal));
      if (isRefused && ++this.#rangeFailures === MAX_RANGE_FAILURES) this.#canResume = false;
      throw failure;
    });
    const response = received ?? (await this.#request(start));
    const { status } = response;
    const isAbsent = piece !== undefined && status === 404;
    if (isAbsent || status === 416 || (status === 206 && !continues(response, start, this.#version))) {
      void response.body?.cancel();
      this.#canResume = false;
      throw new RetryableError(`${withoutQuery(this.#url)} changed on the server during the download. Try again.`);
    }
    assertIsFile(response, this.#url, this.#options.option);
    const body = piece ?? (status === 206 ? "rest" : "file");
    if (body === "file" && start > 0 && this.#offersPieces(response)) {
      void response.body?.cancel();
      return this.#respond(start);
    }
    if (body === "file") {
      this.#readHeaders(response);
    } else {
      this.#hasResumed = true;
      this.#writer ??= this.#options.parts?.writer(this.#version, start);
    }
    return { response, body };
  }

  #request(start: number): Promise<Response> {
    const headers = new Headers();
    if (start > 0) {
      headers.set("range", `bytes=${start}-`);
      // Cross-origin it would need a CORS preflight. Without it the checksum reveals parts that do
      // not match.
      const { etag } = this.#version;
      if (etag && !this.#isCrossOrigin) headers.set("if-range", etag);
    }
    return this.#send(this.#url, headers);
  }

  #send(url: string, headers = new Headers()): Promise<Response> {
    return send(url, { headers, signal: this.#ended.signal, cache: this.#options.cache });
  }

  #pieceFor(start: number): Piece | undefined {
    if (start === 0 || this.#pieceBytes === 0) return undefined;
    return pieceAt(start, this.#url, this.#pieceBytes, this.#version.byteLength);
  }

  /** The host has ignored the range of the request. From now on pieces of the same version are requested, if it has them. */
  #offersPieces(response: Response): boolean {
    const { etag, byteLength } = this.#version;
    const isSame = etag !== "" && strongTag(response.headers) === etag && byteLength > 0;
    if (isSame) this.#pieceBytes = pieceBytesOf(response);
    return this.#pieceBytes > 0;
  }

  #readHeaders(response: Response): void {
    const { headers } = response;
    const isEncoded = headers.has("content-encoding");
    this.#canResume = !isEncoded && headers.get("accept-ranges") !== "none" && this.#options.mayResume !== false;
    const byteLength = isEncoded ? 0 : Number(headers.get("content-length"));
    this.#version = { ...this.#version, etag: strongTag(headers), byteLength };
    this.#pieceBytes = byteLength > 0 ? pieceBytesOf(response) : 0;
  }

  async #receive({ response, body }: Reply, sink: ByteSink, onProgress: (loadedBytes: number) => void): Promise<void> {
    const chunks = readBody(response);
    const piece = typeof body === "object" ? body : undefined;
    let skip = piece?.skip ?? 0;
    onProgress(sink.received);
    for (let chunk = await this.#next(chunks, sink); chunk; chunk = await this.#next(chunks, sink)) {
      if (this.#transferred === 0 && !isGzip(chunk)) this.#checkLength(response);
      const bytes = chunk.subarray(skip);
      skip = Math.max(0, skip - chunk.length);
      await this.#accept(bytes, sink);
      await this.#writer?.append(bytes);
      onProgress(sink.received);
    }
    if (piece && this.#transferred !== piece.end) throw this.#brokenOff(sink);
    // The next piece follows.
    if (piece && piece.end < this.#version.byteLength) return;
    if (this.#transferred === 0) this.#checkLength(response);
    if (this.#isGzip) await sink.finishGzip();
    if (sink.received < this.#options.byteLength) throw this.#brokenOff(sink);
    onProgress(sink.received);
  }

  /** Only the first bytes tell: a server may send a compressed file as it is, or let the browser decompress it. */
  async #accept(chunk: Uint8Array, sink: ByteSink): Promise<void> {
    if (this.#transferred === 0) this.#isGzip = isGzip(chunk);
    this.#transferred += chunk.length;
    await (this.#isGzip ? sink.appendGzip(chunk) : sink.append(chunk));
  }

  /** Rejects another file before it is downloaded. */
  #checkLength({ headers, type }: Response): void {
    const { byteLength } = this.#options;
    const length = headers.get("content-length");
    if (length === null || Number(length) === byteLength) return;
    // The length is that of the transfer, and only same-origin responses always expose whether it
    // is compressed.
    if (!headers.has("content-encoding") && type !== "cors") {
      throw new EmbedderError("integrity", `it has ${length} bytes instead of ${byteLength}`);
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

/**
 * Whether a partial response belongs to this version of the file and begins at `start`.
 * Cross-origin responses often hide the headers that tell; then only the checksum can reveal a
 * mismatch.
 */
function continues({ headers }: Response, start: number, { etag, byteLength }: FileVersion): boolean {
  if (start === 0) return false;
  const tag = strongTag(headers);
  if (etag && tag && tag !== etag) return false;
  const range = headers.get("content-range");
  if (range === null) return true;
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  return Number(first) === start && (total === "*" || byteLength === 0 || Number(total) === byteLength);
}

/** Whether a file that begins with these bytes is compressed with gzip. */
function isGzip(chunk: Uint8Array): boolean {
  return GZIP_MAGIC.every((byte, index) => index >= chunk.length || chunk[index] === byte);
}

/** Only a strong entity tag promises the same bytes. */
function strongTag(headers: Headers): string {
  const tag = headers.get("etag") ?? "";
  return tag.startsWith('"') ? tag : "";
}
