import type { FoundPassage } from "../../src/client/wire.js";
import { element } from "../../src/dom/element.js";
import { sectionOf } from "../../src/panel/citations/documents.js";
import type { PageLanguage } from "../language.js";

/** Passages near the question that are not quoted, with name and cosine similarity. */
export function passageList(heading: string, passages: readonly FoundPassage[], language: PageLanguage): HTMLElement {
  const items = passages.map((passage) => element("li", { dir: "auto" }, nameOf(passage, language)));
  return element("div", { class: "closest" }, element("h4", {}, heading), element("ul", {}, ...items));
}

function nameOf(passage: FoundPassage, language: PageLanguage): string {
  const { title, page, score } = passage;
  const section = sectionOf(passage);
  const value = language.number(score, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return [
    section === undefined ? title : `${title} › ${section}`,
    ...(page === undefined ? [] : [language.say("page", { page: language.number(page) })]),
    language.say("cosine", { value }),
  ].join(" · ");
}
