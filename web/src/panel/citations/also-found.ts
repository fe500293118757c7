import type { FoundPassage } from "../../client/wire.js";
import { type Attributes, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { headingOf } from "./heading.js";
import { type Download, linksOf } from "./links.js";
import { excerptOf } from "./passage/draw.js";

/**
 * The list of passages that the answer does not quote. They are not sources, so the list starts closed, and its entries are created after
 * the answer is shown.
 */
export function alsoFound(
  passages: readonly FoundPassage[],
  translator: Translator,
  download: Download,
): HTMLElement | undefined {
  if (passages.length === 0) return undefined;
  const { t } = translator;
  const summary = element(
    "summary",
    { class: "button quiet", title: t("alsoFoundHelp") },
    t("alsoFound", { count: passages.length }),
    icon(icons.chevron),
  );
  const entries = () =>
    element("ul", {}, ...passages.map((passage) => element("li", {}, entryOf(passage, translator, download))));
  const list = openable({ class: "also-found", part: "also-found", "data-role": "also-found" }, summary, entries);
  setTimeout(list.draw);
  return list.root;
}

/** One passage. Its content is created when it opens for the first time. */
function entryOf(passage: FoundPassage, translator: Translator, download: Download): HTMLElement {
  const summary = element("summary", {}, headingOf(passage, [passage], translator), icon(icons.chevron));
  const body = () =>
    element("div", { class: "source-body" }, excerptOf(passage), linksOf(passage, translator, download));
  return openable({ class: "source", part: "found", "data-role": "found" }, summary, body).root;
}

/** A `details` element whose content is created when it opens for the first time, or by `draw`. */
function openable(attributes: Attributes, summary: HTMLElement, content: () => HTMLElement) {
  const root = element("details", attributes, summary);
  const draw = (): void => {
    if (root.lastChild === summary) root.append(content());
  };
  // On click, so that it opens at its full height; on toggle, because browsers open it for a search in the page.
  summary.addEventListener("click", draw);
  root.addEventListener("toggle", draw);
  return { root, draw };
}
