import initWasm, { fingerprint, WasmEmbedder } from "../wasm/embedder.js";
import { EmbedderError, messageOf } from "./errors.js";
import { fetchCached, openModelCache } from "./fetch-cached.js";
import { DownloadProgress, type EmbedderProgress } from "./progress.js";
import type { TextEmbedding, WorkerReply, WorkerRequest } from "./protocol.js";

/** Time between two progress reports: often enough for a smooth bar, rarely enough not to flood the page. */
const REPORT_EVERY_MS = 100;

/** The worker's end of the channel; the DOM types know `self` only as a window. */
const page = self as unknown as Pick<Worker, "addEventListener" | "postMessage">;

let embedder: WasmEmbedder | undefined;

page.addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) => {
  if (data.type === "load") void load(data.modelUrl, data.wasmUrl);
  else embed(data.id, data.text);
});

async function load(modelUrl: string, wasmUrl: string): Promise<void> {
  try {
    embedder = await createWasmEmbedder(modelUrl, wasmUrl);
    reply({ type: "ready", fingerprint: fingerprint() });
  } catch (thrown) {
    const code = thrown instanceof EmbedderError ? thrown.code : "initialization_failed";
    reply({ type: "load_failed", code, message: messageOf(thrown) });
  }
}

async function createWasmEmbedder(modelUrl: string, wasmUrl: string): Promise<WasmEmbedder> {
  const base = modelUrl.endsWith("/") ? modelUrl : `${modelUrl}/`;
  const cache = await openModelCache();
  const progress = new DownloadProgress(2, throttled());
  const [model, tokenizer] = await Promise.all([
    fetchCached(`${base}model.safetensors`, cache, progress.ofFile(0)),
    fetchCached(`${base}tokenizer.json`, cache, progress.ofFile(1)),
    initWasm({ module_or_path: wasmUrl }),
  ]);
  reply({ type: "progress", progress: progress.snapshot("initialize") });

  try {
    const created = new WasmEmbedder(model.bytes, tokenizer.bytes);
    reply({ type: "progress", progress: progress.snapshot("ready") });
    // Only files that make a working embedder are kept, and the first question need not wait for the disk.
    void Promise.all([model.keep(), tokenizer.keep()]);
    return created;
  } catch (thrown) {
    await Promise.all([model.forget(), tokenizer.forget()]);
    throw thrown;
  }
}

function embed(id: number, text: string): void {
  try {
    if (!embedder) throw new Error("The model is not loaded.");
    const embedding = embedder.embed(text);
    const { vector, tokenCount, truncated } = embedding;
    embedding.free();
    const result: TextEmbedding = { vector, tokenCount, truncated };
    reply({ type: "embedded", id, embedding: result }, [vector.buffer]);
  } catch (thrown) {
    // After a trap the module's memory cannot be trusted: let the worker fail, which rejects everything pending.
    if (thrown instanceof WebAssembly.RuntimeError) throw thrown;
    reply({ type: "embed_failed", id, message: messageOf(thrown) });
  }
}

function reply(message: WorkerReply, transfer: Transferable[] = []): void {
  page.postMessage(message, transfer);
}

function throttled(): (progress: EmbedderProgress) => void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    const now = performance.now();
    if (now - reportedAt < REPORT_EVERY_MS && progress.loadedBytes !== progress.totalBytes) return;
    reportedAt = now;
    reply({ type: "progress", progress });
  };
}
