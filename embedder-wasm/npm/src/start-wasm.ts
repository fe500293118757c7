import initWasm, { fingerprint, ModelLoader } from "../wasm/embedder.js";
import { EmbedderError, messageOf, RetryableError } from "./errors.js";
import { assertIsFile, RetryBudget, send, withoutQuery } from "./http.js";
import { modelIdentity } from "./model-identity.js";

/** The exports of the running WebAssembly module. */
export interface WasmModule {
  readonly ModelLoader: typeof ModelLoader;
}

let started: Promise<WasmModule> | undefined;

/**
 * Fetches and starts the WebAssembly module, once per thread. Cannot be aborted, since other callers may wait for it; a
 * failed start can be retried.
 */
export function startWasm(url: string): Promise<WasmModule> {
  started ??= start(url).catch((thrown: unknown) => {
    started = undefined;
    throw thrown;
  });
  return started;
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
  if (fingerprint() !== modelIdentity().fingerprint) {
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
