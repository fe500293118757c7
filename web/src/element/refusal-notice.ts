import type { RefusalEvent } from "../client/wire.js";
import { button, element, icon } from "./dom.js";
import { ICONS } from "./icons.js";

/** What the suggestions of a refusal do. */
export interface RefusalActions {
  readonly rephrase: () => void;
  /** Where "Contact support" leads; without it the suggestion is plain text. */
  readonly supportUrl: string | undefined;
  /** Any other suggestion is offered as the next question. */
  readonly suggest: (question: string) => void;
}

const REPHRASE = "Rephrase your question";
const CONTACT = "Contact support";

/** The reply when there is not enough evidence for an answer. */
export function refusalNotice(
  { message, reason, suggestions, nearest }: RefusalEvent,
  actions: RefusalActions,
): HTMLElement {
  return element(
    "div",
    { class: "refusal", part: "refusal", "data-role": "refusal", "data-reason": reason },
    element("p", { "data-role": "refusal-message" }, message),
    nearest.length > 0
      ? element("p", { class: "nearest", "data-role": "nearest" }, `Closest documents: ${nearest.join(", ")}`)
      : undefined,
    suggestions.length > 0
      ? element("div", { class: "suggestions" }, ...suggestions.map((text) => suggestion(text, actions)))
      : undefined,
  );
}

function suggestion(text: string, { rephrase, supportUrl, suggest }: RefusalActions): HTMLElement {
  const attributes = { class: "button", part: "suggestion", "data-role": "suggestion" };
  if (text === REPHRASE) return button(attributes, rephrase, text);
  if (text !== CONTACT) return button(attributes, () => suggest(text), text);
  if (supportUrl === undefined) return element("span", { class: "suggestion-text", "data-role": "suggestion" }, text);
  return element(
    "a",
    { ...attributes, href: supportUrl, target: "_blank", rel: "noopener noreferrer" },
    text,
    icon(ICONS.external),
  );
}
