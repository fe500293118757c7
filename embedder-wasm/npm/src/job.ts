import type { Reply } from "./protocol.js";

/** A call that the engine runs in slices. */
export interface Job {
  readonly id: number;
  /** Runs the next slice. Returns the reply after the last one; throws what the engine throws. */
  runSlice(): Reply | undefined;
}

/** The end of the slice from `start` on: items of at most `maxCharacters` together, or one longer item. */
export function sliceEnd(
  lengths: readonly number[],
  start: number,
  maxCharacters: number,
  maxItems = Infinity,
): number {
  let end = start;
  let characters = 0;
  for (; end < lengths.length && end - start < maxItems; end++) {
    characters += lengths[end] ?? 0;
    if (end > start && characters > maxCharacters) break;
  }
  return end;
}
