import { EmbedderError, messageOf } from "./errors.js";
import { readBody } from "./read-body.js";
import { assertHoldsFile, send, shown } from "./response.js";
import { RetryBudget } from "./retry-budget.js";
import { TemporaryFailure } from "./temporary-failure.js";

/** Takes the bytes of a file in order; `ModelLoader` is one. */
export interface ByteSink {
  /** Bytes so far. */
  readonly received: number;
  append(chunk: Uint8Array): void;
  /** Forgets them all. */
  reset(): void;
}

export interface DownloadOptions {
  /** Bytes of the whole file, uncompressed. */
  readonly byteLength: number;
  readonly signal: AbortSignal;
  /** What the browser's HTTP cache may do. */
  readonly cache: RequestCache;
}

/** One file on its way from the server. A dropped connection is resumed where it broke off, if the server can do that. */
export class ModelDownload {
  readonly #url: string;
  readonly #options: DownloadOptions;
  readonly #isForeign: boolean;
  readonly #ended = new AbortController();
  #firstAnswer: Promise<Response> | undefined;
  #canResume = false;
  #etag: string | null = null;
  #hasResumed = false;

  /** Sends the request, so that the answer is on its way while the caller prepares what takes it. */
  constructor(url: string, options: DownloadOptions) {
    this.#url = url;
    this.#options = options;
    // Node knows no foreign origins.
    this.#isForeign = globalThis.location !== undefined && new URL(url).origin !== globalThis.location.origin;
    const { signal } = options;
    signal.addEventListener("abort", () => this.#ended.abort(signal.reason), { signal: this.#ended.signal });
    this.#firstAnswer = this.#request(0);
    this.#firstAnswer.catch(() => undefined);
  }

  /** Whether the file was put together from several answers, which a server may have given for different files. */
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
        const response = await this.#answer(this.#canResume ? sink.received : 0);
        if (response.status !== 206) sink.reset();
        await this.#receive(response, sink, onProgress);
      } catch (failure) {
        if (signal.aborted) throw signal.reason;
        await retries.spend(failure, sink.received);
      }
    }
  }

  /** Ends what is still under way. */
  close(): void {
    this.#ended.abort();
  }

  /** An answer that goes on at byte `start`, with status 206, or that begins at the beginning. */
  async #answer(start: number): Promise<Response> {
    const pending = this.#firstAnswer ?? this.#request(start);
    this.#firstAnswer = undefined;
    const response = await pending.catch((failure: unknown) => {
      // Some browsers ask a foreign server for permission to resume, and it may not know how to give it.
      if (this.#isForeign) this.#canResume = false;
      throw failure;
    });
    if (response.status === 416 || (response.status === 206 && !continuesAt(response, start))) {
      void response.body?.cancel();
      this.#canResume = false;
      throw new TemporaryFailure(`${shown(this.#url)} changed on the server while it was downloaded. Try again.`);
    }
    assertHoldsFile(response, this.#url, "modelUrl");
    if (response.status === 206) this.#hasResumed = true;
    else this.#readHeaders(response);
    return response;
  }

  #request(start: number): Promise<Response> {
    const headers = new Headers();
    if (start > 0) {
      headers.set("range", `bytes=${start}-`);
      // A foreign server would be asked for permission first. Without it the checksum tells whether the parts fit.
      if (this.#etag && !this.#isForeign) headers.set("if-range", this.#etag);
    }
    return send(this.#url, { headers, signal: this.#ended.signal, cache: this.#options.cache });
  }

  #readHeaders({ headers, type }: Response): void {
    const { byteLength } = this.#options;
    const length = headers.get("content-length");
    // The length counts what is transferred, and only a server of the same origin always says whether that is packed.
    const isPacked = headers.has("content-encoding");
    const isWhole = length === null || Number(length) === byteLength;
    if (!isWhole && !isPacked && type !== "cors") {
      throw new EmbedderError("integrity", `it has ${length} bytes instead of ${byteLength}`);
    }
    this.#canResume = isWhole && !isPacked && headers.get("accept-ranges") !== "none";
    const etag = headers.get("etag");
    this.#etag = etag?.startsWith('"') ? etag : null;
  }

  async #receive(response: Response, sink: ByteSink, onProgress: (loadedBytes: number) => void): Promise<void> {
    const pieces = readBody(response);
    onProgress(sink.received);
    for (let piece = await this.#next(pieces, sink); piece; piece = await this.#next(pieces, sink)) {
      sink.append(piece);
      onProgress(sink.received);
    }
    if (sink.received < this.#options.byteLength) throw this.#brokenOff(sink);
  }

  async #next(pieces: AsyncGenerator<Uint8Array, void>, sink: ByteSink): Promise<Uint8Array | void> {
    try {
      return (await pieces.next()).value;
    } catch (cause) {
      throw this.#brokenOff(sink, cause);
    }
  }

  #brokenOff({ received }: ByteSink, cause?: unknown): TemporaryFailure {
    const reason = cause === undefined ? "" : ` (${messageOf(cause)})`;
    return new TemporaryFailure(
      `The download of ${shown(this.#url)} broke off after ${received} of ${this.#options.byteLength} bytes${reason}. ` +
        "Check the connection and try again.",
      { cause },
    );
  }
}

/** Foreign servers often hide Content-Range; then the checksum has to tell. */
function continuesAt(response: Response, start: number): boolean {
  const range = response.headers.get("content-range");
  return start > 0 && (range === null || range.startsWith(`bytes ${start}-`));
}
