const NAME = "evidence-chat-embedder";
const REPORT_EVERY_MS = 250;
/** Then this tab downloads for itself: the other one may be on hold. */
const WAIT_AT_MOST_MS = 30_000;

/**
 * Waits until no other tab of this site is downloading the model, so that its copy can be used. Resolves with a function
 * that lets the next one in. Rejects only if `signal` is aborted; where there are no locks it does not wait.
 */
export function takeDownloadLock(signal: AbortSignal, onWait: () => void): Promise<() => void> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return Promise.resolve(() => undefined);
  return new Promise((resolve, reject) => {
    const waiting = new AbortController();
    const stopWaiting = () => waiting.abort();
    signal.addEventListener("abort", stopWaiting);
    const reports = setInterval(onWait, REPORT_EVERY_MS);
    const limit = setTimeout(stopWaiting, WAIT_AT_MOST_MS);
    const settle = () => {
      signal.removeEventListener("abort", stopWaiting);
      clearInterval(reports);
      clearTimeout(limit);
    };

    const held = () => {
      settle();
      return new Promise<void>((release) => resolve(release));
    };
    locks.request(NAME, { signal: waiting.signal }, held).catch(() => {
      settle();
      if (signal.aborted) reject(signal.reason);
      else resolve(() => undefined);
    });
  });
}
