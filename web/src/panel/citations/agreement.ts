import type { Citation, Quote } from "../../client/wire.js";
import { byDocument } from "./documents.js";
import { shownWords } from "./quotes.js";
import { isVerified } from "./verify.js";
import { fold, type Statement, statementOf } from "./words.js";

/** How many of the cited documents support the first sentence of the answer. */
export interface Agreement {
  readonly agreeing: number;
  readonly total: number;
}

/** Fraction of the first sentence's words that a matching sentence must contain. */
const MIN_COMMON_FRACTION = 0.6;
/** A sentence with fewer words is compared only by its quotes, because its words match by chance. */
const MIN_WORDS = 2;
/** Only the beginning of a longer passage is read, in UTF-16 code units; ordinary passages are far shorter. */
const MAX_READ_LENGTH = 8192;

/**
 * Counts the documents that support the answer's first quoted sentence. A document does if a passage of it has a
 * verified quote of that sentence, or a sentence with at least 60 % of its words, all of its numbers and the same
 * negations. This compares words, not meaning, and rather counts too few. `agreeing` is 0 if the answer has no verified
 * quote.
 */
export function agreementOf(citations: readonly Citation[], answer: string): Agreement {
  const documents = byDocument(citations);
  const first = documents.length < 2 ? undefined : firstQuote(citations, answer);
  if (!first) return { agreeing: 0, total: documents.length };
  const words = shownWords(first);
  const statement = statementOf(fold(words));
  const supports = (citation: Citation) =>
    citation.quotes.some((quote) => shownWords(quote) === words && isVerified(citation, quote, answer)) ||
    containsStatement(citation.excerpt, statement);
  const agreeing = documents.filter((passages) => passages.some(supports)).length;
  return { agreeing, total: documents.length };
}

/** The first verified quote in the answer, except lines that introduce a list: they state nothing alone. */
function firstQuote(citations: readonly Citation[], answer: string): Quote | undefined {
  const placed = citations.flatMap((citation) =>
    citation.quotes.map((quote) => ({ citation, quote, at: answer.indexOf(shownWords(quote)) })),
  );
  return placed
    .filter(({ at, quote }) => at >= 0 && !/[:：]$/.test(shownWords(quote).trim()))
    .sort((a, b) => a.at - b.at)
    .find(({ citation, quote }) => isVerified(citation, quote, answer))?.quote;
}

function containsStatement(excerpt: string, statement: Statement): boolean {
  const read = excerpt.slice(0, MAX_READ_LENGTH);
  if (statement.words.size < MIN_WORDS || !mayContain(fold(read), statement)) return false;
  return sentencesOf(read).some((sentence) => isSame(statement, statementOf(fold(sentence))));
}

/** A cheap check of the whole passage, which saves splitting most passages into sentences. */
function mayContain(folded: string, { words, numbers }: Statement): boolean {
  const common = [...words].filter((word) => folded.includes(word)).length;
  return common >= MIN_COMMON_FRACTION * words.size && [...numbers].every((number) => folded.includes(number));
}

function isSame(statement: Statement, other: Statement): boolean {
  const common = [...statement.words].filter((word) => other.words.has(word)).length;
  return (
    common >= MIN_COMMON_FRACTION * statement.words.size &&
    [...statement.numbers].every((number) => other.numbers.has(number)) &&
    statement.negations.size === other.negations.size &&
    [...statement.negations].every((word) => other.negations.has(word))
  );
}

/** Splits Markdown source roughly into sentences, without link targets and emphasis marks. */
function sentencesOf(source: string): string[] {
  return source
    .replace(/\]\([^()\s]*\)/g, "]")
    .replace(/[*_`]/g, "")
    .replace(/(?<!\n)\n(?![\n#>*+|-])/g, " ")
    .split(/(?<=[.!?…]["'”’)]*)\s+|(?<=[。！？])|\n+/)
    .filter((sentence) => sentence.trim() !== "");
}
