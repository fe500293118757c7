import type { StageDetail } from "../../element/events.js";

/** Reports each stage of a question with its time. */
export class Stopwatch {
  readonly #start = performance.now();
  readonly #report: (detail: StageDetail) => void;
  #serverTiming: Readonly<Record<string, number>> | undefined;

  constructor(report: (detail: StageDetail) => void) {
    this.#report = report;
  }

  /** Stores the server's timings. */
  readonly onResponse = ({ serverTiming }: { readonly serverTiming?: Readonly<Record<string, number>> }): void => {
    this.#serverTiming = serverTiming;
  };

  mark(stage: StageDetail["stage"], details: Pick<StageDetail, "tokens" | "requestBytes"> = {}): void {
    const isAnswered = stage === "first_word" || stage === "refused";
    this.#report({
      stage,
      milliseconds: performance.now() - this.#start,
      ...details,
      ...(isAnswered && this.#serverTiming && { serverTiming: this.#serverTiming }),
    });
  }
}
