const REPORT_INTERVAL_MS = 250;
/**
 * After this time without a sign of progress from the tab that downloads, another one takes over: the browser may have frozen
 * that tab. Longer than the time after which a download without progress fails by itself.
 */
const MAX_SILENCE_MS = 20_000;
/** Between two signs of progress. */
const SIGN_INTERVAL_MS = 500;

/** The right of one tab to download a file, while other tabs wait for its copy. */
export interface DownloadLock {
  /** Shows the waiting tabs how far the download is, and that it makes progress. */
  report(loadedBytes: number): void;
  release(): void;
}

/** In browsers without locks, and with storage blocked, each tab downloads for itself. */
const NOT_SHARED: DownloadLock = { report: () => undefined, release: () => undefined };

/**
 * Waits until no other tab of this site is downloading the model, so that its copy can be used. `name` is that of the lock.
 * `onWait` gets the bytes that the other tab has loaded. A tab that is closed passes the lock on at once, one that makes no
 * progress loses it. Rejects only if `signal` is aborted; in browsers without locks it does not wait.
 */
export function takeDownloadLock(
  name: string,
  signal: AbortSignal,
  onWait: (loadedBytes: number) => void,
): Promise<DownloadLock> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return Promise.resolve(NOT_SHARED);
  const channel = openChannel(name);
  return new Promise((resolve, reject) => {
    const waiting = new AbortController();
    const stopWaiting = () => waiting.abort();
    signal.addEventListener("abort", stopWaiting);
    let loadedBytes = 0;
    // Ticks, not time: none passes while this tab itself is frozen. Tabs that wait together do not take over together.
    let ticks = 0;
    const maxTicks = (MAX_SILENCE_MS / REPORT_INTERVAL_MS) * (1 + Math.random() / 4);
    const onSign = ({ data }: MessageEvent<number>) => {
      loadedBytes = data;
      ticks = 0;
    };
    channel?.addEventListener("message", onSign);
    const reports = setInterval(() => {
      onWait(loadedBytes);
      if (++ticks === Math.ceil(maxTicks)) takeOver();
    }, REPORT_INTERVAL_MS);
    const settle = () => {
      signal.removeEventListener("abort", stopWaiting);
      channel?.removeEventListener("message", onSign);
      clearInterval(reports);
    };
    let isHeld = false;
    const held = () => {
      isHeld = true;
      settle();
      return new Promise<void>((release) => resolve(new HeldLock(channel, release)));
    };
    const refused = () => {
      // Another tab has taken over from this one, which goes on for itself.
      if (isHeld) return;
      settle();
      channel?.close();
      if (signal.aborted) reject(signal.reason);
      else resolve(NOT_SHARED);
    };
    const takeOver = () => {
      stopWaiting();
      locks.request(name, { steal: true }, held).catch(refused);
    };
    locks.request(name, { signal: waiting.signal }, held).catch(() => {
      const isTakingOver = waiting.signal.aborted && !signal.aborted;
      if (!isTakingOver) refused();
    });
  });
}

class HeldLock implements DownloadLock {
  readonly #channel: BroadcastChannel | undefined;
  readonly #release: () => void;
  #reportedAt = -Infinity;

  constructor(channel: BroadcastChannel | undefined, release: () => void) {
    this.#channel = channel;
    this.#release = release;
    this.report(0);
  }

  report(loadedBytes: number): void {
    const now = performance.now();
    if (now - this.#reportedAt < SIGN_INTERVAL_MS) return;
    this.#reportedAt = now;
    this.#channel?.postMessage(loadedBytes);
  }

  release(): void {
    // A closed channel throws.
    this.#reportedAt = Infinity;
    this.#channel?.close();
    this.#release();
  }
}

function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}
