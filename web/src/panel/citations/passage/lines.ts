import type { PassageNode, Run, Tag } from "./tree.js";

/** Stands for each character of the number of a footnote. */
export const FOOTNOTE = "\uFFFC";

/** The parts that do not begin a line. */
const INLINE: ReadonlySet<Tag> = new Set(["code", "emphasis", "reference", "strong"]);

/** The runs of each line: of a block, of a cell, or of text between line breaks and tabs. Pages do not have markers of items as text. */
export function linesOf(nodes: readonly PassageNode[]): readonly (readonly Run[])[] {
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
