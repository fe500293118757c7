import type { Citation, Quote } from "../../client/wire.js";
import { byDocument } from "./documents.js";
import { wordsOf } from "./quotes.js";
import { isVerified } from "./verify.js";
import { fold, type Statement, statementOf } from "./words.js";

/** How many of the cited documents say what the answer says first. */
export interface Agreement {
  readonly agreeing: number;
  readonly total: number;
}

/** This part of the first sentence's words must stand in a sentence that says the same. */
const SAME_WORDS = 0.6;
/** Two words in common are chance; a sentence of fewer is compared by its quotes alone. */
const FEWEST_WORDS = 2;
/** Passages are far shorter; of a longer one, in UTF-16 code units, the beginning is read. */
const LONGEST_READ = 8192;

/**
 * Counts the documents that support the answer's first quoted sentence. One does if it has a passage with a verified quote
 * of that sentence, or with a sentence that has at least 60 % of its words, all of its numbers and the same
 * negations. That is less than meaning the same, so it errs on the side of too few. `agreeing` is 0 where the answer
 * begins with no verified quote.
 */
export function agreementOf(citations: readonly Citation[], answer: string): Agreement {
  const documents = byDocument(citations);
  const first = documents.length < 2 ? undefined : firstQuote(citations, answer);
  if (!first) return { agreeing: 0, total: documents.length };
  const words = wordsOf(first);
  const statement = statementOf(fold(words));
  const supports = (citation: Citation) =>
    citation.quotes.some((quote) => wordsOf(quote) === words && isVerified(citation, quote, answer)) ||
    states(citation.excerpt, statement);
  const agreeing = documents.filter((passages) => passages.some(supports)).length;
  return { agreeing, total: documents.length };
}

/** The verified quote that stands first in the answer; a line that introduces a list states nothing by itself. */
function firstQuote(citations: readonly Citation[], answer: string): Quote | undefined {
  const placed = citations.flatMap((citation) =>
    citation.quotes.map((quote) => ({ citation, quote, at: answer.indexOf(wordsOf(quote)) })),
  );
  return placed
    .filter(({ at, quote }) => at >= 0 && !/[:：]$/.test(wordsOf(quote).trim()))
    .sort((a, b) => a.at - b.at)
    .find(({ citation, quote }) => isVerified(citation, quote, answer))?.quote;
}

function states(excerpt: string, statement: Statement): boolean {
  const read = excerpt.slice(0, LONGEST_READ);
  if (statement.words.size < FEWEST_WORDS || !mayState(fold(read), statement)) return false;
  return sentencesOf(read).some((sentence) => isSame(statement, statementOf(fold(sentence))));
}

/** Most passages have not even the words, wherever they stand: those need not be taken apart. */
function mayState(folded: string, { words, numbers }: Statement): boolean {
  const common = [...words].filter((word) => folded.includes(word)).length;
  return common >= SAME_WORDS * words.size && [...numbers].every((number) => folded.includes(number));
}

function isSame(statement: Statement, other: Statement): boolean {
  const common = [...statement.words].filter((word) => other.words.has(word)).length;
  return (
    common >= SAME_WORDS * statement.words.size &&
    [...statement.numbers].every((number) => other.numbers.has(number)) &&
    statement.negations.size === other.negations.size &&
    [...statement.negations].every((word) => other.negations.has(word))
  );
}

/** Sentences of Markdown source, roughly: addresses of links and marks of emphasis are no words of theirs. */
function sentencesOf(source: string): string[] {
  return source
    .replace(/\]\([^()\s]*\)/g, "]")
    .replace(/[*_`]/g, "")
    .replace(/(?<!\n)\n(?![\n#>*+|-])/g, " ")
    .split(/(?<=[.!?…]["'”’)]*)\s+|(?<=[。！？])|\n+/)
    .filter((sentence) => sentence.trim() !== "");
}
