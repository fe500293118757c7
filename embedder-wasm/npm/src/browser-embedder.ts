import { EmbedderError } from "./errors.js";
import type { EmbedderProgress } from "./progress.js";
import type { TextEmbedding, WorkerReply, WorkerRequest } from "./protocol.js";

interface LoadOptions {
  readonly modelUrl: string;
  readonly wasmUrl: string;
  readonly onProgress?: (progress: EmbedderProgress) => void;
  readonly signal?: AbortSignal;
}

interface PendingRequest {
  readonly resolve: (embedding: TextEmbedding) => void;
  readonly reject: (error: EmbedderError) => void;
}

/** The page's side of the embedding worker. */
export class BrowserEmbedder {
  /** Names model, weights and engine; vectors with different fingerprints must not be compared. */
  readonly fingerprint: string;
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingRequest>();
  #nextId = 0;
  #ended: EmbedderError | undefined;

  private constructor(worker: Worker, fingerprint: string) {
    this.#worker = worker;
    this.fingerprint = fingerprint;
    worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => this.#settle(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#end(crashed(event));
    };
    worker.onmessageerror = () =>
      this.#end(new EmbedderError("embedding_failed", "The AI worker sent an unreadable reply."));
  }

  /** Has a fresh worker load the model; takes the worker over and terminates it when that fails. */
  static load(worker: Worker, { modelUrl, wasmUrl, onProgress, signal }: LoadOptions): Promise<BrowserEmbedder> {
    return new Promise<BrowserEmbedder>((resolve, reject) => {
      const fail = (reason: unknown) => {
        signal?.removeEventListener("abort", onAbort);
        worker.terminate();
        reject(reason);
      };
      const onAbort = () => fail(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });

      worker.onerror = (event) => {
        event.preventDefault();
        fail(
          new EmbedderError(
            "initialization_failed",
            `The AI worker failed: ${event.message || "its script could not be loaded"}`,
          ),
        );
      };
      worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
        if (data.type === "progress") onProgress?.(data.progress);
        if (data.type === "load_failed") fail(new EmbedderError(data.code, data.message));
        if (data.type === "ready") {
          signal?.removeEventListener("abort", onAbort);
          resolve(new BrowserEmbedder(worker, data.fingerprint));
        }
      };
      const request: WorkerRequest = { type: "load", modelUrl, wasmUrl };
      worker.postMessage(request);
    });
  }

  /** Embeds one text; rejects with `embedding_failed` or `disposed`. */
  embed(text: string): Promise<TextEmbedding> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject });
      const request: WorkerRequest = { type: "embed", id, text };
      this.#worker.postMessage(request);
    });
  }

  /** Stops the worker and frees its memory; everything pending rejects with `disposed`. */
  dispose(): void {
    this.#end(new EmbedderError("disposed", "The embedder was disposed."));
  }

  #settle(reply: WorkerReply): void {
    if (reply.type !== "embedded" && reply.type !== "embed_failed") return;
    const request = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.type === "embedded") request?.resolve(reply.embedding);
    else request?.reject(new EmbedderError("embedding_failed", reply.message));
  }

  #end(reason: EmbedderError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#worker.terminate();
    for (const request of this.#pending.values()) request.reject(reason);
    this.#pending.clear();
  }
}

function crashed(event: ErrorEvent): EmbedderError {
  return new EmbedderError("embedding_failed", `The AI worker crashed: ${event.message || "unknown reason"}`);
}
