import { element } from "../../src/dom/element.js";
import type { RefusalEvent, RefusalReason } from "../../src/client/wire.js";
import { cosine } from "../format.js";
import { THRESHOLD } from "./citation-slip.js";
import { passageList } from "./passage-list.js";

/** The reason of a refusal, and the closest pages. */
export function refusalSlip({ reason, nearest }: RefusalEvent): HTMLElement {
  return element(
    "article",
    { class: "slip refusal", "data-reason": reason },
    element("h3", { class: "slip-title" }, "No answer, on purpose."),
    element("p", {}, REASONS[reason]),
    ...(nearest.length === 0 ? [] : [passageList("Closest pages", nearest)]),
  );
}

const REASONS: Readonly<Record<RefusalReason, string>> = {
  no_match: `No passage is close enough to the question: none reaches the threshold of ${cosine(THRESHOLD)}.`,
  weak_evidence: "Some passages are close, but unlikely to answer it.",
  unreadable_language: "The model cannot read this script, and a search by words alone finds too little.",
  no_access: "There is no document that this visitor may read.",
  empty_kb: "The knowledge base is empty.",
};
