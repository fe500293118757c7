/** The quantile of the values for a share from 0 to 1. */
export function quantile(values, share) {
  if (values.length === 0) throw new Error("nothing was measured");
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** @param {Iterable<number>} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * Figures for the report: `NAME_p50_UNIT` and so on.
 * @param {string} name
 * @param {number[]} values in milliseconds
 * @param {number[]} [percents]
 * @returns {[string, number][]}
 */
export function percentiles(name, values, percents = [50, 95]) {
  return percents.map((percent) => [`${name}_p${percent}_ms`, round(quantile(values, percent / 100))]);
}

/** Rounds to three decimal places. */
export function round(value) {
  return Math.round(value * 1000) / 1000;
}
