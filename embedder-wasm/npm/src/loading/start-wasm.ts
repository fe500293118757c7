import initWasm, { fingerprint, ModelLoader } from "../../wasm/embedder.js";
import { EmbedderError, messageOf } from "../errors.js";
import { identityOf } from "../file-identity.js";
import { assertIsFile, readBody, RetryableError, RetryBudget, send, withoutQuery } from "./http.js";

/** The exports of the running WebAssembly module. */
export interface WasmModule {
  readonly ModelLoader: typeof ModelLoader;
}

let started: Promise<WasmModule> | undefined;
/** The callbacks of all waiting callers. */
const listeners = new Set<() => void>();

/**
 * Fetches and starts the WebAssembly module, once per thread. Cannot be aborted, since other
 * callers may wait for it; a failed start can be retried. `onChunk` is called as it arrives. Throws
 * `network`, or `integrity` if the file is not the module of this version or does not run here.
 */
export function startWasm(url: string, onChunk: () => void): Promise<WasmModule> {
  started ??= start(url).catch((thrown: unknown) => {
    started = undefined;
    throw thrown;
  });
  listeners.add(onChunk);
  return started.finally(() => listeners.delete(onChunk));
}

async function start(url: string): Promise<WasmModule> {
  const retries = new RetryBudget(new AbortController().signal);
  for (let isStarted = false; !isStarted;) {
    try {
      await fetchAndStart(url);
      isStarted = true;
    } catch (failure) {
      await retries.spend(failure, 0);
    }
  }
  if (fingerprint() !== identityOf("model").fingerprint) {
    throw new EmbedderError(
      "integrity",
      `${withoutQuery(url)} belongs to another version of this package. Deploy its files together.`,
    );
  }
  return { ModelLoader };
}

async function fetchAndStart(url: string): Promise<void> {
  const response = await send(url, {});
  assertIsFile(response, url, "wasmUrl");
  void watch(response.clone());
  try {
    await initWasm({ module_or_path: response });
  } catch (cause) {
    if (cause instanceof WebAssembly.CompileError || cause instanceof WebAssembly.LinkError) {
      throw new EmbedderError(
        "integrity",
        `${withoutQuery(url)} is damaged, belongs to another version of this package, or does not run in this browser (${cause.message}).`,
        { cause },
      );
    }
    // The connection dropped during streaming compilation.
    throw new RetryableError(`${withoutQuery(url)} could not be loaded (${messageOf(cause)}).`, { cause });
  }
}

/**
 * Reads a copy: a response that this code makes itself would lose the compiled module that browsers
 * keep with a cached file.
 */
async function watch(copy: Response): Promise<void> {
  const chunks = readBody(copy);
  try {
    while (!(await chunks.next()).done) listeners.forEach((onChunk) => onChunk());
  } catch {
    // `initWasm` reports it.
  }
}
