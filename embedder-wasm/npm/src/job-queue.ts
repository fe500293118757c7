import type { WasmEmbedder } from "../wasm/embedder.js";
import { messageOf } from "./errors.js";
import { DIMENSIONS, type Reply, type Vectors } from "./protocol.js";
import { nextTask } from "./next-task.js";

/**
 * What is embedded without a pause for other messages, at most: about 0.15 s. Between two slices a cancelled job is
 * dropped and another one gets its turn.
 */
const SLICE_TEXTS = 16;
const SLICE_CHARACTERS = 2000;

interface Job extends Vectors {
  readonly id: number;
  readonly texts: readonly string[];
  /** How many texts are embedded. */
  done: number;
}

/** Embeds what is asked for, the jobs in turn, a slice at a time. */
export class JobQueue {
  readonly #engine: Pick<WasmEmbedder, "embedBatch">;
  readonly #reply: (reply: Reply, transfer?: Transferable[]) => void;
  #jobs: Job[] = [];
  #isScheduled = false;

  constructor(engine: Pick<WasmEmbedder, "embedBatch">, reply: (reply: Reply, transfer?: Transferable[]) => void) {
    this.#engine = engine;
    this.#reply = reply;
  }

  add(id: number, texts: readonly string[]): void {
    try {
      this.#jobs.push({
        id,
        texts,
        done: 0,
        vectors: new Float32Array(texts.length * DIMENSIONS),
        tokens: new Uint32Array(texts.length),
        truncated: new Uint8Array(texts.length),
      });
    } catch {
      const message = `There is no memory for ${texts.length} vectors at once. Embed the texts in several batches.`;
      return this.#reply({ type: "embed_failed", id, message });
    }
    this.#schedule();
  }

  cancel(id: number): void {
    this.#jobs = this.#jobs.filter((job) => job.id !== id);
  }

  clear(): void {
    this.#jobs = [];
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    nextTask(() => {
      this.#isScheduled = false;
      this.#runSlice();
      if (this.#jobs.length > 0) this.#schedule();
    });
  }

  #runSlice(): void {
    const job = this.#jobs.shift();
    if (!job) return;
    try {
      embedSlice(this.#engine, job);
    } catch (thrown) {
      // After a trap the module's memory cannot be trusted.
      if (thrown instanceof WebAssembly.RuntimeError) this.#reply({ type: "crashed", message: messageOf(thrown) });
      else this.#reply({ type: "embed_failed", id: job.id, message: messageOf(thrown) });
      return;
    }
    if (job.done < job.texts.length) {
      this.#jobs.push(job);
      return;
    }
    const { id, vectors, tokens, truncated } = job;
    const transfer = [vectors.buffer, tokens.buffer, truncated.buffer];
    this.#reply({ type: "embedded", id, vectors, tokens, truncated }, transfer);
  }
}

function embedSlice(engine: Pick<WasmEmbedder, "embedBatch">, job: Job): void {
  const { texts, done } = job;
  const slice = texts.slice(done, sliceEnd(texts, done));
  if (slice.length === 0) return;
  const result = engine.embedBatch(slice);
  job.vectors.set(result.vectors, done * DIMENSIONS);
  job.tokens.set(result.tokens, done);
  job.truncated.set(result.truncated, done);
  result.free();
  job.done += slice.length;
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
