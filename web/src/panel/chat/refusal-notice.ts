import type { RefusalEvent, Suggestion } from "../../client/wire.js";
import { button, element } from "../../dom/element.js";
import type { Translate, Translated, Translator } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import { type Download, linkedName } from "../citations/links.js";

/** The actions of a refusal's suggestions. */
export interface RefusalActions {
  readonly rephrase: () => void;
  /** The link to people; without it the suggestion is plain text. `url` is the server's address. */
  readonly contact: (url: string | undefined) => HTMLElement | undefined;
  readonly ask: (question: string) => void;
}

/** The texts of a refusal. The history does not store its reason. */
export type RefusalTexts = Pick<RefusalEvent, "message" | "suggestions" | "nearest"> & { readonly reason?: string };

/** The reply when there is not enough evidence for an answer. The nearest passages link to their documents. */
export function refusalNotice(
  translator: Translator,
  { message, reason, suggestions, nearest }: RefusalTexts,
  actions: RefusalActions & { readonly download: Download },
): HTMLElement {
  const { t } = translator;
  const named = nearest.map((passage) => element("li", {}, linkedName(passage, translator, actions.download)));
  return element(
    "div",
    { class: "refusal raised", part: "refusal", "data-role": "refusal", "data-reason": reason },
    element("p", { dir: "auto", "data-role": "refusal-message" }, serverText(t, message)),
    nearest.length > 0
      ? element(
          "div",
          { class: "nearest", "data-role": "nearest" },
          element("p", {}, t("nearest")),
          element("ul", {}, ...named),
        )
      : undefined,
    suggestions.length > 0
      ? element("div", { class: "suggestions row" }, ...suggestions.map((one) => suggestionView(t, one, actions)))
      : undefined,
  );
}

function suggestionView(t: Translate, suggestion: Suggestion, actions: RefusalActions): HTMLElement {
  const attributes = { class: "button", part: "suggestion", dir: "auto", "data-role": "suggestion" };
  switch (suggestion.type) {
    case "contact":
      return (
        actions.contact(suggestion.url) ??
        element("span", { class: "suggestion-text", "data-role": "suggestion" }, t("contactSupport"))
      );
    case "rephrase":
      return button(attributes, actions.rephrase, t("rephrase"));
    case "ask":
      return button(attributes, () => actions.ask(suggestion.text), suggestion.text);
  }
}

const REFUSAL =
  "I don't have enough information to answer that question. You might try contacting support or rephrasing your question.";
const UNREADABLE =
  "I can search in this language only for the very words of a question, and they do not find enough to answer it. You might try other words, another language, or contacting support.";
const NO_ACCESS =
  "There is no document here that you may read. You might try signing in with another account, or contacting support.";
const EMPTY = "The knowledge base is empty. Please contact an admin.";

/** The server's default texts (`chat-core/src/refusal.rs`), which the widget has in every language. */
const KNOWN: Readonly<Record<string, TextKey>> = {
  [REFUSAL]: "refusal",
  [UNREADABLE]: "refusalUnreadable",
  [NO_ACCESS]: "refusalNoAccess",
  [EMPTY]: "refusalEmpty",
};

/** A default text of the server in the visitor's language; a text that the site has set as it is. */
export function serverText(t: Translate, text: string): Translated | string {
  const key = Object.hasOwn(KNOWN, text) ? KNOWN[text] : undefined;
  return key === undefined ? text : t(key);
}
