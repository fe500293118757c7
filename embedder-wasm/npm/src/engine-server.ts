import type { WasmEmbedder, WasmReader } from "../wasm/embedder.js";
import { EmbedJob } from "./embed-job.js";
import { EmbedderError, messageOf } from "./errors.js";
import { identityOf } from "./file-identity.js";
import { JobQueue } from "./job-queue.js";
import { loadFile } from "./load-file.js";
import { MODEL, readerFor } from "./loaded-file.js";
import { throttled } from "./loading/throttled.js";
import type { LoadProgress } from "./progress.js";
import type { Reply, Request } from "./protocol.js";
import { ReadJob } from "./read-job.js";

type LoadRequest = Extract<Request, { type: "load" }>;

/** The engine's side of a port: handles the requests of one caller. */
export class EngineServer {
  readonly #reply: (reply: Reply) => void;
  readonly #stopped = new AbortController();
  #engine: WasmEmbedder | undefined;
  #reader: WasmReader | undefined;
  /** Of the `load` request. The reader is loaded with them, too. */
  #settings: Pick<LoadRequest, "wasmUrl" | "cache"> | undefined;
  /** Stops the load of the reader. */
  #loading: AbortController | undefined;
  readonly #jobs: JobQueue;

  constructor(reply: (reply: Reply) => void) {
    this.#reply = (message) => {
      // A module that has trapped cannot free anything.
      if (message.type === "crashed") this.#engine = this.#reader = undefined;
      if (!this.#stopped.signal.aborted) reply(message);
    };
    this.#jobs = new JobQueue(this.#reply);
  }

  handle(request: Request): void {
    if (request.type === "load") void this.#load(request);
    if (request.type === "load_reader") void this.#loadReader(request.readerUrl);
    if (request.type === "stop_reader") this.#loading?.abort();
    if (request.type === "cancel") this.#jobs.cancel(request.id);
    try {
      this.#addJob(request);
    } catch (thrown) {
      if ("id" in request) this.#reply({ type: "call_failed", id: request.id, message: messageOf(thrown) });
    }
  }

  #addJob(request: Request): void {
    const engine = this.#engine;
    if (request.type === "count" && engine) {
      const { id, text } = request;
      this.#jobs.add("count", { id, runSlice: () => ({ type: "counted", id, tokens: engine.countTokens(text) }) });
    }
    if (request.type === "embed" && engine) {
      this.#jobs.add("embed", new EmbedJob(request.id, engine, request.texts));
    }
    if (request.type === "read" && this.#reader) {
      this.#jobs.add("read", new ReadJob(request.id, this.#reader, request.question, request.passages));
    }
  }

  /** Stops all work, and frees the memory. */
  stop(): void {
    this.#stopped.abort();
    this.#loading?.abort();
    this.#jobs.clear();
    this.#reader?.free();
    this.#engine?.free();
    this.#engine = this.#reader = undefined;
  }

  async #load({ modelUrl, wasmUrl, cache }: LoadRequest): Promise<void> {
    this.#settings = { wasmUrl, cache };
    const { signal } = this.#stopped;
    const onProgress = throttled((progress: LoadProgress) => this.#reply({ type: "progress", progress }));
    try {
      const engine = await loadFile(MODEL, { url: modelUrl, wasmUrl, cache, signal, onProgress });
      if (signal.aborted) return engine.free();
      this.#engine = engine;
      this.#reply({ type: "ready", fingerprint: identityOf("model").fingerprint });
    } catch (thrown) {
      const { code, message } = thrown instanceof EmbedderError ? thrown : outOfMemory(thrown);
      this.#reply({ type: "load_failed", code, message });
    }
  }

  async #loadReader(url: string): Promise<void> {
    if (this.#reader) return this.#reply({ type: "reader_ready" });
    if (!this.#engine || !this.#settings) return;
    const { signal } = (this.#loading = new AbortController());
    const reply = (message: Reply) => {
      // No call waits for a load that was stopped.
      if (!signal.aborted || message.type === "crashed") this.#reply(message);
    };
    const onProgress = throttled((progress: LoadProgress) => reply({ type: "reader_progress", progress }));
    try {
      const reader = await loadFile(readerFor(this.#engine), { ...this.#settings, url, signal, onProgress });
      if (signal.aborted) return reader.free();
      this.#reader = reader;
      reply({ type: "reader_ready" });
    } catch (thrown) {
      const { code, message } = thrown instanceof EmbedderError ? thrown : outOfMemory(thrown);
      // After a trap the module's memory cannot be trusted.
      if (thrown instanceof WebAssembly.RuntimeError) reply({ type: "crashed", message });
      else reply({ type: "reader_failed", code, message });
    }
  }
}

function outOfMemory(thrown: unknown): EmbedderError {
  return new EmbedderError(
    "crashed",
    `Loading failed (${messageOf(thrown)}), most likely out of memory. Close other tabs and try again.`,
  );
}
