import { safeUrl } from "../../client/safe-url.js";
import type { Citation, FoundPassage } from "../../client/wire.js";
import { layOut } from "./passage/blocks.js";
import { cut, type PassageNode, type Range, type Run, type Tag } from "./passage/tree.js";
import { citedSpans } from "./quotes.js";

/** Longer words, in UTF-16 code units, are not put into a URL. */
const MAX_TERM_LENGTH = 200;
/** A URL names at most this number of places. Browsers scroll to the first one and highlight all. */
const MAX_DIRECTIVES = 4;
/** More words are named by their beginning and their end, because the middle may differ on the page. */
const MAX_EXACT_WORDS = 12;
const WORDS_OF_END = 5;
/** Fewer words may occur several times on the page, so the words next to them are named too. */
const MIN_DISTINCT_WORDS = 4;
const WORDS_OF_CONTEXT = 3;
/** Stands for each character of the number of a footnote. */
const FOOTNOTE = "\uFFFC";
/** A footnote with the word before it: pages show it as a raised number, which belongs to the same word. */
const WORD_WITH_FOOTNOTE = /[\p{L}\p{N}]{0,40}\uFFFC+/u;

/**
 * The URL of a passage, which opens at the cited words where the browser supports it: the page of a PDF, or a text fragment
 * (`#:~:text=…`). A fragment of the URL stays; if the words are not on the page, the browser opens it as without them.
 * @param cited - The passages of the document whose words are cited.
 */
export function urlOfWords(
  passage: FoundPassage,
  cited: readonly Citation[],
  areTextFragmentsSupported = "fragmentDirective" in document,
): string | undefined {
  const address = safeUrl(passage.url);
  if (address === undefined) return passage.url;
  const url = new URL(address);
  const isPdf = /\bpdf\b/i.test(passage.content_type ?? "") || /\.pdf$/i.test(url.pathname);
  if (isPdf) {
    if (url.hash === "" && passage.page !== undefined) url.hash = `page=${passage.page}`;
    return url.href;
  }
  if (!areTextFragmentsSupported || url.hash.includes(":~:")) return url.href;
  const directives = new Set(
    cited.flatMap((citation) => citedSpans(citation).flatMap((span) => directive(citation, span) ?? [])),
  );
  if (directives.size === 0) return url.href;
  const named = [...directives].slice(0, MAX_DIRECTIVES).join("&");
  return `${url.href.replace(/#$/, "")}${url.hash === "" ? "#" : ""}:~:${named}`;
}

/** A line of the passage that contains cited words, and the words around them in their line. */
interface CitedLine {
  readonly before: string;
  readonly cited: string;
  readonly after: string;
}

/**
 * The text directive of a range of a passage: `text=[prefix-,]start[,end][,-suffix]`. Each term is within a line, because
 * browsers do not find words across blocks. `undefined` if the range has no words.
 */
function directive(citation: Citation, range: Range): string | undefined {
  const lines = linesOf(layOut(citation.excerpt, citation.blocks)).map((line) => splitLine(line, range));
  const isCited = ({ cited }: CitedLine) => wordsOf(cited).length > 0;
  const [from, to] = [lines.findIndex(isCited), lines.map(isCited).lastIndexOf(true)];
  const pieces = lines
    .slice(from, to + 1)
    .flatMap(({ cited }) => cited.split(WORD_WITH_FOOTNOTE))
    .filter((text) => wordsOf(text).length > 0);
  const [first, last] = [pieces[0], pieces.at(-1)];
  if (from < 0 || first === undefined || last === undefined) return undefined;

  const isWhole = pieces.length === 1 && wordsOf(first).length <= MAX_EXACT_WORDS;
  const start = isWhole ? first.trim() : throughWord(first, WORDS_OF_END);
  const ends = isWhole ? [] : [words(fromWord(last, WORDS_OF_END))];
  if (wordsOf(start).length >= MIN_DISTINCT_WORDS) return encoded([words(start), ...ends]);
  const prefix = fromWord(neighbour(lines[from]?.before, lines[from - 1]), WORDS_OF_CONTEXT);
  if (prefix !== "") return encoded([start, ...ends], { prefix });
  const suffix = throughWord(neighbour(lines[to]?.after, lines[to + 1]), WORDS_OF_CONTEXT);
  return encoded([start, ...ends], { suffix });
}

function splitLine(line: readonly Run[], range: Range): CitedLine {
  const texts = { before: "", cited: "", after: "" };
  for (const run of line) {
    for (const { text, inside } of cut(run, [range])) {
      texts[inside ? "cited" : texts.cited === "" ? "before" : "after"] += text;
    }
  }
  return texts;
}

/** The text next to cited words: the rest of their line, or else the next line; "" if it has a footnote. */
function neighbour(rest = "", line: CitedLine = { before: "", cited: "", after: "" }): string {
  const text = rest.trim() === "" ? line.before + line.cited + line.after : rest;
  return WORD_WITH_FOOTNOTE.test(text) ? "" : text;
}

function encoded(terms: readonly string[], { prefix = "", suffix = "" } = {}): string | undefined {
  // A lone surrogate has no encoding.
  if ([...terms, prefix, suffix].some((term) => term.length > MAX_TERM_LENGTH || /\p{Cs}/u.test(term)))
    return undefined;
  const all = terms.map(encode);
  if (prefix !== "") all.unshift(`${encode(prefix)}-`);
  if (suffix !== "") all.push(`-${encode(suffix)}`);
  return `text=${all.join(",")}`;
}

/** `-`, `,` and `&` separate the parts of a directive. */
function encode(term: string): string {
  return encodeURIComponent(term).replaceAll("-", "%2D");
}

/** The beginning of a text through the end of a word, with the punctuation before and between. */
function throughWord(text: string, count: number): string {
  return text.slice(0, wordsOf(text).slice(0, count).at(-1)?.end ?? 0).trim();
}

/** The end of a text from the beginning of a word, with the punctuation between and after; `count` words. */
function fromWord(text: string, count: number): string {
  return text.slice(wordsOf(text).at(-count)?.start ?? wordsOf(text)[0]?.start ?? text.length).trim();
}

/** The text without punctuation before and after its words. */
function words(text: string): string {
  const all = wordsOf(text);
  return text.slice(all[0]?.start ?? 0, all.at(-1)?.end ?? 0);
}

/** Folds a text for comparison: removes case, accents, character width and thousands separators. */
export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "");
}

/** A word of a text. */
interface Word {
  readonly text: string;
  /** UTF-16 units from the beginning of the text. */
  readonly start: number;
  readonly end: number;
}

/** Matches a word in a browser without `Intl.Segmenter`. */
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

/** The parts that do not begin a line. */
const INLINE: ReadonlySet<Tag> = new Set(["code", "emphasis", "reference", "strong"]);

/** The runs of each line: of a block, of a cell, or of text between line breaks and tabs. Pages do not have markers of items as text. */
function linesOf(nodes: readonly PassageNode[]): readonly (readonly Run[])[] {
  const lines: Run[][] = [[]];
  const readRun = (run: Run): void => {
    let { start } = run;
    for (const [number, text] of run.text.split(/[\n\t]/).entries()) {
      if (number > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ ...run, text, start, end: start + text.length });
      start += text.length + 1;
    }
  };
  const read = (node: PassageNode): void => {
    if (node.kind === "run") return readRun(node);
    if (node.tag === "marker") return;
    const isBlock = !INLINE.has(node.tag);
    if (isBlock) lines.push([]);
    for (const child of node.children) {
      if (node.tag === "reference" && child.kind === "run")
        readRun({ ...child, text: FOOTNOTE.repeat(child.text.length) });
      else read(child);
    }
    if (isBlock) lines.push([]);
  };
  nodes.forEach(read);
  return lines.filter((line) => line.length > 0);
}
