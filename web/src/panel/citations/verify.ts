import type { Citation, Quote } from "../../client/wire.js";
import { passageOf } from "./passage/passage-of.js";
import { type Cell, readRow, readText } from "./passage/read.js";
import { locateQuote } from "./quotes.js";

/**
 * Whether a quote is what it says: its words stand in the answer, and a reader of its place in the passage sees the same
 * words there, character by character. Only runs of white space may differ, as lines are laid out differently. The passage is
 * the one that the server delivered. Nothing else that the server says is taken for granted.
 */
export function isVerified(citation: Citation, quote: Quote, answer: string): boolean {
  const words = quote.plain ?? quote.text;
  const range = locateQuote(citation.excerpt, quote);
  if (!range || !/[\p{L}\p{N}]/u.test(words) || hasHiddenCharacters(words) || !standsIn(answer, words)) return false;
  const nodes = passageOf(citation);
  const seen = [readText(nodes, range), tellRow(readRow(nodes, range))].map(onOneLine);
  return [words, withoutBlockMarkup(words, quote.text)].some((form) => seen.includes(onOneLine(form)));
}

/**
 * Whether a text holds format control characters, which show nothing and may turn or split words. Joiners are allowed where
 * scripts and emoji are written with them.
 */
function hasHiddenCharacters(text: string): boolean {
  return /\p{Cf}/u.test(text.replace(JOINERS, ""));
}

const JOINERS =
  /(?<=(?![\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{sc=Hani}])\p{L}\p{M}*)[\u200c\u200d]|(?<=\p{ExtPict}[\ufe0f\p{EMod}]?)\u200d(?=\p{ExtPict})/gu;

/** Whether words stand in an answer by themselves: between white space, or before a marker. */
function standsIn(answer: string, words: string): boolean {
  const [text, wanted] = [onOneLine(answer), onOneLine(words)];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if ((at === 0 || text[at - 1] === " ") && /^(?:$| |\[\d+\])/.test(text.slice(end))) return true;
  }
  return false;
}

/** A row as answers tell it: its first cell says what it is about, the names of the columns what the others are. */
function tellRow(cells: readonly Cell[] | undefined): string {
  const [first, ...others] = cells ?? [];
  if (!first || others.length === 0) return "";
  if (others.length === 1) return `${first.text}: ${others[0]?.text}`;
  const told = others.filter(({ text }) => text !== "").map(({ name, text }) => `${name}: ${text}`);
  return `${first.text} – ${told.join("; ")}`;
}

/**
 * Several lines may be quoted as they are written: without the signs that make them blocks, as far as their source has the
 * same signs there.
 */
function withoutBlockMarkup(words: string, source: string): string {
  const [lines, written] = [words, source].map((text) => text.split(/\r?\n/));
  if (!lines || lines.length < 2 || lines.length !== written?.length) return words;
  return lines
    .map((line, number) => {
      const as = written[number] ?? "";
      if (line.trim() === as.trim() && RULE.test(as)) return "";
      const begun = BLOCK_SIGNS.exec(as)?.[0] ?? "";
      const rest = line.startsWith(begun) ? line.slice(begun.length) : line;
      return begun.includes("|") && /\|\s*$/.test(as) ? rest.replace(/\|\s*$/, "") : rest;
    })
    .join("\n");
}

/** Signs of quotations, headings, list items and rows, at the beginning of a line. */
const BLOCK_SIGNS = /^[ \t]*(?:>[ \t]?|(?:#{1,6}|[-+*]|\d{1,9}[.)])(?:[ \t]+|$))*(?:\|[ \t]*)?/;
/** A line below a heading or the head of a table, or between paragraphs. */
const RULE = /^[ \t]*(?:[-:|][-:| \t]*|=+|\*[* \t]*|_[_ \t]*)$/;

/** With each run of white space folded to one. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
