/** A number in English. */
export function number(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat("en", options).format(value);
}

/** A cosine similarity with two decimals. */
export function cosine(value: number): string {
  return value.toFixed(2);
}

/** A duration with its unit: milliseconds below two seconds, otherwise seconds. */
export function duration(milliseconds: number): string {
  return milliseconds < 2000
    ? number(Math.round(milliseconds), { style: "unit", unit: "millisecond" })
    : number(milliseconds / 1000, { style: "unit", unit: "second", maximumFractionDigits: 1 });
}
