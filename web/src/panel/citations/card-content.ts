import type { Citation } from "../../client/wire.js";
import { button, element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import { headingOf } from "./documents.js";
import { type Download, linksOf } from "./links.js";
import { narrowed, type Target } from "./markers.js";
import { layOut } from "./passage/blocks.js";
import { clip, windowAround } from "./passage/clip.js";
import { drawPassage } from "./passage/draw.js";
import { statementOf } from "./pieces.js";
import { citedRanges } from "./quotes.js";
import { evidenceOf } from "./source-entry.js";
import { verifiedMark } from "./verify.js";

/** Dependencies of a card. */
export interface CardContext {
  readonly translator: Translator;
  readonly download: Download;
  readonly answer: () => string;
  /** Shows the whole passage in the list of sources. */
  readonly reveal: () => void;
}

/** Creates the content of a badge's card. */
export function drawCard(target: Target, context: CardContext, ids: { title: string; description: string }): Node[] {
  const { citation, others = [] } = target;
  const { translator, download, reveal } = context;
  const targets = [target, ...others];
  return [
    element(
      "div",
      { class: "card-head" },
      element(
        "span",
        { class: "source-number", "aria-hidden": "true" },
        translator.t("sourceNumber", { count: citation.index }),
      ),
      headingOf(
        citation,
        targets.map((each) => each.citation),
        translator,
        undefined,
        { id: ids.title, "data-role": "card-title" },
      ),
    ),
    element(
      "div",
      { id: ids.description, class: "card-passages" },
      ...targets.map((each) => drawWords(narrowed(each), context)),
    ),
    element(
      "div",
      { class: "card-foot row" },
      button({ class: "source-link", "data-role": "card-show" }, reveal, translator.t("showPassage")),
      linksOf(citation, translator, download, targets.map(narrowed)),
    ),
  ];
}

/** The words of a citation with a part of the passage around them. */
function drawWords(citation: Citation, { translator, answer }: CardContext): HTMLElement {
  const { excerpt, blocks } = citation;
  const ranges = citedRanges(citation);
  const around = { start: ranges[0]?.start ?? 0, end: ranges.at(-1)?.end ?? 0 };
  const shown = clip(layOut(excerpt, blocks), windowAround(excerpt, around));
  return element(
    "div",
    { class: "card-body row" },
    ...citation.quotes.map(statementOf),
    evidenceOf(citation, translator),
    element(
      "blockquote",
      { class: "excerpt", tabindex: 0, "data-role": "card-excerpt" },
      ...drawPassage(shown, ranges),
    ),
    verifiedMark(citation, answer(), translator),
  );
}
