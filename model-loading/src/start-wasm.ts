import { LoadingError, messageOf, RetryableError } from "./errors.js";
import { assertIsFile, RetryBudget, send, withoutQuery } from "./http.js";

/**
 * Fetches a WebAssembly module and lets `init`, which wasm-bindgen generates, start it. `option` is the option that set
 * the URL. Throws `network`, or `integrity` if the file is not a module that runs here.
 */
export async function startWasmFile(
  url: string,
  option: string,
  init: (response: Response) => Promise<unknown>,
): Promise<void> {
  const retries = new RetryBudget(new AbortController().signal);
  for (let isStarted = false; !isStarted;) {
    try {
      await fetchAndStart(url, option, init);
      isStarted = true;
    } catch (failure) {
      await retries.spend(failure, 0);
    }
  }
}

async function fetchAndStart(url: string, option: string, init: (response: Response) => Promise<unknown>) {
  const response = await send(url, {});
  assertIsFile(response, url, option);
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
