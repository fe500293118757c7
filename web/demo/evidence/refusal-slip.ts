import { element } from "../../src/dom/element.js";
import type { RefusalEvent, RefusalReason } from "../../src/client/wire.js";
import type { PageLanguage } from "../language.js";
import type { TextKey } from "../texts/texts.js";
import { passageList } from "./passage-list.js";
import { THRESHOLD } from "./threshold.js";

/** The reason of a refusal, and the closest pages. */
export function refusalSlip({ reason, nearest }: RefusalEvent, language: PageLanguage): HTMLElement {
  const threshold = language.number(THRESHOLD, { minimumFractionDigits: 2 });
  return element(
    "article",
    { class: "slip refusal", "data-reason": reason },
    element("h3", { class: "slip-title" }, language.say("refused")),
    element("p", {}, language.say(REASONS[reason], { threshold })),
    ...(nearest.length === 0 ? [] : [passageList(language.say("nearest"), nearest, language)]),
  );
}

const REASONS: Readonly<Record<RefusalReason, TextKey>> = {
  no_match: "reasonNoMatch",
  weak_evidence: "reasonWeakEvidence",
  unreadable_language: "reasonUnreadableLanguage",
  no_access: "reasonNoAccess",
  empty_kb: "reasonEmptyKb",
};
