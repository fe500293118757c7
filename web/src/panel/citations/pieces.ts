import type { Citation, Quote, QuotePiece } from "../../client/wire.js";
import { withoutBidiControls } from "../../client/text.js";
import { element } from "../../dom/element.js";
import { cut, merged, overlap, type Range } from "./passage/tree.js";
import { shownWords, wholeWords } from "./quotes.js";

/** Matches between two pieces: signs that state nothing, and white space. */
const BETWEEN = String.raw`([\s:;.,–—]{0,16}?\s)`;
/** Matches after the last piece: the signs of empty cells, and the marker. */
const END = /^[\s:;–]*\[\d{1,3}\]/;
/** Matches before a statement or the name of its place. */
const BEGINNING = /(?:^|\[\d{1,3}\])\s*$/;

/**
 * The places of pieces that follow each other in a text, with nothing but punctuation and white space between them. White space may
 * differ. `undefined` if the text does not have them from `from` on.
 */
function findPieces(text: string, pieces: readonly QuotePiece[], from = 0): readonly Range[] | undefined {
  const [first, ...others] = pieces.map(({ text }) => patternOf(text));
  if (first === undefined) return undefined;
  const begin = new RegExp(first, "g");
  const next = others.map((pattern) => new RegExp(BETWEEN + pattern, "y"));
  begin.lastIndex = from;
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const ranges = [{ start: match.index, end: begin.lastIndex }];
    for (const pattern of next) {
      pattern.lastIndex = ranges.at(-1)?.end ?? 0;
      const found = pattern.exec(text);
      if (!found) break;
      ranges.push({ start: found.index + (found[1]?.length ?? 0), end: pattern.lastIndex });
    }
    if (ranges.length === pieces.length) return ranges;
    begin.lastIndex = match.index + 1;
  }
  return undefined;
}

/**
 * The places of the pieces of a quote in the sentence of an answer that consists of them. It follows another sentence or the name of the
 * passage's place, and ends with a marker.
 */
export function findStatement(
  answer: string,
  pieces: readonly QuotePiece[],
  { title, section }: Pick<Citation, "title" | "section">,
): readonly Range[] | undefined {
  // The innermost headings may be pieces, and the outermost ones say nothing about the question.
  const places = (section?.split(" › ") ?? []).flatMap((_, end, headings) =>
    headings.slice(0, end + 1).map((_, first, run) => run.slice(first).join(" › ")),
  );
  const openings = ["", title, ...places, ...places.map((place) => `${title} – ${place}`)].map(
    (name) => name && `${withoutBidiControls(name)}:`,
  );
  const isSentence = (ranges: readonly Range[]): boolean => {
    // A dash is the empty first cell of a row.
    const before = answer
      .slice(0, ranges[0]?.start)
      .replace(/(?:(?:^|\s)–)?\s$/, "")
      .trimEnd();
    const isBegun = openings.some(
      (opening) => before.endsWith(opening) && BEGINNING.test(before.slice(0, before.length - opening.length)),
    );
    return isBegun && END.test(answer.slice(ranges.at(-1)?.end));
  };
  let ranges = findPieces(answer, pieces);
  while (ranges && !isSentence(ranges)) ranges = findPieces(answer, pieces, (ranges[0]?.start ?? answer.length) + 1);
  return ranges;
}

/** A text, with the pieces that the quote gets from around it lighter. */
function lighten(text: string, chain: readonly Range[], start = 0): (Node | string)[] {
  return cut({ kind: "run", text, start, end: start + text.length }, chain).map((part) =>
    part.inside ? element("span", { class: "chain", part: "chain" }, part.text) : part.text,
  );
}

/** The ranges of the pieces that are not words of the quote itself. */
function chainOf(pieces: readonly QuotePiece[], ranges: readonly Range[] = []): readonly Range[] {
  return ranges.filter((_, place) => pieces[place]?.role !== undefined);
}

/** The words of a quote with what gives them their meaning, if they are not just words of the passage. */
export function statementOf(quote: Quote): HTMLElement | undefined {
  const { pieces } = quote;
  const [words, shown] = [wholeWords(quote), shownWords(quote)];
  // The answer has what comes before right before the quote.
  const start = words.endsWith(shown) ? words.length - shown.length : 0;
  const chain = [{ start: 0, end: start }, ...chainOf(pieces, findPieces(words, pieces, start))];
  if (start === 0 && chain.length === 1) return undefined;
  return element(
    "p",
    { class: "card-statement", dir: "auto", "data-role": "card-statement" },
    ...lighten(words, chain),
  );
}

/**
 * Shows the chains of quotes lighter in an answer that is complete. `text` has its text and markers; markers have their number in
 * `data-index`.
 */
export function lightenChains(text: HTMLElement, citations: readonly Citation[]): void {
  const nodes = [...textNodes(text)];
  const answer = nodes.map(({ text }) => text).join("");
  const chain = citations.flatMap((citation) =>
    citation.quotes.flatMap(({ pieces }) => chainOf(pieces, findStatement(answer, pieces, citation))),
  );
  let at = 0;
  for (const { node, text } of nodes) {
    const [start, end] = [at, (at += text.length)];
    const inside = merged(chain).filter((range) => overlap(range, { start, end }));
    if (node instanceof Text && inside.length > 0) node.replaceWith(...lighten(text, inside, start));
  }
}

/** The texts of an answer in order, and its markers as they are written. Text that is light already is only text. */
function* textNodes(parent: Node): Generator<{ readonly node: Node; readonly text: string }> {
  for (const node of parent.childNodes) {
    if (node instanceof Text) yield { node, text: node.data };
    else if (node instanceof Element && node.matches(".marker"))
      yield { node, text: `[${node.getAttribute("data-index") ?? ""}]` };
    else if (node instanceof Element && node.matches(".chain")) yield { node, text: node.textContent };
    else yield* textNodes(node);
  }
}

/** Matches a piece; its white space may differ. */
function patternOf(piece: string): string {
  const words = piece.split(/\s+/).filter((word) => word !== "");
  // Nothing has no place.
  return words.length === 0 ? "(?!)" : words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+");
}
