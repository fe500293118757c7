import type { DropReason, GenerationReport } from "../../client/wire.js";
import { element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";

/** Says that a language model wrote the answer above it, and where. */
export function generatedNote({ t }: Translator, text: "generated" | "generatedOnDevice"): HTMLElement {
  return element(
    "div",
    { class: "generated-note", part: "generated-note", role: "note", "data-role": "generated-note" },
    element("p", {}, t(text)),
  );
}

/** Says how many sentences of the model were left out; the reasons open on demand. `undefined` if all were sent. */
export function leftOutNote({ dropped }: GenerationReport, { t }: Translator): HTMLElement | undefined {
  const reasons = Object.entries(REASONS).flatMap(([reason, key]) => {
    const count = dropped[reason as DropReason] ?? 0;
    return count > 0 ? [{ key, count }] : [];
  });
  if (reasons.length === 0) return undefined;
  const count = reasons.reduce((sum, reason) => sum + reason.count, 0);
  return element(
    "details",
    { "data-role": "left-out" },
    element("summary", {}, t("leftOut", { count })),
    element("ul", {}, ...reasons.map(({ key, count }) => element("li", {}, t(key, { count })))),
  );
}

const REASONS: Readonly<Record<DropReason, TextKey>> = {
  number: "leftOutNumber",
  name: "leftOutName",
  quote: "leftOutQuote",
  link: "leftOutLink",
  polarity: "leftOutPolarity",
  order: "leftOutOrder",
  unsupported: "leftOutUnsupported",
};
