/** Calls `onSilence` once `reset` has not been called for `timeoutMs`. */
export class Watchdog {
  readonly #timeoutMs: number;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number, onSilence: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onSilence = onSilence;
    this.reset();
  }

  reset(): void {
    clearTimeout(this.#timer);
    // setTimeout overflows at 2³¹ ms and would fire at once.
    if (this.#timeoutMs < 2 ** 31) this.#timer = setTimeout(this.#onSilence, this.#timeoutMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
