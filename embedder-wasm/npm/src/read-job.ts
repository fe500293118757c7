import type { WasmReader } from "../wasm/embedder.js";
import type { PassageToRead } from "./embedding.js";

/** Reads passages, one at a time. */
export class ReadJob {
  /** For each statement of each passage that was read. */
  readonly scores: (number | null)[][] = [];
  readonly #reader: Pick<WasmReader, "readPassages">;
  readonly #question: string;
  readonly #passages: readonly PassageToRead[];

  constructor(reader: Pick<WasmReader, "readPassages">, question: string, passages: readonly PassageToRead[]) {
    this.#reader = reader;
    this.#question = question;
    this.#passages = passages;
  }

  get isDone(): boolean {
    return this.scores.length === this.#passages.length;
  }

  /** Reads the next passage; throws what the reader throws. */
  readNext(): void {
    const passage = this.#passages[this.scores.length];
    if (!passage) return;
    const { heading, statements } = passage;
    const counts = Uint32Array.of(statements.length);
    const scores = this.#reader.readPassages(this.#question, [heading], [...statements], counts);
    // A statement that did not fit has no number.
    this.scores.push(Array.from(scores, (score) => (Number.isNaN(score) ? null : score)));
  }
}
