import type { WasmEmbedder } from "../wasm/embedder.js";
import { DIMENSIONS, type Vectors } from "./protocol.js";

/**
 * What is embedded without a pause for other messages, at most: about 0.15 s. Between two slices a cancelled job is
 * dropped and another one gets its turn.
 */
const SLICE_TEXTS = 16;
const SLICE_CHARACTERS = 2000;

/** The embedding of many texts, a slice at a time. */
export class EmbedJob implements Vectors {
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly tokens: Uint32Array<ArrayBuffer>;
  readonly truncated: Uint8Array<ArrayBuffer>;
  readonly #texts: readonly string[];
  /** How many texts are embedded. */
  #done = 0;

  /** Takes the memory for all of it; throws `RangeError` if there is not that much. */
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

/** One text at least, however long. */
function sliceEnd(texts: readonly string[], start: number): number {
  let end = start;
  let characters = 0;
  while (end < texts.length && end - start < SLICE_TEXTS) {
    characters += texts[end]?.length ?? 0;
    if (end > start && characters > SLICE_CHARACTERS) break;
    end++;
  }
  return end;
}
