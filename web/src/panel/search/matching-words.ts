import { fold, wordsOf } from "../citations/words.js";

/** A text, and whether it is a word of the query. */
export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Words of fewer characters are not marked: articles and prepositions are in every sentence. */
const MIN_LENGTH = 3;
/** Inflected words share at least this many characters. */
const MIN_STEM = 4;
const MAX_ENDING = 3;

/** Cuts a sentence into words of the query, also while they are typed or inflected, and what is between them. */
export function matchingWords(sentence: string, query: string): readonly Piece[] {
  const wanted = wordsOf(query)
    .map(({ text }) => fold(text))
    .filter((word) => word.length >= MIN_LENGTH);
  const pieces: Piece[] = [];
  let cut = 0;
  for (const { text, start, end } of wordsOf(sentence)) {
    const word = fold(text);
    if (!wanted.some((other) => isSameWord(word, other))) continue;
    if (start > cut) pieces.push({ text: sentence.slice(cut, start), isMatch: false });
    pieces.push({ text, isMatch: true });
    cut = end;
  }
  return cut < sentence.length ? [...pieces, { text: sentence.slice(cut), isMatch: false }] : pieces;
}

function isSameWord(word: string, wanted: string): boolean {
  if (word.startsWith(wanted)) return true;
  const shorter = Math.min(word.length, wanted.length);
  let shared = 0;
  while (shared < shorter && word[shared] === wanted[shared]) shared++;
  return shared >= MIN_STEM && Math.max(word.length, wanted.length) - shared <= MAX_ENDING;
}
