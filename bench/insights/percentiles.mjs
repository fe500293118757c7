/**
 * Median and 95th percentile of times in milliseconds.
 * @param {readonly number[]} times
 */
export function percentiles(times) {
  const ordered = times.toSorted((a, b) => a - b);
  const at = (share) => {
    const time = ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))];
    return Math.round(time * 100) / 100;
  };
  return { p50: at(0.5), p95: at(0.95) };
}
