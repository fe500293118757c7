import { messageOf } from "./loading/errors.js";
import { nextTask } from "./loading/next-task.js";
import type { WasmEmbedder } from "../wasm/embedder.js";
import { EmbedJob } from "./embed-job.js";
import type { Reply } from "./protocol.js";
import type { ReadJob } from "./read-job.js";

type Engine = Pick<WasmEmbedder, "embedBatch" | "countTokens">;

interface CountJob {
  readonly id: number;
  readonly text: string;
}

interface QueuedEmbedJob {
  readonly id: number;
  readonly job: EmbedJob;
}

interface QueuedReadJob {
  readonly id: number;
  readonly reading: ReadJob;
}

/**
 * Runs the calls: counts first, since they take no time, then the embeddings in turn, one slice at a time. Passages are read when
 * no embedding waits, one slice at a time, too.
 */
export class JobQueue {
  readonly #engine: Engine;
  readonly #reply: (reply: Reply, transfer?: Transferable[]) => void;
  #counts: CountJob[] = [];
  #embeddings: QueuedEmbedJob[] = [];
  #reads: QueuedReadJob[] = [];
  #isScheduled = false;

  constructor(engine: Engine, reply: (reply: Reply, transfer?: Transferable[]) => void) {
    this.#engine = engine;
    this.#reply = reply;
  }

  embed(id: number, texts: readonly string[]): void {
    try {
      this.#embeddings.push({ id, job: new EmbedJob(texts) });
    } catch {
      const message = `There is not enough memory for ${texts.length} vectors at once. Embed the texts in several batches.`;
      return this.#reply({ type: "call_failed", id, message });
    }
    this.#schedule();
  }

  count(id: number, text: string): void {
    this.#counts.push({ id, text });
    this.#schedule();
  }

  read(id: number, reading: ReadJob): void {
    this.#reads.push({ id, reading });
    this.#schedule();
  }

  cancel(id: number): void {
    this.#counts = this.#counts.filter((count) => count.id !== id);
    this.#embeddings = this.#embeddings.filter((embedding) => embedding.id !== id);
    this.#reads = this.#reads.filter((read) => read.id !== id);
  }

  clear(): void {
    this.#counts = [];
    this.#embeddings = [];
    this.#reads = [];
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    nextTask(() => {
      this.#isScheduled = false;
      this.#runNext();
      if (this.#counts.length + this.#embeddings.length + this.#reads.length > 0) this.#schedule();
    });
  }

  #runNext(): void {
    const next = this.#counts.shift() ?? this.#embeddings.shift() ?? this.#reads.shift();
    if (!next) return;
    try {
      if ("text" in next) this.#count(next);
      else if ("reading" in next) this.#readSlice(next);
      else this.#embedSlice(next);
    } catch (thrown) {
      const message = messageOf(thrown);
      // After a trap the module's memory cannot be trusted.
      if (thrown instanceof WebAssembly.RuntimeError) this.#reply({ type: "crashed", message });
      else this.#reply({ type: "call_failed", id: next.id, message });
    }
  }

  #count({ id, text }: CountJob): void {
    this.#reply({ type: "counted", id, tokens: this.#engine.countTokens(text) });
  }

  #embedSlice(queued: QueuedEmbedJob): void {
    const { id, job } = queued;
    job.runSlice(this.#engine);
    if (!job.isDone) {
      this.#embeddings.push(queued);
      return;
    }
    const { vectors, tokens, truncated } = job;
    const transfer = [vectors.buffer, tokens.buffer, truncated.buffer];
    this.#reply({ type: "embedded", id, vectors, tokens, truncated }, transfer);
  }

  #readSlice(queued: QueuedReadJob): void {
    const { id, reading } = queued;
    reading.runSlice();
    if (reading.isDone) this.#reply({ type: "passages_read", id, scores: reading.scores });
    else this.#reads.unshift(queued);
  }
}
