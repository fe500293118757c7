/** Debounce after a key, in milliseconds: short enough that results feel instant. */
const PAUSE_MS = 40;
/** An embedding that takes longer, in milliseconds, is work that the visitor may feel while typing. */
const SLOW_EMBEDDING_MS = 50;
/** Pauses grow by this multiple of what an embedding takes, so that it uses a fifth of the time at most. */
const SHARE_OF_PAUSE = 4;
const MAX_PAUSE_MS = 1500;

/** How long to wait after a key before the text is embedded, if the last embedding took `embeddingMs`. */
export function pauseAfter(embeddingMs: number): number {
  if (embeddingMs <= SLOW_EMBEDDING_MS) return PAUSE_MS;
  return Math.min(MAX_PAUSE_MS, Math.round(SHARE_OF_PAUSE * embeddingMs));
}

/** Shorter texts, in letters and digits, are searched only in scripts whose words are that short. */
const MIN_LETTERS = 3;
const SHORT_WORDS = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;

/** The beginning of a word after others: it says nothing yet, and would only lead away from the words before it. */
const BEGUN_WORD = /(?<=\S\s)\p{Ll}{1,2}$/u;

/**
 * The text that is searched: without white space and punctuation at the ends, which cannot change the results, and without a word that has just begun. `undefined`
 * for a text that is too short to mean something.
 */
export function queryOf(text: string): string | undefined {
  const words = text.replace(/\s+/g, " ").replace(BEGUN_WORD, "");
  const query = words.replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, "");
  const letters = query.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return letters >= MIN_LETTERS || SHORT_WORDS.test(query) ? query : undefined;
}
