import { type Branch, INLINE, type PassageNode, type Range, type Run, visibleText } from "./tree.js";

/** The visible text of a table cell, and the name of its column. */
export interface Cell {
  readonly name: string;
  readonly text: string;
}

/** Separator between the cells of a row. */
const BAR = " | ";

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

/**
 * The runs of each line: of a block, of a cell, or of a part between line breaks, images or markers of items, whose text pages do not
 * have.
 */
export function linesOf(nodes: readonly PassageNode[], source: string): readonly (readonly Run[])[] {
  const lines: Run[][] = [[]];
  const readRun = (run: Run): void => {
    // A run of another length than its source, such as an entity, cannot be cut.
    const texts = run.text.length === run.end - run.start ? run.text.split("\n") : [run.text];
    let { start } = run;
    for (const [number, text] of texts.entries()) {
      if (number > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push(texts.length === 1 ? run : { ...run, text, start, end: start + text.length });
      start += text.length + 1;
    }
  };
  // As Markdown writes it.
  const readReference = (node: PassageNode): void => {
    if (node.kind === "run") lines.at(-1)?.push({ ...node, text: "[^]" });
  };
  const read = (node: PassageNode): void => {
    if (node.kind === "run") {
      if (node.text === "\n" || source.startsWith("![", node.start)) lines.push([]);
      else readRun(node);
      return;
    }
    const isBlock = !INLINE.has(node.tag) || node.tag === "marker";
    if (isBlock) lines.push([]);
    if (node.tag !== "marker") node.children.forEach(node.tag === "reference" ? readReference : read);
    if (isBlock) lines.push([]);
  };
  nodes.forEach(read);
  return lines.filter((line) => line.length > 0);
}

function readBranch(branch: Branch, range: Range): string {
  if (branch.tag !== "row") return readText(branch.children, range);
  const cells = branch.children.map((cell) => readText([cell], range));
  const filled = cells.map((cell) => cell !== "");
  return cells.slice(filled.indexOf(true), filled.lastIndexOf(true) + 1).join(BAR);
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
