import type { Citation, EvidenceStrength } from "../../client/wire.js";
import { element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";

const STRENGTHS = { strong: "strengthStrong", good: "strengthGood", partial: "strengthPartial" } as const;
const ORDER: readonly (EvidenceStrength | undefined)[] = ["strong", "good", "partial", undefined];

/** The passage with the best evidence. */
export function bestOf(citations: readonly Citation[]): Citation | undefined {
  const rank = ({ strength }: Citation) => ORDER.indexOf(strength);
  return [...citations].sort((a, b) => rank(a) - rank(b) || b.score - a.score)[0];
}

/** The strength in words, if it is known, and the cosine similarity. */
export function evidenceOf({ strength, score }: Citation, translator: Translator): HTMLElement {
  const similarity = translator.t("similarity", { score: Math.round(score * 100) / 100 });
  const known = strength && [
    element("span", { class: "score-bars", "aria-hidden": "true" }, element("i"), element("i"), element("i")),
    element("span", { class: "score-label", "data-role": "strength" }, translator.t(STRENGTHS[strength])),
  ];
  const digits = translator.number(score, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return element(
    "span",
    { class: "score", "data-role": "score", "data-strength": strength, title: similarity },
    ...(known ?? []),
    element("span", { class: "visually-hidden" }, similarity),
    element("small", { class: "score-value", "aria-hidden": "true", "data-role": "score-value" }, digits),
  );
}
