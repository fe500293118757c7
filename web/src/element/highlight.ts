import type { Quote } from "../client/wire.js";

/** A run of an excerpt, quoted by the answer or not. */
export interface ExcerptRun {
  readonly text: string;
  readonly quoted: boolean;
}

/**
 * Splits an excerpt into quoted and other runs. Offsets refer to the whole chunk, of which the excerpt may be a part,
 * so each is used only where the quote's words really stand there; otherwise the words themselves are looked up. A
 * quote that is not in the excerpt at all comes as a run of its own at the end.
 */
export function highlightQuotes(excerpt: string, quotes: readonly Quote[]): ExcerptRun[] {
  const found: { start: number; end: number }[] = [];
  const missing: ExcerptRun[] = [];
  for (const { start, text } of quotes) {
    const at = excerpt.startsWith(text, start) ? start : excerpt.indexOf(text);
    if (at >= 0) found.push({ start: at, end: at + text.length });
    else missing.push({ text, quoted: true });
  }
  found.sort((a, b) => a.start - b.start);

  const runs: ExcerptRun[] = [];
  let position = 0;
  for (const { start, end } of found) {
    if (start > position) runs.push({ text: excerpt.slice(position, start), quoted: false });
    if (end > position) runs.push({ text: excerpt.slice(Math.max(start, position), end), quoted: true });
    position = Math.max(position, end);
  }
  if (position < excerpt.length) runs.push({ text: excerpt.slice(position), quoted: false });
  return [...runs, ...missing];
}
