import type { FoundPassage } from "../../../client/wire.js";
import { withoutBidiControls } from "../../../client/text.js";
import { type Attributes, element } from "../../../dom/element.js";
import { layOut } from "./blocks.js";
import { type Branch, cut, isHead, type PassageNode, type Range, type Tag } from "./tree.js";

/** Creates the elements of a passage, with ranges of it highlighted. The ranges are sorted and do not overlap. */
export function drawPassage(nodes: readonly PassageNode[], quotes: readonly Range[]): Node[] {
  return nodes.flatMap((node) => {
    if (node.kind === "run") return cut(node, quotes).map(({ text, inside }) => (inside ? mark(text) : drawText(text)));
    if (node.tag === "table") return drawTable(node, quotes);
    const [tag, attributes] = ELEMENTS[node.tag];
    return element(tag, attributes, ...drawPassage(node.children, quotes));
  });
}

const ELEMENTS: Readonly<Record<Exclude<Tag, "table">, readonly [keyof HTMLElementTagNameMap, Attributes?]>> = {
  paragraph: ["p", { dir: "auto" }],
  heading: ["p", { class: "heading", dir: "auto" }],
  items: ["ul", { dir: "auto" }],
  item: ["li"],
  marker: ["span", { class: "item-marker" }],
  row: ["tr"],
  cell: ["td", { dir: "auto" }],
  head: ["th", { dir: "auto" }],
  codeBlock: ["pre", { tabindex: 0, dir: "ltr" }],
  code: ["code"],
  emphasis: ["em"],
  strong: ["strong"],
  reference: ["sup"],
};

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

function drawText(text: string): Node {
  return document.createTextNode(withoutBidiControls(text));
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
