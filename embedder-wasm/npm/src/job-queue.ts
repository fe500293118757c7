import { messageOf } from "./errors.js";
import type { Job } from "./job.js";
import { nextTask } from "./loading/next-task.js";
import type { Reply } from "./protocol.js";

/** Kinds of jobs, the most urgent first: counting tokens takes no time. */
const KINDS = ["count", "embed", "read"] as const;

/**
 * Runs jobs, one slice at a time, those of the most urgent kind first. Jobs of one kind take turns.
 * Other messages are handled between two slices, so a job can be cancelled.
 */
export class JobQueue {
  readonly #reply: (reply: Reply) => void;
  readonly #jobs: Record<(typeof KINDS)[number], Job[]> = { count: [], embed: [], read: [] };
  #isScheduled = false;

  constructor(reply: (reply: Reply) => void) {
    this.#reply = reply;
  }

  add(kind: (typeof KINDS)[number], job: Job): void {
    this.#jobs[kind].push(job);
    this.#schedule();
  }

  cancel(id: number): void {
    for (const kind of KINDS) this.#jobs[kind] = this.#jobs[kind].filter((job) => job.id !== id);
  }

  clear(): void {
    for (const kind of KINDS) this.#jobs[kind] = [];
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    nextTask(() => {
      this.#isScheduled = false;
      const kind = KINDS.find((kind) => this.#jobs[kind].length > 0);
      const job = kind && this.#jobs[kind].shift();
      if (!job) return;
      const reply = runSlice(job);
      if (reply) this.#reply(reply);
      else this.#jobs[kind].push(job);
      this.#schedule();
    });
  }
}

function runSlice(job: Job): Reply | undefined {
  try {
    return job.runSlice();
  } catch (thrown) {
    const message = messageOf(thrown);
    // After a trap the module's memory cannot be trusted.
    if (thrown instanceof WebAssembly.RuntimeError) return { type: "crashed", message };
    return { type: "call_failed", id: job.id, message };
  }
}
