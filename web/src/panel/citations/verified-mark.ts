import { element, icon } from "../../dom/element.js";
import { ICONS } from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";

/** Says that the widget itself has found the quote's words in passage and answer. */
export function verifiedMark({ t }: Translator): HTMLElement {
  return element(
    "span",
    { class: "verified", title: t("verifiedQuoteHelp"), "data-role": "verified-quote" },
    icon(ICONS.check),
    t("verifiedQuote"),
  );
}
