import { messageOf } from "./loading/errors.js";
import { throttled } from "./loading/throttled.js";
import type { WasmEmbedder } from "../wasm/embedder.js";
import { asEmbedderError, EmbedderError } from "./errors.js";
import { JobQueue } from "./job-queue.js";
import { loadModel } from "./load-model.js";
import type { LoadProgress } from "./progress.js";
import type { Reply, Request } from "./protocol.js";

type LoadRequest = Extract<Request, { type: "load" }>;

/** The engine's side of a port: handles the requests of one caller. */
export class EngineServer {
  readonly #reply: (reply: Reply, transfer?: Transferable[]) => void;
  readonly #stopped = new AbortController();
  #engine: WasmEmbedder | undefined;
  #jobs: JobQueue | undefined;

  constructor(reply: (reply: Reply, transfer?: Transferable[]) => void) {
    this.#reply = (message, transfer) => {
      // A module that has trapped cannot free anything.
      if (message.type === "crashed") this.#engine = undefined;
      if (!this.#stopped.signal.aborted) reply(message, transfer);
    };
  }

  handle(request: Request): void {
    if (request.type === "load") void this.#load(request);
    if (request.type === "embed") this.#jobs?.embed(request.id, request.texts);
    if (request.type === "count") this.#jobs?.count(request.id, request.text);
    if (request.type === "cancel") this.#jobs?.cancel(request.id);
  }

  /** Stops loading and embedding, and frees the memory. */
  stop(): void {
    this.#stopped.abort();
    this.#jobs?.clear();
    this.#engine?.free();
    this.#engine = undefined;
  }

  async #load({ modelUrl, wasmUrl, cache }: LoadRequest): Promise<void> {
    const { signal } = this.#stopped;
    const onProgress = throttled((progress: LoadProgress) => this.#reply({ type: "progress", progress }));
    try {
      const { engine, fingerprint } = await loadModel({ modelUrl, wasmUrl, cache, signal, onProgress });
      if (signal.aborted) return engine.free();
      this.#engine = engine;
      this.#jobs = new JobQueue(engine, this.#reply);
      this.#reply({ type: "ready", fingerprint });
    } catch (thrown) {
      const { code, message } = asEmbedderError(thrown) ?? outOfMemory(thrown);
      this.#reply({ type: "load_failed", code, message });
    }
  }
}

function outOfMemory(thrown: unknown): EmbedderError {
  return new EmbedderError(
    "crashed",
    `The embedder failed to load (${messageOf(thrown)}), most likely out of memory. Close other tabs and try again.`,
  );
}
