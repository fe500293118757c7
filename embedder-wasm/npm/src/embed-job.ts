import type { WasmEmbedder } from "../wasm/embedder.js";
import { type Job, sliceEnd } from "./job.js";
import { DIMENSIONS, type Reply, type Vectors } from "./protocol.js";

/** Limits of one slice, about 0.15 s, during which no other message is handled. */
const MAX_SLICE_TEXTS = 16;
const MAX_SLICE_CHARACTERS = 2000;

/** Embeds many texts. */
export class EmbedJob implements Job {
  readonly id: number;
  readonly #engine: Pick<WasmEmbedder, "embedBatch">;
  readonly #texts: readonly string[];
  readonly #lengths: readonly number[];
  readonly #result: Vectors;
  /** Number of embedded texts. */
  #done = 0;

  /** Allocates all vectors; throws if there is not enough memory. */
  constructor(id: number, engine: Pick<WasmEmbedder, "embedBatch">, texts: readonly string[]) {
    this.id = id;
    this.#engine = engine;
    this.#texts = texts;
    this.#lengths = texts.map((text) => text.length);
    try {
      this.#result = {
        vectors: new Float32Array(texts.length * DIMENSIONS),
        tokens: new Uint32Array(texts.length),
        truncated: new Uint8Array(texts.length),
      };
    } catch {
      throw new RangeError(
        `There is not enough memory for ${texts.length} vectors at once. Embed the texts in several batches.`,
      );
    }
  }

  runSlice(): Reply | undefined {
    const end = sliceEnd(this.#lengths, this.#done, MAX_SLICE_CHARACTERS, MAX_SLICE_TEXTS);
    if (end > this.#done) {
      const slice = this.#engine.embedBatch(this.#texts.slice(this.#done, end));
      this.#result.vectors.set(slice.vectors, this.#done * DIMENSIONS);
      this.#result.tokens.set(slice.tokens, this.#done);
      this.#result.truncated.set(slice.truncated, this.#done);
      slice.free();
      this.#done = end;
    }
    return end === this.#texts.length ? { type: "embedded", id: this.id, ...this.#result } : undefined;
  }
}
