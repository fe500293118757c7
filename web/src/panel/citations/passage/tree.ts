/** A part of a text from `start` to `end` (exclusive), in UTF-16 code units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Text of a passage, with its place there. */
export interface Run extends Range {
  readonly kind: "run";
  readonly text: string;
}

/** A part of a passage with children. */
export interface Branch {
  readonly kind: "branch";
  readonly tag: Tag;
  readonly children: readonly PassageNode[];
}

/** The kinds of parts. */
export type Tag =
  | "cell"
  | "code"
  | "codeBlock"
  | "emphasis"
  | "head"
  | "heading"
  | "item"
  | "items"
  | "marker"
  | "paragraph"
  | "reference"
  | "row"
  | "strong"
  | "table";

/** Whether a part of a table is a row with the names of its columns. */
export function isHead(row: PassageNode): boolean {
  return row.kind === "branch" && row.children.some((cell) => cell.kind === "branch" && cell.tag === "head");
}

/** A passage, or part of one. */
export type PassageNode = Branch | Run;

/** All runs in order. */
export function* runsOf(nodes: readonly PassageNode[]): Generator<Run> {
  for (const node of nodes) {
    if (node.kind === "run") yield node;
    else yield* runsOf(node.children);
  }
}

/** Cuts a run at the borders of ranges of the passage. The ranges are sorted and do not overlap. */
export function cut(
  run: Run,
  ranges: readonly Range[],
): readonly { readonly text: string; readonly inside: boolean }[] {
  const { text, start, end } = run;
  const parts: { text: string; inside: boolean }[] = [];
  let at = start;
  const take = (to: number, inside: boolean): void => {
    if (to > at) parts.push({ text: text.slice(at - start, to - start), inside });
    at = Math.max(at, to);
  };
  for (const range of ranges) {
    if (!overlap(run, range)) continue;
    take(range.start, false);
    take(Math.min(range.end, end), true);
  }
  take(end, false);
  return parts;
}

/** Whether two ranges overlap. */
export function overlap(a: Range, b: Range): boolean {
  return a.start < b.end && b.start < a.end;
}

/** The ranges sorted, with adjacent and overlapping ones merged. */
export function merged(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && range.start <= last.end) all[all.length - 1] = { ...last, end: Math.max(last.end, range.end) };
    else all.push(range);
  }
  return all;
}
