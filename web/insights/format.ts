// One language for words and numbers: the page is for administrators and has English texts only.
const COUNT = new Intl.NumberFormat("en");
const SHARE = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const SECONDS = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const SIGNED = new Intl.NumberFormat("en", { maximumFractionDigits: 1, signDisplay: "exceptZero" });
const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const DATE = new Intl.DateTimeFormat("en", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Replaces a figure that does not exist. */
export const NONE = "–";

export const formatCount = (value: number): string => COUNT.format(value);

/** A share of 0 to 1, in percent. */
export const formatShare = (value: number | null): string => (value === null ? NONE : SHARE.format(value));

/** Milliseconds; seconds from 1,000 on. */
export function formatMilliseconds(value: number | null): string {
  if (value === null) return NONE;
  return value < 1000 ? `${COUNT.format(value)} ms` : `${SECONDS.format(value / 1000)} s`;
}

/** `2026-11-24` or a timestamp, as `24 Nov`. */
export const formatDay = (date: string | number | Date): string => DAY.format(new Date(date));

/** Formats a date with its year. */
export const formatDate = (date: string): string => DATE.format(new Date(date));

/** `1 user`, `2 users`. */
export const plural = (count: number, one: string): string => `${formatCount(count)} ${count === 1 ? one : `${one}s`}`;

/** The change of a count in percent; undefined if it cannot be compared. */
export function changeOfCount(now: number, before: number): string | undefined {
  return before === 0 ? undefined : `${SIGNED.format((now / before - 1) * 100)} %`;
}

/** The change of a share in percentage points. */
export function changeOfShare(now: number | null, before: number | null): string | undefined {
  return now === null || before === null ? undefined : `${SIGNED.format((now - before) * 100)} points`;
}
