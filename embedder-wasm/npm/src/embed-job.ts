import type { WasmEmbedder } from "../wasm/embedder.js";
import { DIMENSIONS, type Vectors } from "./protocol.js";

/**
 * Limits of one slice, about 0.15 s, during which no other message is handled. Between two slices a job can be cancelled
 * and another one gets its turn.
 */
const MAX_SLICE_TEXTS = 16;
const MAX_SLICE_CHARACTERS = 2000;

/** Embeds many texts, one slice at a time. */
export class EmbedJob implements Vectors {
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly tokens: Uint32Array<ArrayBuffer>;
  readonly truncated: Uint8Array<ArrayBuffer>;
  readonly #texts: readonly string[];
  /** Number of embedded texts. */
  #done = 0;

  /** Allocates all vectors; throws `RangeError` if there is not enough memory. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
    this.vectors = new Float32Array(texts.length * DIMENSIONS);
    this.tokens = new Uint32Array(texts.length);
    this.truncated = new Uint8Array(texts.length);
  }

  get isDone(): boolean {
    return this.#done === this.#texts.length;
  }

  /** Embeds the next slice; throws what the engine throws. */
  runSlice(engine: Pick<WasmEmbedder, "embedBatch">): void {
    const slice = this.#texts.slice(this.#done, sliceEnd(this.#texts, this.#done));
    if (slice.length === 0) return;
    const result = engine.embedBatch(slice);
    this.vectors.set(result.vectors, this.#done * DIMENSIONS);
    this.tokens.set(result.tokens, this.#done);
    this.truncated.set(result.truncated, this.#done);
    result.free();
    this.#done += slice.length;
  }
}

/** At least one text, however long. */
function sliceEnd(texts: readonly string[], start: number): number {
  let end = start;
  let characters = 0;
  while (end < texts.length && end - start < MAX_SLICE_TEXTS) {
    characters += texts[end]?.length ?? 0;
    if (end > start && characters > MAX_SLICE_CHARACTERS) break;
    end++;
  }
  return end;
}
