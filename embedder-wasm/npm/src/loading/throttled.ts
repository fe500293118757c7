import type { LoadProgress } from "../progress.js";

/** Between two reports of the same phase: a visitor cannot read more, and drawing one takes a slow phone 12 to 20 ms. */
const MIN_REPORT_INTERVAL_MS = 200;

/** Forwards the first and last report of each phase, and the others at a limited rate. */
export function throttled(report: (progress: LoadProgress) => void): (progress: LoadProgress) => void {
  let phase: LoadProgress["phase"] | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    const now = performance.now();
    const isLast = progress.loadedBytes === progress.totalBytes;
    if (progress.phase === phase && now - reportedAt < MIN_REPORT_INTERVAL_MS && !isLast) return;
    phase = progress.phase;
    reportedAt = now;
    report(progress);
  };
}
