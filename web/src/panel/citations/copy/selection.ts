import type { AnswerView } from "../answer-view.js";
import { asMarkdown } from "./markdown.js";
import type { CopiedPiece } from "./pieces.js";
import { asPlainText } from "./plain-text.js";

/** Elements that stand on lines of their own. */
const LINES = "blockquote, details, div, h2, h3, li, ol, summary, table, tr, ul";
/** Elements that stand beside others. */
const PARTS = "summary > *, .source-heading > *, td, th";
/** What is in the tree, but not on the screen, or is a control. */
const UNSEEN =
  "[hidden], .visually-hidden, [aria-hidden=true], details:not([open]) > :not(summary), [popover], button:not(.marker)";

/**
 * Copies a selection in a widget the way its answers are copied: badges become the names of their documents, and footnotes
 * in `text/markdown`. A selection without a word of an answer is left to the browser.
 */
export function copySelection(event: ClipboardEvent, root: ShadowRoot, answers: Iterable<AnswerView>): void {
  const [target] = event.composedPath();
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement) return;
  const range = selectedRange(root);
  const selected = [...answers].filter((answer) => range?.intersectsNode(answer.root));
  const [first] = selected;
  if (!range || !first || !event.clipboardData || !root.contains(range.commonAncestorContainer)) return;
  const pieces = piecesOf(range, selected);
  event.clipboardData.setData("text/plain", asPlainText(pieces, first.translator));
  event.clipboardData.setData("text/markdown", asMarkdown(pieces, first.translator));
  event.preventDefault();
}

/** What is selected inside of a shadow root, which each browser tells in its own way. */
function selectedRange(root: ShadowRoot): Range | undefined {
  const inside = (root as ShadowRoot & { getSelection?: () => Selection | null }).getSelection?.();
  const selection = inside ?? document.getSelection();
  if (!selection || selection.rangeCount === 0) return undefined;
  if (inside || !selection.getComposedRanges) return nonEmpty(selection.getRangeAt(0));
  const [composed] = selection.getComposedRanges({ shadowRoots: [root] });
  if (!composed) return undefined;
  const range = document.createRange();
  range.setStart(composed.startContainer, composed.startOffset);
  range.setEnd(composed.endContainer, composed.endOffset);
  return nonEmpty(range);
}

function nonEmpty(range: Range): Range | undefined {
  return range.collapsed ? undefined : range;
}

/** Takes the selection apart. A badge counts as a whole if any of it is selected. */
function piecesOf(range: Range, answers: readonly AnswerView[]): CopiedPiece[] {
  const pieces = new Pieces();
  const walk = (node: Node): void => {
    if (!range.intersectsNode(node)) return;
    if (node instanceof Text) return pieces.addText(isCode(node) ? "code" : "text", selectedText(node, range));
    if (!(node instanceof Element) || node.matches(UNSEEN)) return;
    if (node.matches(".marker")) return isBesides(node, range) ? undefined : pieces.addBadge(node, answers);
    if (node.matches("br")) return pieces.addText("text", "\n");
    const separator = separatorOf(node);
    pieces.separate(separator);
    for (const child of node.childNodes) walk(child);
    pieces.separate(separator);
  };
  const { commonAncestorContainer: common } = range;
  walk((common instanceof Element ? common : common.parentElement)?.closest(".marker") ?? common);
  return pieces.list;
}

/** What stands between an element and its neighbours. */
function separatorOf(element: Element): string {
  if (element.matches("article, p, pre, section")) return "\n\n";
  if (element.matches(LINES)) return "\n";
  return element.matches(PARTS) ? " " : "";
}

/** Whether a selection that begins or ends in a badge has none of its characters. */
function isBesides(badge: Element, { startContainer, startOffset, endContainer, endOffset }: Range): boolean {
  const length = (node: Node) => (node instanceof Text ? node.length : node.childNodes.length);
  return (
    (badge.contains(endContainer) && endOffset === 0) ||
    (badge.contains(startContainer) && startOffset === length(startContainer))
  );
}

function selectedText(node: Text, { startContainer, startOffset, endContainer, endOffset }: Range): string {
  return node.data.slice(node === startContainer ? startOffset : 0, node === endContainer ? endOffset : undefined);
}

function isCode(node: Text): boolean {
  return node.parentElement?.closest(".answer-text > code") !== null;
}

/** From narrow to wide. */
const SEPARATORS: readonly string[] = ["", " ", "\n", "\n\n"];

class Pieces {
  readonly list: CopiedPiece[] = [];
  /** What is due before the next word. */
  #separator = "";

  addText(kind: "text" | "code", text: string): void {
    if (text === "") return;
    this.#separate();
    this.list.push({ kind, text });
  }

  addBadge(badge: Element, answers: readonly AnswerView[]): void {
    const target = answers.map((answer) => answer.targetOf(badge)).find((each) => each !== undefined);
    this.#separate();
    this.list.push(target ? { kind: "source", target } : { kind: "text", text: `[${badge.textContent}]` });
  }

  /** Keeps what was before apart from what comes: of several separators, the widest counts. */
  separate(separator: string): void {
    if (this.list.length > 0 && SEPARATORS.indexOf(separator) > SEPARATORS.indexOf(this.#separator))
      this.#separator = separator;
  }

  #separate(): void {
    if (this.#separator !== "") this.list.push({ kind: "text", text: this.#separator });
    this.#separator = "";
  }
}
