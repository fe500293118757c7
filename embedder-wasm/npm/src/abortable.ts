import { EmbedderError } from "./errors.js";

/** Settles the promise of a call. */
export interface Settle<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: EmbedderError) => void;
}

/**
 * A promise that rejects with `aborted` once the signal is aborted. `start` begins the work that
 * settles it, unless the signal is aborted already, and returns how to cancel that work.
 */
export function abortable<Result>(
  signal: AbortSignal | undefined,
  what: string,
  start: (settle: Settle<Result>) => () => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const aborted = () => new EmbedderError("aborted", `${what} was aborted.`, { cause: signal?.reason });
    if (signal?.aborted) return reject(aborted());
    const listening = new AbortController();
    const settled =
      <T>(settle: (outcome: T) => void) =>
      (outcome: T) => {
        listening.abort();
        settle(outcome);
      };
    const cancel = start({ resolve: settled(resolve), reject: settled(reject) });
    const onAbort = () => {
      cancel();
      reject(aborted());
    };
    signal?.addEventListener("abort", onAbort, { signal: listening.signal });
  });
}
