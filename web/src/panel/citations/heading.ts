import type { Passage } from "../../client/wire.js";
import { type Child, element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import { placesOf } from "./place.js";
import { titleOf } from "./title.js";

/** Title and places of one document's passages, the first of them `first`; `more` stands below. */
export function headingOf(
  first: Passage,
  passages: readonly Passage[],
  translator: Translator,
  more?: Child,
): HTMLElement {
  return element(
    "span",
    { class: "source-heading" },
    element(
      "span",
      { class: "source-title", "data-role": "source-title" },
      element("bdi", {}, titleOf(first, translator)),
    ),
    placesOf(passages, translator),
    more,
  );
}
