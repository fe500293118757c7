import type { FoundPassage } from "../../../client/wire.js";
import { withoutBidiControls } from "../../../dom/bidi.js";
import { element } from "../../../dom/element.js";
import { layOut } from "./blocks.js";
import { type Branch, cut, isHead, type PassageNode, type Range } from "./tree.js";

/**
 * Creates the elements of a passage, with ranges of it highlighted. The ranges are sorted and do not overlap.
 */
export function drawPassage(nodes: readonly PassageNode[], quotes: readonly Range[]): Node[] {
  return nodes.flatMap((node) => {
    if (node.kind === "branch") return drawBranch(node, quotes);
    return cut(node, quotes).map(({ text, inside }) => (inside ? mark(text) : drawText(text)));
  });
}

function drawBranch(branch: Branch, quotes: readonly Range[]): Node {
  const children = drawPassage(branch.children, quotes);
  switch (branch.tag) {
    case "plain":
      return element("p", { class: "plain", dir: "auto" }, ...children);
    case "paragraph":
      return element("p", { dir: "auto" }, ...children);
    case "heading":
      return element("p", { class: "heading", dir: "auto" }, ...children);
    case "items":
      return element("ul", { dir: "auto" }, ...children);
    case "marker":
      return element("span", { class: "item-marker" }, ...children);
    case "item":
      return element("li", {}, ...children);
    case "table":
      return drawTable(branch, quotes);
    case "row":
      return element("tr", {}, ...children);
    case "cell":
      return element("td", { dir: "auto" }, ...children);
    case "head":
      return element("th", { dir: "auto" }, ...children);
    case "codeBlock":
      return element("pre", { tabindex: 0, dir: "ltr" }, element("code", {}, ...children));
    case "code":
      return element("code", {}, ...children);
    case "emphasis":
      return element("em", {}, ...children);
    case "strong":
      return element("strong", {}, ...children);
    case "reference":
      return element("sup", {}, ...children);
  }
}

/** A wide table scrolls in its own region, also by keyboard. */
function drawTable({ children: rows }: Branch, quotes: readonly Range[]): Node {
  const body = rows.findIndex((row) => !isHead(row));
  const heads = rows.slice(0, body < 0 ? rows.length : body);
  const part = (tag: "thead" | "tbody", content: readonly PassageNode[]) =>
    content.length > 0 ? element(tag, {}, ...drawPassage(content, quotes)) : undefined;
  return element(
    "div",
    { class: "table", tabindex: 0 },
    element("table", {}, part("thead", heads), part("tbody", rows.slice(heads.length))),
  );
}

function mark(text: string): HTMLElement {
  return element("mark", { part: "quote", "data-role": "quote" }, drawText(text));
}

/** A line break inside a paragraph is a separate run. */
function drawText(text: string): Node {
  return text === "\n" ? element("br") : document.createTextNode(withoutBidiControls(text));
}

/** A longer passage, in UTF-16 code units, gets its own scrollbar. */
const MAX_UNSCROLLED_LENGTH = 4000;

/** The whole text of a passage, with ranges of it highlighted. */
export function excerptOf({ excerpt, blocks }: FoundPassage, quotes: readonly Range[] = []): HTMLElement | undefined {
  if (excerpt === undefined) return undefined;
  const isLong = excerpt.length > MAX_UNSCROLLED_LENGTH;
  return element(
    "blockquote",
    { class: isLong ? "excerpt long" : "excerpt", tabindex: isLong && 0, "data-role": "excerpt" },
    ...drawPassage(layOut(excerpt, blocks), quotes),
  );
}
