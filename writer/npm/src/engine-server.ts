import { throttled } from "@evidence-chat/model-loading/throttled";
import type { Model } from "../wasm/writer.js";
import { asWriterError } from "./errors.js";
import { loadModel } from "./load-model.js";
import type { LoadProgress } from "./options.js";
import type { Reply, Request } from "./protocol.js";
import { WriteQueue } from "./write-queue.js";

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
      const report = throttled((progress: LoadProgress) => this.#reply({ type: "progress", progress }));
      const model: Model = await loadModel(request, report, () => this.#reply({ type: "starting" }));
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
}
