/** Folds a text for comparison: removes case, accents, character width and thousands separators. */
export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "");
}

/** A word of a text. */
export interface Word {
  readonly text: string;
  /** UTF-16 units from the beginning of the text. */
  readonly start: number;
  readonly end: number;
}

/** What counts as a word in a browser without `Intl.Segmenter`. */
const SPACED_WORD = /[\p{L}\p{M}\p{N}]+(?:['’.][\p{L}\p{M}\p{N}]+)*/gu;

/** The words and numbers of a text. Some scripts have no spaces between them. */
export function wordsOf(text: string): readonly Word[] {
  // Firefox has it from version 125.
  const { Segmenter } = Intl as { readonly Segmenter?: typeof Intl.Segmenter };
  const segments: readonly Omit<Intl.SegmentData, "input">[] = Segmenter
    ? [...new Segmenter(undefined, { granularity: "word" }).segment(text)]
    : [...text.matchAll(SPACED_WORD)].map(({ 0: segment, index }) => ({ segment, index, isWordLike: true }));
  return segments.flatMap(({ segment, index, isWordLike }) =>
    // WebKit says that numbers are not like words.
    isWordLike === true || /\p{N}/u.test(segment) ? [{ text: segment, start: index, end: index + segment.length }] : [],
  );
}
