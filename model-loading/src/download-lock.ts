const REPORT_INTERVAL_MS = 250;
/** After this wait the tab downloads the model itself: the browser may have frozen the other tab. */
const MAX_WAIT_MS = 30_000;

/**
 * Waits until no other tab of this site is downloading the model, so that its copy can be used. `name` is that of the
 * lock. Resolves with a function that releases it. Rejects only if `signal` is aborted; in browsers without locks it does not wait.
 */
export function takeDownloadLock(name: string, signal: AbortSignal, onWait: () => void): Promise<() => void> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return Promise.resolve(() => undefined);
  return new Promise((resolve, reject) => {
    const waiting = new AbortController();
    const stopWaiting = () => waiting.abort();
    signal.addEventListener("abort", stopWaiting);
    const reports = setInterval(onWait, REPORT_INTERVAL_MS);
    const limit = setTimeout(stopWaiting, MAX_WAIT_MS);
    const settle = () => {
      signal.removeEventListener("abort", stopWaiting);
      clearInterval(reports);
      clearTimeout(limit);
    };

    const held = () => {
      settle();
      return new Promise<void>((release) => resolve(release));
    };
    locks.request(name, { signal: waiting.signal }, held).catch(() => {
      settle();
      if (signal.aborted) reject(signal.reason);
      else resolve(() => undefined);
    });
  });
}
