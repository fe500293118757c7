import { LoadingError, messageOf, RetryableError } from "./errors.js";
import { assertIsFile, readBody, RetryBudget, send, withoutQuery } from "./http.js";

type Init = (response: Response) => Promise<unknown>;

/**
 * Fetches a WebAssembly module and lets `init`, which wasm-bindgen generates, start it. `option` is the option that set
 * the URL. `onChunk` is called as the module arrives. Throws `network`, or `integrity` if the file is not a module that
 * runs here.
 */
export async function startWasmFile(url: string, option: string, init: Init, onChunk?: () => void): Promise<void> {
  const retries = new RetryBudget(new AbortController().signal);
  for (let isStarted = false; !isStarted;) {
    try {
      await fetchAndStart(url, option, init, onChunk);
      isStarted = true;
    } catch (failure) {
      await retries.spend(failure, 0);
    }
  }
}

async function fetchAndStart(url: string, option: string, init: Init, onChunk?: () => void): Promise<void> {
  const response = await send(url, {});
  assertIsFile(response, url, option);
  if (onChunk) void watch(response.clone(), onChunk);
  try {
    await init(response);
  } catch (cause) {
    if (cause instanceof WebAssembly.CompileError || cause instanceof WebAssembly.LinkError) {
      throw new LoadingError(
        "integrity",
        `${withoutQuery(url)} is damaged, belongs to another version of this package, or does not run in this browser (${cause.message}).`,
        { cause },
      );
    }
    // The connection dropped during streaming compilation.
    throw new RetryableError(`${withoutQuery(url)} could not be loaded (${messageOf(cause)}).`, { cause });
  }
}

/** Reads a copy: a response that this code makes itself would lose the compiled module that browsers keep with a cached file. */
async function watch(copy: Response, onChunk: () => void): Promise<void> {
  const chunks = readBody(copy);
  try {
    while (!(await chunks.next()).done) onChunk();
  } catch {
    // `init` reports it.
  }
}
