import type { Model } from "../wasm/writer.js";
import { asWriterError } from "./errors.js";
import { loadModel } from "./load-model.js";
import type { LoadProgress } from "./options.js";
import type { Reply, Request } from "./protocol.js";
import { WriteQueue } from "./write-queue.js";

/** Between two reports of progress: short enough for a smooth bar, long enough not to flood the page. */
const MIN_REPORT_INTERVAL_MS = 50;

/** The engine's side of a port: handles the requests of one caller. It ends with its worker. */
export class EngineServer {
  readonly #reply: (reply: Reply) => void;
  #queue: WriteQueue | undefined;

  constructor(reply: (reply: Reply) => void) {
    this.#reply = reply;
  }

  handle(request: Request): void {
    if (request.type === "load") void this.#load(request);
    if (request.type === "write" || request.type === "count") this.#queue?.add(request);
    if (request.type === "cancel") this.#queue?.cancel(request.id);
  }

  async #load(request: Extract<Request, { type: "load" }>): Promise<void> {
    try {
      const model: Model = await loadModel(request, this.#throttled());
      this.#queue = new WriteQueue(model, this.#reply);
      this.#reply({ type: "ready" });
    } catch (thrown) {
      // A trap, or memory that cannot grow.
      const isMemory = thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError;
      const { code, message } = asWriterError(thrown, isMemory ? "out_of_memory" : "crashed");
      const hint = isMemory ? "The model does not fit into this device's memory: " : "";
      this.#reply({ type: "load_failed", code, message: `${hint}${message}` });
    }
  }

  /** Reports the first and the last progress, and the others at a limited rate. */
  #throttled(): (progress: LoadProgress) => void {
    let reportedAt = Number.NEGATIVE_INFINITY;
    return (progress) => {
      const now = performance.now();
      const isLast = progress.loadedBytes === progress.totalBytes;
      if (now - reportedAt < MIN_REPORT_INTERVAL_MS && !isLast) return;
      reportedAt = now;
      this.#reply({ type: "progress", progress });
    };
  }
}
