import type { PassageBlock, PassageLayout, PassageMark } from "../../../client/wire.js";
import { type Branch, overlap, type PassageNode, type Range, type Tag } from "./tree.js";

/** A layout with more parts is ignored, because drawing it could take long. Ordinary ones have some dozens. */
const MAX_PARTS = 2000;
/** Deeper items are drawn at this depth, and deeper marks not at all. */
const MAX_DEPTH = 16;

/** White space with a blank line, which separates paragraphs. */
const BLANK_LINES = /(\n(?:[^\S\n]*\n)+)/;

/**
 * A passage as its layout says. The text decides: each of its characters other than white space is in one run, whatever the layout
 * is. Text outside of valid blocks, or without a layout, has paragraphs at blank lines.
 */
export function layOut(text: string, layout: PassageLayout = { blocks: [] }): readonly PassageNode[] {
  const { blocks, marks = [] } = layout;
  if (blocks.length + marks.length > MAX_PARTS) return layOut(text);
  const passage = new LaidOut(text, marks);
  let at = 0;
  for (const block of blocks) {
    if (!(block.start >= at && block.end > block.start && block.end <= text.length)) continue;
    passage.addRest({ start: at, end: block.start });
    passage.add(block);
    at = block.end;
  }
  passage.addRest({ start: at, end: text.length });
  return passage.nodes;
}

/** The text of a link is drawn, and the link is not known. */
type DrawnMark = PassageMark & { readonly kind: Exclude<PassageMark["kind"], "link"> };

function isDrawn(mark: PassageMark): mark is DrawnMark {
  return mark.kind !== "link" && mark.start < mark.end;
}

/** An item that may get more blocks, and its list. */
interface OpenItem {
  readonly depth: number;
  readonly list: PassageNode[];
  readonly content: PassageNode[];
}

class LaidOut {
  readonly nodes: PassageNode[] = [];
  readonly #text: string;
  readonly #marks: readonly DrawnMark[];
  /** The outermost first. */
  readonly #items: OpenItem[] = [];
  /** The rows of the table that the latest block belongs to. */
  #rows: PassageNode[] | undefined;

  constructor(text: string, marks: readonly PassageMark[]) {
    this.#text = text;
    this.#marks = marks.filter(isDrawn).sort((a, b) => a.start - b.start || b.end - a.end);
  }

  /** Adds text that no block contains. */
  addRest({ start, end }: Range): void {
    let at = start;
    for (const part of this.#text.slice(start, end).split(BLANK_LINES)) {
      const words = part.trim();
      const from = at + part.indexOf(words);
      at += part.length;
      if (words === "") continue;
      this.#leaveItems(0);
      this.#rows = undefined;
      this.nodes.push(branch("paragraph", this.#runs({ start: from, end: from + words.length })));
    }
  }

  add(block: PassageBlock): void {
    const depth = Math.min(block.depth ?? 0, MAX_DEPTH);
    const cells = block.kind === "row" ? this.#cells(block) : undefined;
    if (block.kind === "item") this.#addItem(block, depth);
    else {
      this.#leaveItems(depth);
      const place = this.#items.at(-1)?.content ?? this.nodes;
      if (cells) return this.#addRow(cells, place);
      place.push(
        block.kind === "code" ? branch("codeBlock", this.#runs(block)) : branch(TAGS[block.kind], this.#words(block)),
      );
    }
    this.#rows = undefined;
  }

  #addItem({ start, end, text = start }: PassageBlock, depth: number): void {
    this.#leaveItems(depth + 1);
    const before = this.#items.at(-1)?.depth === depth ? this.#items.pop() : undefined;
    const list = before?.list ?? [];
    if (!before) (this.#items.at(-1)?.content ?? this.nodes).push(branch("items", list));
    const words = Math.min(Math.max(text, start), end);
    const marker = words > start ? [branch("marker", this.#runs({ start, end: words }))] : [];
    const content: PassageNode[] = [branch("paragraph", [...marker, ...this.#words({ start: words, end })])];
    list.push(branch("item", content));
    this.#items.push({ depth, list, content });
  }

  #addRow(cells: PassageNode[], place: PassageNode[]): void {
    if (!this.#rows) place.push(branch("table", (this.#rows = [])));
    this.#rows.push(branch("row", cells));
  }

  /** The cells of a row; `undefined` if they overlap or text of the row is outside of them. */
  #cells({ cells = [], start, end, is_header = false }: PassageBlock): PassageNode[] | undefined {
    const outside = [...cells, [end, end] as const].map(
      ([next], place) => [cells[place - 1]?.[1] ?? start, next] as const,
    );
    const isWhole = outside.every(([from, to]) => from <= to && this.#text.slice(from, to).trim() === "");
    if (!isWhole || cells.some(([from, to]) => from > to)) return undefined;
    return cells.map(([from, to]) => branch(is_header ? "head" : "cell", this.#words({ start: from, end: to })));
  }

  /** A passage may begin inside a list, so there need not be an item at each depth. */
  #leaveItems(depth: number): void {
    while ((this.#items.at(-1)?.depth ?? -1) >= depth) this.#items.pop();
  }

  /** Text with its marks. */
  #words(range: Range, marks = this.#marks, depth = 0): PassageNode[] {
    const nodes: PassageNode[] = [];
    const inside = marks.filter((mark) => overlap(mark, range));
    let at = range.start;
    for (const [place, mark] of inside.entries()) {
      const part = { start: Math.max(mark.start, at), end: Math.min(mark.end, range.end) };
      if (part.start >= part.end) continue;
      const nested = depth < MAX_DEPTH ? inside.slice(place + 1) : [];
      nodes.push(...this.#runs({ start: at, end: part.start }));
      nodes.push(branch(mark.kind, this.#words(part, nested, depth + 1)));
      at = part.end;
    }
    return [...nodes, ...this.#runs({ start: at, end: range.end })];
  }

  /** Text without marks; nothing if it is empty. */
  #runs({ start, end }: Range): PassageNode[] {
    return start < end ? [{ kind: "run", text: this.#text.slice(start, end), start, end }] : [];
  }
}

const TAGS = {
  paragraph: "paragraph",
  heading: "heading",
  question: "heading",
  label: "heading",
  row: "paragraph",
} as const;

function branch(tag: Tag, children: readonly PassageNode[]): Branch {
  return { kind: "branch", tag, children };
}
