import { takeDownloadLock } from "@evidence-chat/model-loading/download-lock";
import { messageOf } from "@evidence-chat/model-loading/errors";
import { readBody, withoutQuery } from "@evidence-chat/model-loading/http";
import { ModelDownload } from "@evidence-chat/model-loading/model-download";
import { startWasmFile } from "@evidence-chat/model-loading/start-wasm";
import { assertWasmAllowed } from "@evidence-chat/model-loading/support";
import initWasm, { Model } from "../wasm/writer.js";
import { WriterError } from "./errors.js";
import { ModelCache } from "./model-cache.js";
import { sizeOf } from "./model-size.js";
import { ModelSink } from "./model-sink.js";
import type { LoadProgress } from "./options.js";
import type { ModelFile } from "./protocol.js";

/** Storing may hang, for example on a permission prompt; other tabs wait for it no longer than this. */
const MAX_STORE_MS = 10_000;
/** Loading ends with its worker. */
const NEVER = new AbortController().signal;

type Report = (progress: LoadProgress) => void;

/**
 * Starts the WebAssembly module and streams the model into it, from the cache or the network. `onStarting` is called as
 * the module arrives. Throws `WriterError`, `LoadingError`, or what WebAssembly throws.
 */
export async function loadModel(file: ModelFile, report: Report, onStarting: () => void): Promise<Model> {
  assertWasmAllowed();
  let onChunk = onStarting;
  const init = (response: Response) => initWasm({ module_or_path: response });
  const wasm = startWasmFile(file.wasmUrl, "wasmUrl", init, () => onChunk());
  wasm.catch(() => undefined);
  const cache = file.cache ? await ModelCache.open() : null;
  if (!cache) return (await download(file, wasm, null, report)).model;
  const totalBytes = file.byteLength ?? 0;
  const onWait = (loadedBytes: number) => report({ loadedBytes, totalBytes, isCached: false });
  const lock = await takeDownloadLock(`evidence-chat-writer ${file.modelUrl}`, NEVER, onWait);
  onChunk = () => {
    lock.report(0);
    onStarting();
  };
  const reportToTabs = (progress: LoadProgress) => {
    lock.report(progress.loadedBytes);
    report(progress);
  };
  let storing: Promise<void> | undefined;
  try {
    const cached = await readCached(file, wasm, cache, reportToTabs);
    if (cached) {
      // Left by a tab that was closed just before it removed them.
      storing = cache.parts(file.modelUrl).clear();
      return cached;
    }
    const downloaded = await download(file, wasm, cache, reportToTabs);
    storing = downloaded.storing;
    return downloaded.model;
  } finally {
    // The writer is ready before the model is stored; the next tab should find it in the cache.
    const limit = setTimeout(() => lock.release(), MAX_STORE_MS);
    void Promise.resolve(storing).then(() => {
      clearTimeout(limit);
      lock.release();
    });
  }
}

/** `null` if the model is not in the cache, or is damaged there or another one. */
async function readCached(
  file: ModelFile,
  wasm: Promise<void>,
  cache: ModelCache,
  report: Report,
): Promise<Model | null> {
  const stored = await cache.read(file.modelUrl);
  if (!stored) return null;
  const totalBytes = Number(stored.headers.get("content-length") ?? 0);
  const isExpected = totalBytes > 0 && (file.byteLength ?? totalBytes) === totalBytes;
  const sink = new ModelSink({ newLoader: () => Model.loader(totalBytes), newCopy: null, sha256: file.sha256 });
  await wasm;
  try {
    if (!isExpected) throw new WriterError("integrity", "another size");
    for await (const chunk of readBody(stored)) {
      await sink.append(chunk);
      report({ loadedBytes: sink.received, totalBytes, isCached: true });
    }
    return sink.finish();
  } catch (thrown) {
    if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) throw thrown;
    sink.reset();
    await cache.remove(file.modelUrl);
    return null;
  }
}

interface Downloaded {
  readonly model: Model;
  /** Settles when the model is in the cache, or cannot be stored. Never rejects. */
  readonly storing: Promise<void>;
}

/** Continues a download that an earlier visit or another tab has begun. */
async function download(
  file: ModelFile,
  wasm: Promise<void>,
  cache: ModelCache | null,
  report: Report,
): Promise<Downloaded> {
  const { modelUrl, sha256 } = file;
  const byteLength = file.byteLength ?? (await sizeOf(modelUrl));
  const parts = cache?.parts(modelUrl, { needsTag: sha256 === undefined }) ?? null;
  const sink = new ModelSink({
    newLoader: () => Model.loader(byteLength),
    newCopy: cache && (() => cache.write(modelUrl, byteLength)),
    sha256,
  });
  const assemble = async (transfer: ModelDownload) => {
    try {
      await wasm;
      await transfer.into(sink, (loadedBytes) => report({ loadedBytes, totalBytes: byteLength, isCached: false }));
      return sink.finish();
    } catch (thrown) {
      // A trapped module frees nothing.
      if (!(thrown instanceof WebAssembly.RuntimeError)) sink.reset();
      throw isIntegrity(thrown) ? wrongModel(modelUrl, thrown) : thrown;
    } finally {
      transfer.close();
    }
  };
  // With our own cache, a second copy in the HTTP cache would only waste space.
  const options = { byteLength, signal: NEVER, cache: cache ? "no-store" : "default" } as const;
  const first = new ModelDownload(modelUrl, { ...options, parts });
  const model = await assemble(first).catch(async (thrown: unknown) => {
    if (!isIntegrity(thrown) && !isInvalid(thrown)) throw thrown;
    await parts?.clear();
    if (!first.hasResumed) throw thrown;
    // Parts of two versions; a whole response is of one.
    return assemble(new ModelDownload(modelUrl, { ...options, parts: null, mayResume: false }));
  });
  const storing = sink.keep().then((isStored) => (isStored ? parts?.clear() : undefined));
  return { model, storing };
}

/** `LoadingError` has the same code. */
function isIntegrity(thrown: unknown): thrown is Error {
  return thrown instanceof Error && "code" in thrown && thrown.code === "integrity";
}

/** The engine's error. */
function isInvalid(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "invalid_model";
}

function wrongModel(url: string, cause: Error): WriterError {
  const message = `${withoutQuery(url)} is not the expected model (${messageOf(cause)}). Check modelUrl and model.`;
  return new WriterError("integrity", message, { cause });
}
