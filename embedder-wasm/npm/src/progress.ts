/** How far loading the embedder has come. */
export interface LoadProgress {
  /**
   * - `start`: fetching the program
   * - `wait`: another tab of this site is downloading the model; its copy will be used. `loadedBytes` are those of that tab
   * - `download`, `cache`: reading the model from the network, or from the browser's cache
   * - `initialize`: verifying and unpacking the model
   */
  readonly phase: "start" | "wait" | "download" | "cache" | "initialize";
  /** Bytes of the model so far, uncompressed. Returns to 0 when a download starts over. */
  readonly loadedBytes: number;
  /** Bytes of the whole model, uncompressed; known from the start. */
  readonly totalBytes: number;
}

/** Between two reports of the same phase: short enough for a smooth bar, long enough not to flood the page. */
const MIN_REPORT_INTERVAL_MS = 50;

/** Forwards the first and last report of each phase, and the others at a limited rate. */
export function throttled(report: (progress: LoadProgress) => void): (progress: LoadProgress) => void {
  let phase: LoadProgress["phase"] | undefined;
  let reportedAt = 0;
  return (progress) => {
    const now = performance.now();
    const isLast = progress.loadedBytes === progress.totalBytes;
    if (progress.phase === phase && now - reportedAt < MIN_REPORT_INTERVAL_MS && !isLast) return;
    phase = progress.phase;
    reportedAt = now;
    report(progress);
  };
}
