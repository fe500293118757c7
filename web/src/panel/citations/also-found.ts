import type { FoundPassage } from "../../client/wire.js";
import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { headingOf } from "./heading.js";
import { type Download, linksOf } from "./links.js";
import { excerptOf } from "./passage/draw.js";

/** The list of passages that the answer does not quote. They are not sources, so the list starts closed. */
export function alsoFound(
  passages: readonly FoundPassage[],
  translator: Translator,
  download: Download,
): HTMLElement | undefined {
  if (passages.length === 0) return undefined;
  const { t } = translator;
  return element(
    "details",
    { class: "also-found", part: "also-found", "data-role": "also-found" },
    element(
      "summary",
      { class: "button quiet", title: t("alsoFoundHelp") },
      t("alsoFound", { count: passages.length }),
      icon(icons.chevron),
    ),
    element("ul", {}, ...passages.map((passage) => element("li", {}, entryOf(passage, translator, download)))),
  );
}

/** One passage. Its content is created when it opens for the first time. */
function entryOf(passage: FoundPassage, translator: Translator, download: Download): HTMLElement {
  const summary = element("summary", {}, headingOf(passage, [passage], translator), icon(icons.chevron));
  const entry = element("details", { class: "source", part: "found", "data-role": "found" }, summary);
  const draw = () => {
    if (entry.lastChild !== summary) return;
    const links = linksOf(passage, translator, download);
    entry.append(element("div", { class: "source-body" }, excerptOf(passage), links));
  };
  // On click, so that it opens at its full height; on toggle, because browsers open it for a search in the page.
  summary.addEventListener("click", draw);
  entry.addEventListener("toggle", draw);
  return entry;
}
