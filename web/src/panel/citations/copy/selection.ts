import type { AnswerView } from "../answer-view.js";
import { asMarkdown, asPlainText, type CopiedPiece } from "./formats.js";

/** Elements that start a new line. */
const LINES = "blockquote, details, div, h2, h3, li, summary, table, tr, ul";
/** Elements that are separated by a space. */
const PARTS = "summary > *, .source-heading > *, td, th";
/** Elements that are hidden, or controls. */
const SKIPPED =
  "[hidden], .visually-hidden, [aria-hidden=true], details:not([open]) > :not(summary), [popover], button:not(.marker)";

/**
 * Copies a selection as whole answers are copied: badges become titles of documents, and footnotes in `text/markdown`.
 * A selection outside the answers is left to the browser.
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

/** The selection inside a shadow root; browsers have different ways to get it. */
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

/** Splits the selection into pieces. A badge is copied as a whole if any of it is selected. */
function piecesOf(range: Range, answers: readonly AnswerView[]): CopiedPiece[] {
  const pieces = new Pieces();
  const note = () => answers[0]?.translator.format("generatedCopy") ?? "";
  const walk = (node: Node): void => {
    if (!range.intersectsNode(node)) return;
    if (node instanceof Text) return pieces.addText(selectedText(node, range));
    if (!(node instanceof Element) || node.matches(SKIPPED)) return;
    if (node.matches(".marker"))
      return touchesWithoutSelecting(node, range) ? undefined : pieces.addBadge(node, answers);
    if (node.matches(".generated-note")) return pieces.addParagraph(note());
    const separator = separatorOf(node);
    pieces.separate(separator);
    for (const child of node.childNodes) walk(child);
    pieces.separate(separator);
  };
  const { commonAncestorContainer: common } = range;
  walk((common instanceof Element ? common : common.parentElement)?.closest(".marker") ?? common);
  if (answers.some((answer) => answer.isWithoutNote(range))) pieces.addParagraph(note());
  return pieces.list;
}

/** The separator between an element and its neighbours. */
function separatorOf(element: Element): string {
  if (element.matches("article, p, pre, section")) return "\n\n";
  if (element.matches(LINES)) return "\n";
  return element.matches(PARTS) ? " " : "";
}

/** Whether a selection begins or ends in a badge without selecting a character of it. */
function touchesWithoutSelecting(
  badge: Element,
  { startContainer, startOffset, endContainer, endOffset }: Range,
): boolean {
  const length = (node: Node) => (node instanceof Text ? node.length : node.childNodes.length);
  return (
    (badge.contains(endContainer) && endOffset === 0) ||
    (badge.contains(startContainer) && startOffset === length(startContainer))
  );
}

function selectedText(node: Text, { startContainer, startOffset, endContainer, endOffset }: Range): string {
  return node.data.slice(node === startContainer ? startOffset : 0, node === endContainer ? endOffset : undefined);
}

/** From the narrowest to the widest. */
const SEPARATORS: readonly string[] = ["", " ", "\n", "\n\n"];

class Pieces {
  readonly list: CopiedPiece[] = [];
  /** The separator before the next piece. */
  #separator = "";

  addText(text: string): void {
    if (text === "") return;
    this.#separate();
    this.list.push({ kind: "text", text });
  }

  addParagraph(text: string): void {
    this.separate("\n\n");
    this.addText(text);
    this.separate("\n\n");
  }

  addBadge(badge: Element, answers: readonly AnswerView[]): void {
    const target = answers.map((answer) => answer.targetOf(badge)).find((each) => each !== undefined);
    this.#separate();
    this.list.push(
      target ? { kind: "source", target } : { kind: "text", text: `[${badge.getAttribute("data-index") ?? ""}]` },
    );
  }

  /** Separates the previous piece from the next one; of several separators, the widest counts. */
  separate(separator: string): void {
    if (this.list.length > 0 && SEPARATORS.indexOf(separator) > SEPARATORS.indexOf(this.#separator))
      this.#separator = separator;
  }

  #separate(): void {
    if (this.#separator !== "") this.list.push({ kind: "text", text: this.#separator });
    this.#separator = "";
  }
}
