/** How far the embedder is on its way to being usable. */
export interface LoadProgress {
  /**
   * - `start`: fetching the program
   * - `wait`: another tab of this site is downloading the model; when it is done, its copy is used
   * - `download`, `cache`: the model's bytes are coming from the network, or from the browser's cache
   * - `initialize`: all bytes are there; they are checked and unpacked
   */
  readonly phase: "start" | "wait" | "download" | "cache" | "initialize";
  /** Bytes of the model so far, uncompressed. Falls back to 0 when a download has to start over. */
  readonly loadedBytes: number;
  /** Bytes of the whole model, uncompressed: known from the start. */
  readonly totalBytes: number;
}

/** Time between two reports of the same phase: often enough for a smooth bar, rarely enough not to flood the page. */
const REPORT_EVERY_MS = 50;

/** Passes on the first and the last report of each phase, and of those between as many as somebody can see. */
export function throttled(report: (progress: LoadProgress) => void): (progress: LoadProgress) => void {
  let phase: LoadProgress["phase"] | undefined;
  let reportedAt = 0;
  return (progress) => {
    const now = performance.now();
    const isLast = progress.loadedBytes === progress.totalBytes;
    if (progress.phase === phase && now - reportedAt < REPORT_EVERY_MS && !isLast) return;
    phase = progress.phase;
    reportedAt = now;
    report(progress);
  };
}
