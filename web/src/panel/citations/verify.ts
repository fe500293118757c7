import type { Citation, Quote } from "../../client/wire.js";
import { element, icon } from "../../dom/element.js";
import { ICONS } from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { passageOf } from "./passage/parse.js";
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
  return seen.includes(onOneLine(words));
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

/** With each run of white space folded to one. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Says that the widget itself has found the quote's words in passage and answer. */
export function verifiedMark({ t }: Translator): HTMLElement {
  return element(
    "span",
    { class: "verified", title: t("verifiedQuoteHelp"), "data-role": "verified-quote" },
    icon(ICONS.check),
    t("verifiedQuote"),
  );
}
