import type { Citation, Quote } from "../../client/wire.js";
import { passageOf } from "./passage/passage-of.js";
import { cellsOf, type PassageNode, type Range, visibleText } from "./passage/tree.js";
import { locateQuote, wordsOf } from "./quotes.js";

/**
 * Whether a quote is what it says: its source stands in the passage to the letter, its words are what a reader sees of that
 * source, in a table with the names of the columns, and the same words stand in the answer. Nothing the server says is
 * taken for granted.
 */
export function isVerified(citation: Citation, quote: Quote, answer: string): boolean {
  const range = locateQuote(citation.excerpt, quote);
  const words = onOneLine(wordsOf(quote));
  if (!range || essence(words) === "" || !onOneLine(answer).includes(words)) return false;
  if (quote.plain === undefined || essence(words) === essence(quote.text)) return true;
  const nodes = passageOf(citation);
  return essence(words) === essence(visibleText(nodes, range)) || isRow(essence(words), nodes, range);
}

/** Whether these words are the cells of a table in a range, in their order, each alone or behind the name of its column. */
function isRow(words: string, nodes: readonly PassageNode[], range: Range): boolean {
  let rest = words;
  for (const { name, text } of cellsOf(nodes, range)) {
    const cell = [essence(`${name}: ${text}`), essence(text)].find((form) => rest.startsWith(form));
    if (cell === undefined) return false;
    rest = rest.slice(cell.length);
  }
  return rest === "";
}

/** Line ends and other space are laid out differently in an answer. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * What a text says, without space and the signs that could be markup: they differ between source, passage and answer.
 * Points and signs of numbers are a part of what it says.
 */
function essence(text: string): string {
  return text.replace(NO_ESSENCE, "");
}

const NO_ESSENCE = /(?<!\p{N})[.,:]|[.,:](?!\p{N})|[-−](?!\p{N})|[^\p{L}\p{M}\p{N}\p{Sc}%‰=±×÷<≤≥°/@&.,:−-]/gu;
