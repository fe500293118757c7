import { button, element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import { titleOf } from "./documents.js";
import { evidenceOf } from "./evidence.js";
import { placesOf } from "./heading.js";
import { type Download, linksOf } from "./links.js";
import { clip, windowAround } from "./passage/clip.js";
import { drawPassage } from "./passage/draw.js";
import { passageOf } from "./passage/parse.js";
import { locateQuote } from "./quotes.js";
import type { Target } from "./target.js";
import { isVerified, verifiedMark } from "./verify.js";

/** What a card needs besides its target. */
export interface CardContext {
  readonly translator: Translator;
  readonly download: Download;
  readonly answer: () => string;
  /** Shows the whole passage in the list of sources. */
  readonly reveal: () => void;
}

/** Creates the content of a badge's card. */
export function drawCard(target: Target, context: CardContext, ids: { title: string; description: string }): Node[] {
  const { citation, quote } = target;
  const { translator, download, answer, reveal } = context;
  const { excerpt } = citation;
  const nodes = passageOf(citation);
  const range = quote && locateQuote(excerpt, quote);
  const shown = clip(nodes, windowAround(excerpt, range ?? { start: 0, end: 0 }));
  const isVerifiedQuote = quote !== undefined && isVerified(citation, quote, answer());
  return [
    element(
      "div",
      { class: "card-head" },
      element("span", { class: "source-number", "aria-hidden": "true" }, String(citation.index)),
      element(
        "span",
        { class: "source-heading" },
        element(
          "span",
          { id: ids.title, class: "source-title", "data-role": "card-title" },
          element("bdi", {}, titleOf(citation, translator)),
        ),
        placesOf([citation], translator),
      ),
    ),
    element(
      "div",
      { id: ids.description, class: "card-body" },
      evidenceOf(citation, translator),
      element(
        "blockquote",
        { class: "excerpt", tabindex: 0, "data-role": "card-excerpt" },
        ...drawPassage(shown, range ? [range] : []),
      ),
      isVerifiedQuote ? verifiedMark(translator) : undefined,
    ),
    element(
      "div",
      { class: "card-foot" },
      button({ class: "source-link", "data-role": "card-show" }, reveal, translator.t("showPassage")),
      linksOf(citation, translator, download),
    ),
  ];
}
