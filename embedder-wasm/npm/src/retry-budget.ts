import { TemporaryFailure } from "./temporary-failure.js";

/** How often the same point may fail. */
const RETRIES = 5;
/** Waits of 0.25, 0.5, 1, 2 and 4 seconds: a phone that changes networks is back by then. */
const FIRST_DELAY_MS = 250;
/** A download that has come this much further than ever before may fail as often again. */
const WORTHWHILE_BYTES = 1024 * 1024;

/** Decides whether to try again, and waits before it: bounded, however a server behaves. */
export class RetryBudget {
  readonly #signal: AbortSignal;
  #failures = 0;
  #furthest = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Waits if `failure` is temporary and there is another attempt; else throws it. `received` bytes have arrived. */
  async spend(failure: unknown, received: number): Promise<void> {
    if (received >= this.#furthest + WORTHWHILE_BYTES) {
      this.#furthest = received;
      this.#failures = 0;
    }
    const isFinal = !(failure instanceof TemporaryFailure) || this.#signal.aborted || this.#failures === RETRIES;
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
