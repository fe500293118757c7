import { abortable, type Settle } from "./abortable.js";
import { Watchdog } from "./loading/watchdog.js";
import type { ReaderOptions } from "./embedding.js";
import { EmbedderError } from "./errors.js";
import type { Reply, Request } from "./protocol.js";

type Waiting = Settle<void> & Pick<ReaderOptions, "onProgress">;

/**
 * The caller's side of loading the reader: all calls share one load, which is stopped when no call
 * waits any more.
 */
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

  /** Starts the load, or waits for the running load. */
  wait({ signal, onProgress }: ReaderOptions): Promise<void> {
    return abortable<void>(signal, "Loading the reader", ({ resolve, reject }) => {
      const waiting = { resolve, reject, onProgress };
      if (this.#isReady) {
        resolve();
      } else {
        this.#waiting.add(waiting);
        if (this.#waiting.size === 1) this.#start();
      }
      return () => {
        if (this.#waiting.delete(waiting) && this.#waiting.size === 0) this.#stop();
      };
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

  /** Rejects all waiting calls. */
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

/** The error after `timeoutMs` without a report of progress. */
export function stalled(timeoutMs: number): EmbedderError {
  const message = `Loading made no progress for ${timeoutMs / 1000} seconds. Check the connection and try again.`;
  return new EmbedderError("timeout", message);
}
