/**
 * The promise's outcome, or an error if it takes longer than `milliseconds`. An abort rejects with the signal's reason,
 * for promises that do not watch the signal themselves.
 */
export async function withTimeout<T>(milliseconds: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listening = new AbortController();
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing was received for ${milliseconds} ms.`)), milliseconds);
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { signal: listening.signal });
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}
