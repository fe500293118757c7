import { type Branch, type PassageNode, type Range, type Tag, visibleText } from "./tree.js";

/** The visible text of a table cell, and the name of its column. */
export interface Cell {
  readonly name: string;
  readonly text: string;
}

/** Separator between the cells of a row. */
const BAR = " | ";
const INLINE: ReadonlySet<Tag> = new Set(["code", "deleted", "emphasis", "link", "strong"]);

/** The visible text of a range of the source, with a new line for each block and bars between cells. */
export function readText(nodes: readonly PassageNode[], range: Range): string {
  const lines = [""];
  let isOpen = true;
  for (const node of nodes) {
    const isBlock = node.kind === "branch" && !INLINE.has(node.tag);
    const text = node.kind === "run" ? visibleText([node], range) : readBranch(node, range);
    if (text === "") continue;
    if (isBlock || !isOpen) lines.push(text);
    else lines[lines.length - 1] += text;
    isOpen = !isBlock;
  }
  return lines.filter((line) => line !== "").join("\n");
}

function readBranch(branch: Branch, range: Range): string {
  if (branch.tag !== "row") return readText(branch.children, range);
  const cells = branch.children.map((cell) => readText([cell], range));
  const first = cells.findIndex((cell) => cell !== "");
  const last = cells.findLastIndex((cell) => cell !== "");
  return first < 0 ? "" : cells.slice(first, last + 1).join(BAR);
}

/** The cells of the table row that contains a range; `undefined` if the range is not inside one row. */
export function readRow(nodes: readonly PassageNode[], range: Range): readonly Cell[] | undefined {
  const shown = nodes.filter((node) => visibleText([node], range) !== "");
  const [only] = shown;
  if (shown.length !== 1 || only?.kind !== "branch" || INLINE.has(only.tag)) return undefined;
  if (only.tag !== "table") return readRow(only.children, range);
  const [head, ...body] = only.children.map((row) => (row.kind === "branch" ? row.children : []));
  const rows = body.filter((cells) => visibleText(cells, range) !== "");
  const [row] = rows;
  if (!head || !row || rows.length > 1 || visibleText(head, range) !== "") return undefined;
  return row.map((cell, column) => ({
    name: readText(head.slice(column, column + 1), EVERYTHING),
    text: readText([cell], range),
  }));
}

const EVERYTHING: Range = { start: 0, end: Number.POSITIVE_INFINITY };
