import type { Translate, Translated } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";

const REFUSAL =
  "I don't have enough information to answer that question. You might try contacting support or rephrasing your question.";
const EMPTY = "The knowledge base is empty. Please contact an admin.";

/** Suggestions of a refusal that the widget knows what to do with. */
export const CONTACT_SUPPORT = "Contact support";
export const REPHRASE = "Rephrase your question";

/** What the server says by itself (`chat-core/src/refusal.rs`) and the widget has in every language. */
const KNOWN: Readonly<Record<string, TextKey>> = {
  [REFUSAL]: "refusal",
  [EMPTY]: "refusalEmpty",
  [CONTACT_SUPPORT]: "contactSupport",
  [REPHRASE]: "rephrase",
};

/** A text of the server in the visitor's language, unless it is one of the site's own. */
export function serverText(t: Translate, text: string): Translated | string {
  const key = Object.hasOwn(KNOWN, text) ? KNOWN[text] : undefined;
  return key === undefined ? text : t(key);
}
