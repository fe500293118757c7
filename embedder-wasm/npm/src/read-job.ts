import type { WasmReader } from "../wasm/embedder.js";
import type { PassageToRead } from "./embedding.js";

/**
 * Limit of one slice, as much text as the reader reads of one passage. Short passages are read together, which is faster. Between two
 * slices a job can be cancelled and an embedding gets its turn.
 */
const MAX_SLICE_CHARACTERS = 1000;

/** Reads passages, one slice at a time. */
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

  /** Reads the next passages; throws what the reader throws. */
  runSlice(): void {
    const slice = this.#passages.slice(this.scores.length, sliceEnd(this.#passages, this.scores.length));
    if (slice.length === 0) return;
    const headings = slice.map(({ heading }) => heading);
    const statements = slice.flatMap((passage) => passage.statements);
    const counts = Uint32Array.from(slice, (passage) => passage.statements.length);
    const read = this.#reader.readPassages(this.#question, headings, statements, counts);
    let start = 0;
    for (const count of counts) {
      // A statement that did not fit has no number.
      const scores = read.subarray(start, start + count);
      this.scores.push(Array.from(scores, (score) => (Number.isNaN(score) ? null : score)));
      start += count;
    }
  }
}

/** At least one passage, however long. */
function sliceEnd(passages: readonly PassageToRead[], start: number): number {
  let end = start;
  let characters = 0;
  while (end < passages.length) {
    characters += lengthOf(passages[end]);
    if (end > start && characters > MAX_SLICE_CHARACTERS) break;
    end++;
  }
  return end;
}

function lengthOf(passage: PassageToRead | undefined): number {
  return passage?.statements.reduce((sum, statement) => sum + statement.length, passage.heading.length) ?? 0;
}
