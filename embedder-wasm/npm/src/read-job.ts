import type { WasmReader } from "../wasm/embedder.js";
import type { PassageToRead } from "./embedding.js";
import { type Job, sliceEnd } from "./job.js";
import type { Reply } from "./protocol.js";

/**
 * Limit of one slice, as much text as the reader reads of one passage. Short passages are read
 * together, which is faster.
 */
const MAX_SLICE_CHARACTERS = 1000;

/** Reads passages. */
export class ReadJob implements Job {
  readonly id: number;
  readonly #reader: Pick<WasmReader, "readPassages">;
  readonly #question: string;
  readonly #passages: readonly PassageToRead[];
  readonly #lengths: readonly number[];
  /** One array for each passage that was read, with a score for each statement. */
  readonly #scores: (number | null)[][] = [];

  constructor(
    id: number,
    reader: Pick<WasmReader, "readPassages">,
    question: string,
    passages: readonly PassageToRead[],
  ) {
    this.id = id;
    this.#reader = reader;
    this.#question = question;
    this.#passages = passages;
    this.#lengths = passages.map(({ heading, statements }) => heading.length + statements.join("").length);
  }

  runSlice(): Reply | undefined {
    const done = this.#scores.length;
    const slice = this.#passages.slice(done, sliceEnd(this.#lengths, done, MAX_SLICE_CHARACTERS));
    if (slice.length > 0) this.#read(slice);
    const isDone = this.#scores.length === this.#passages.length;
    return isDone ? { type: "passages_read", id: this.id, scores: this.#scores } : undefined;
  }

  #read(passages: readonly PassageToRead[]): void {
    const headings = passages.map(({ heading }) => heading);
    const statements = passages.flatMap((passage) => passage.statements);
    const counts = Uint32Array.from(passages, (passage) => passage.statements.length);
    const read = this.#reader.readPassages(this.#question, headings, statements, counts);
    let start = 0;
    for (const count of counts) {
      // A statement that did not fit has no number.
      const scores = read.subarray(start, start + count);
      this.#scores.push(Array.from(scores, (score) => (Number.isNaN(score) ? null : score)));
      start += count;
    }
  }
}
