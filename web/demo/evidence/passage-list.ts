import type { FoundPassage } from "../../src/client/wire.js";
import { element } from "../../src/dom/element.js";
import { sectionOf } from "../../src/panel/citations/documents.js";
import { cosine, number } from "../format.js";

/** Passages near the question that are not quoted, with name and cosine similarity. */
export function passageList(heading: string, passages: readonly FoundPassage[]): HTMLElement {
  const items = passages.map((passage) => element("li", { dir: "auto" }, nameOf(passage)));
  return element("div", { class: "closest" }, element("h4", {}, heading), element("ul", {}, ...items));
}

function nameOf(passage: FoundPassage): string {
  const { title, page, score } = passage;
  const section = sectionOf(passage);
  return [
    section === undefined ? title : `${title} › ${section}`,
    ...(page === undefined ? [] : [`page ${number(page)}`]),
    `Cosine ${cosine(score)}`,
  ].join(" · ");
}
