/**
 * The promise's outcome, or an error if it is not there after `milliseconds`. An abort rejects with the signal's
 * reason, for promises that do not listen to the signal themselves.
 */
export async function within<T>(milliseconds: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listening = new AbortController();
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing was received for ${milliseconds} ms.`)), milliseconds);
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { signal: listening.signal });
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}
