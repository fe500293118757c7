import initWasm, { fingerprint, ModelLoader } from "../wasm/embedder.js";
import { EmbedderError, messageOf } from "./errors.js";
import { modelIdentity } from "./model-identity.js";
import { assertHoldsFile, send, shown } from "./response.js";
import { RetryBudget } from "./retry-budget.js";
import { TemporaryFailure } from "./temporary-failure.js";

/** What the running WebAssembly module offers. */
export interface WasmModule {
  readonly ModelLoader: typeof ModelLoader;
}

let started: Promise<WasmModule> | undefined;

/**
 * Fetches and starts the WebAssembly module, once per thread: others may wait for it, so it cannot be aborted. A start
 * that failed can be tried again.
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
      `${shown(url)} belongs to another version of this package. Deploy its files together.`,
    );
  }
  return { ModelLoader };
}

async function fetchAndStart(url: string): Promise<void> {
  const response = await send(url, {});
  assertHoldsFile(response, url, "wasmUrl");
  try {
    await initWasm({ module_or_path: response });
  } catch (cause) {
    if (cause instanceof WebAssembly.CompileError || cause instanceof WebAssembly.LinkError) {
      throw new EmbedderError(
        "integrity",
        `${shown(url)} is damaged, of another version of this package, or not for this browser (${cause.message}).`,
        { cause },
      );
    }
    // The connection broke while the module was compiled from it.
    throw new TemporaryFailure(`${shown(url)} could not be loaded (${messageOf(cause)}).`, { cause });
  }
}
