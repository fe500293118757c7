/** The parts of a sentence that are compared with another sentence. */
export interface Statement {
  /** Words of four letters or more, and pairs of characters where words are not spaced. */
  readonly words: ReadonlySet<string>;
  /** Numbers, in digits and in words. */
  readonly numbers: ReadonlySet<string>;
  /** Words that negate a statement. */
  readonly negations: ReadonlySet<string>;
}

const MIN_WORD_LENGTH = 4;

/** In the widget's languages, without accents. */
const NEGATIONS = wordSet(
  "no not never none nobody nothing neither nor without except unless",
  "nicht kein keine keinen keiner keinem nie niemals ohne ausser",
  "ne pas jamais sans aucun aucune sauf",
  "nunca jamas sin ningun ninguna excepto",
  "لا ليس لم لن غير بدون",
);

const NUMBERS = wordSet(
  "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety",
  "hundred thousand million first second third once twice half double",
  "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf zwanzig dreissig hundert tausend",
  "deux trois quatre cinq sept huit neuf dix onze douze vingt trente cent mille",
  "cero dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cien mil",
);

/** Negation at the end of Japanese verbs. */
const NOT_IN_JAPANESE = /ない|なかった|ません|なし/;

/** Extracts the parts of a folded sentence. */
export function statementOf(folded: string): Statement {
  const words = new Set<string>();
  const negations = new Set<string>();
  const numbers = new Set(folded.match(/\p{Nd}+(?:[.,:]\p{Nd}+)*/gu) ?? []);
  for (const [word] of folded.matchAll(/\p{L}+(?:['’]\p{L}+)*/gu)) {
    if (/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u.test(word)) addPairs(word, words);
    else if (NEGATIONS.has(word)) negations.add(word);
    else if (/(n['’]t|nnot)$/.test(word)) negations.add("not");
    else if (NUMBERS.has(word)) numbers.add(word);
    else if (word.length >= MIN_WORD_LENGTH) words.add(word);
  }
  if (NOT_IN_JAPANESE.test(folded)) negations.add("ない");
  return { words, numbers, negations };
}

/** Folds a text for comparison: removes case, accents, character width and thousands separators. */
export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "");
}

function addPairs(word: string, into: Set<string>): void {
  const characters = [...word];
  for (let at = 0; at + 1 < characters.length; at++) into.add(`${characters[at]}${characters[at + 1]}`);
}

function wordSet(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
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
