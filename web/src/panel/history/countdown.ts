/** A timer that can be held up; it runs from the beginning. */
export class Countdown {
  readonly #onEnd: () => void;
  /** Milliseconds. */
  #left: number;
  #startedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(milliseconds: number, onEnd: () => void) {
    this.#left = milliseconds;
    this.#onEnd = onEnd;
    this.resume();
  }

  /** Stops the time; what is left stays. */
  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#startedAt;
  }

  /** Lets the time go on. */
  resume(): void {
    if (this.#timer !== undefined || this.#isOver) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#end(), Math.max(0, this.#left));
  }

  /** Stops the time for good. */
  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #end(): void {
    this.#isOver = true;
    this.#onEnd();
  }
}
