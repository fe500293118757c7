import { type Branch, cut, isHead, overlap, type PassageNode, type Range, type Run, runsOf } from "./tree.js";

/** Number of characters shown before and after a quote. */
const CONTEXT_LENGTH = 140;
/** Only the beginning of a longer quote is shown. */
const MAX_QUOTE_LENGTH = 500;
/** Characters that a border may move to fall between two words. */
const MAX_WORD_SHIFT = 24;

/** The part of a source around a quote, cut between words if possible. */
export function windowAround(source: string, quote: Range): Range {
  const from = Math.max(0, quote.start - CONTEXT_LENGTH);
  const to = Math.min(source.length, Math.min(quote.end, quote.start + MAX_QUOTE_LENGTH) + CONTEXT_LENGTH);
  const spaceAfter = source.slice(from, Math.min(from + MAX_WORD_SHIFT, quote.start)).search(/\s/);
  const wordsBefore = source.slice(Math.max(to - MAX_WORD_SHIFT, quote.start), to).search(/\s\S*$/);
  const start = from > 0 && spaceAfter >= 0 ? from + spaceAfter + 1 : from;
  const end = to < source.length && wordsBefore >= 0 ? Math.max(to - MAX_WORD_SHIFT, quote.start) + wordsBefore : to;
  return { start: wholeCharacter(source, start), end: wholeCharacter(source, end) };
}

/** The part of a passage inside a window, with "…" for omitted text. Table rows stay whole and keep the heads of the table. */
export function clip(nodes: readonly PassageNode[], window: Range): readonly PassageNode[] {
  const kept = inside(nodes, window);
  const runs = [...runsOf(nodes)].filter(({ text }) => text.trim() !== "");
  const begun = runs.some(({ start }) => start < window.start) ? withEllipsis(kept, "start") : kept;
  return runs.some(({ end }) => end > window.end) ? withEllipsis(begun, "end") : begun;
}

function inside(nodes: readonly PassageNode[], window: Range): readonly PassageNode[] {
  return nodes.flatMap((node): PassageNode[] => {
    if (node.kind === "run") return insideRun(node, window);
    if (node.tag === "table") return insideTable(node, window);
    const children = inside(node.children, window);
    return children.length > 0 ? [{ ...node, children }] : [];
  });
}

function insideRun(run: Run, window: Range): Run[] {
  if (!overlap(run, window)) return [];
  const text = cut(run, [window]).find((part) => part.inside)?.text ?? "";
  const start = Math.max(run.start, window.start);
  return [{ ...run, text, start, end: start + text.length }];
}

function insideTable(table: Branch, window: Range): Branch[] {
  const isInside = (row: PassageNode) => [...runsOf([row])].some((run) => overlap(run, window));
  if (!table.children.some(isInside)) return [];
  return [{ ...table, children: table.children.filter((row) => isHead(row) || isInside(row)) }];
}

/** Puts "…" before the first run, or after the last. */
function withEllipsis(nodes: readonly PassageNode[], side: "start" | "end"): readonly PassageNode[] {
  const node = nodes.at(side === "start" ? 0 : -1);
  if (!node) return nodes;
  if (node.kind === "branch") {
    const clipped = { ...node, children: withEllipsis(node.children, side) };
    return nodes.map((other) => (other === node ? clipped : other));
  }
  // Its place is outside of every passage, so it is never highlighted.
  const ellipsis: Run = { kind: "run", text: side === "start" ? "… " : " …", start: -2, end: 0 };
  return side === "start" ? [ellipsis, ...nodes] : [...nodes, ellipsis];
}

/** The offset, moved out of a surrogate pair. */
function wholeCharacter(source: string, at: number): number {
  return at > 0 && /[\uDC00-\uDFFF]/.test(source[at] ?? "") && /[\uD800-\uDBFF]/.test(source[at - 1] ?? "")
    ? at - 1
    : at;
}
