import { Watchdog } from "./loading/watchdog.js";
import type { ReaderOptions } from "./embedding.js";
import { EmbedderError } from "./errors.js";
import type { LoadProgress } from "./progress.js";
import type { Reply, Request } from "./protocol.js";

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: EmbedderError) => void;
  readonly onProgress: ((progress: LoadProgress) => void) | undefined;
}

/** The caller's side of loading the reader: all calls share one load, which is stopped when none of them waits any more. */
export class ReaderLoad {
  readonly #post: (request: Request) => void;
  readonly #readerUrl: string;
  readonly #timeoutMs: number;
  readonly #waiting = new Set<Waiting>();
  #watchdog: Watchdog | undefined;
  #isReady = false;

  constructor(post: (request: Request) => void, { readerUrl, timeoutMs }: { readerUrl: string; timeoutMs: number }) {
    this.#post = post;
    this.#readerUrl = readerUrl;
    this.#timeoutMs = timeoutMs;
  }

  /** Starts the load, or waits for the one that runs. */
  wait({ signal, onProgress }: ReaderOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (this.#waiting.delete(waiting) && this.#waiting.size === 0) this.#stop();
        reject(new EmbedderError("aborted", "Loading the reader was aborted.", { cause: signal?.reason }));
      };
      const settled =
        <T>(settle: (outcome: T) => void) =>
        (outcome: T) => {
          signal?.removeEventListener("abort", onAbort);
          settle(outcome);
        };
      const waiting: Waiting = { resolve: settled(resolve), reject: settled(reject), onProgress };
      if (signal?.aborted) return onAbort();
      if (this.#isReady) return resolve();
      signal?.addEventListener("abort", onAbort);
      this.#waiting.add(waiting);
      if (this.#waiting.size === 1) this.#start();
    });
  }

  handle(reply: Reply): void {
    if (reply.type === "reader_progress") {
      this.#watchdog?.reset();
      for (const { onProgress } of this.#waiting) onProgress?.(reply.progress);
    }
    if (reply.type === "reader_ready") {
      this.#isReady = true;
      this.#settle(({ resolve }) => resolve());
    }
    if (reply.type === "reader_failed") this.fail(new EmbedderError(reply.code, reply.message));
  }

  /** Rejects all who wait. */
  fail(error: EmbedderError): void {
    this.#settle(({ reject }) => reject(error));
  }

  #start(): void {
    this.#watchdog = new Watchdog(this.#timeoutMs, () => {
      this.#stop();
      this.fail(stalled(this.#timeoutMs));
    });
    this.#post({ type: "load_reader", readerUrl: this.#readerUrl });
  }

  #stop(): void {
    this.#watchdog?.stop();
    this.#post({ type: "stop_reader" });
  }

  #settle(settle: (waiting: Waiting) => void): void {
    this.#watchdog?.stop();
    const all = [...this.#waiting];
    this.#waiting.clear();
    all.forEach(settle);
  }
}

/** No report of progress for that long. */
export function stalled(timeoutMs: number): EmbedderError {
  const message = `Loading made no progress for ${timeoutMs / 1000} seconds. Check the connection and try again.`;
  return new EmbedderError("timeout", message);
}
