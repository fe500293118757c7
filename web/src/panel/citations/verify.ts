import type { Citation, Quote, QuotePiece, Support } from "../../client/wire.js";
import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { passageOf } from "./passage/passage-of.js";
import { type Cell, readRow, readText } from "./passage/read.js";
import { findStatement } from "./pieces.js";
import { locateQuote } from "./quotes.js";

/**
 * Verifies a quote: its words occur in the answer, and its place in the passage shows the same words, character by
 * character. Only white space may differ, because lines are laid out differently. The passage itself, and the words from around it that
 * belong to the quote, come from the server and are not verified; nothing else from the server is trusted.
 */
export function isVerified(citation: Citation, quote: Quote, answer: string): boolean {
  const pieces = quote.pieces ?? (citation.blocks ? [{ text: quote.text }] : undefined);
  return pieces ? isStated(citation, quote, pieces, answer) : isShown(citation, quote, answer);
}

/** Whether plain text has a quote, and a sentence of the answer consists of all its words and of what belongs to them. */
function isStated(citation: Citation, quote: Quote, pieces: readonly QuotePiece[], answer: string): boolean {
  const { start, end, text } = quote;
  const own = pieces.flatMap((piece) => (piece.role === undefined ? piece.text : []));
  return (
    citation.excerpt.slice(start, end) === text &&
    /[\p{L}\p{N}]/u.test(text) &&
    onOneLine(own.join(" ")) === onOneLine(text) &&
    !pieces.some((piece) => hasHiddenCharacters(piece.text)) &&
    findStatement(answer, pieces, citation) !== undefined
  );
}

/** Whether Markdown shows a quote, and the answer has its words. */
function isShown(citation: Citation, quote: Quote, answer: string): boolean {
  const words = quote.plain ?? quote.text;
  const range = locateQuote(citation.excerpt, quote);
  if (!range || !/[\p{L}\p{N}]/u.test(words) || hasHiddenCharacters(words) || !containsWords(answer, words))
    return false;
  const nodes = passageOf(citation);
  const seen = [readText(nodes, range), rowAsText(readRow(nodes, range))].map(onOneLine);
  return seen.includes(onOneLine(words));
}

/**
 * Verifies the source words of a generated sentence: the passage shows them at their place, without hidden characters.
 * The sentence itself has words of its own; the server checked that it follows from these.
 */
export function isSourceSentence(citation: Citation, support: Support): boolean {
  const range = locateQuote(citation.excerpt, support);
  if (!range) return false;
  const seen = readText(passageOf(citation), range);
  return /[\p{L}\p{N}]/u.test(seen) && !hasHiddenCharacters(seen);
}

/**
 * Whether a text contains format control characters, which are invisible and may reorder or split words. Joiners are
 * allowed in scripts and emoji that need them.
 */
function hasHiddenCharacters(text: string): boolean {
  return /\p{Cf}/u.test(text.replace(JOINERS, ""));
}

const JOINERS =
  /(?<=(?![\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{sc=Hani}])\p{L}\p{M}*)[\u200c\u200d]|(?<=\p{ExtPict}[\ufe0f\p{EMod}]?)\u200d(?=\p{ExtPict})/gu;

/** Whether an answer contains the words as whole words: between white space, or before a marker. */
function containsWords(answer: string, words: string): boolean {
  const [text, wanted] = [onOneLine(answer), onOneLine(words)];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if ((at === 0 || text[at - 1] === " ") && /^(?:$| |\[\d+\])/.test(text.slice(end))) return true;
  }
  return false;
}

/** A table row as answers write it: the first cell, then the other cells with the names of their columns. */
function rowAsText(cells: readonly Cell[] | undefined): string {
  const [first, ...others] = cells ?? [];
  if (!first || others.length === 0) return "";
  if (others.length === 1) return `${first.text}: ${others[0]?.text}`;
  const named = others.filter(({ text }) => text !== "").map(({ name, text }) => `${name}: ${text}`);
  return `${first.text} – ${named.join("; ")}`;
}

/** The text with each run of white space as one space. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** The mark of a passage whose quotes, or whose words that support a generated answer, are all verified. */
export function verifiedMark(citation: Citation, answer: string, { t }: Translator): HTMLElement | undefined {
  const { quotes, supports = [] } = citation;
  if (quotes.length > 0) {
    if (!quotes.every((quote) => isVerified(citation, quote, answer))) return undefined;
    return element(
      "span",
      { class: "verified", title: t("verifiedQuoteHelp"), "data-role": "verified-quote" },
      icon(icons.check),
      t("verifiedQuote"),
    );
  }
  if (supports.length === 0 || !supports.every((support) => isSourceSentence(citation, support))) return undefined;
  return element(
    "span",
    { class: "verified source-sentence", title: t("sourceSentenceHelp"), "data-role": "source-sentence" },
    icon(icons.quote),
    t("sourceSentence"),
  );
}
