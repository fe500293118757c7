import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translate } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import type { AnswerView } from "../citations/answer-view.js";

/** How long a button shows the outcome. */
const FEEDBACK_MS = 2000;

/** Buttons that copy an answer, as text or with footnotes. */
export function copyButtons(t: Translate, answer: AnswerView): HTMLElement {
  return element(
    "div",
    { class: "answer-tools" },
    copyButton(t, "copy", icons.copy, () => answer.plainText()),
    copyButton(t, "copyMarkdown", icons.markdown, () => answer.markdown()),
    element("span", { class: "visually-hidden", role: "status" }),
  );
}

function copyButton(t: Translate, key: "copy" | "copyMarkdown", path: string, text: () => string): HTMLButtonElement {
  const label = element("span", {}, t(key));
  const say = (outcome: TextKey) => label.replaceChildren(t(outcome).asText());
  const role = key === "copy" ? "copy" : "copy-markdown";
  const made = button({ class: "button quiet", "data-role": role }, () => void copy(), icon(path), label);
  const copy = async () => {
    const outcome = await write(text()).then(
      () => "copied" as const,
      () => "copyFailed" as const,
    );
    say(outcome);
    const status = made.parentElement?.querySelector("[role=status]");
    status?.replaceChildren(t(outcome).asText());
    setTimeout(() => {
      say(key);
      status?.replaceChildren();
    }, FEEDBACK_MS);
  };
  return made;
}

/** Rejects on a page without a secure origin or without access to the clipboard. */
async function write(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
