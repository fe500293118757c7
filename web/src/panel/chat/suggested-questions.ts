import { button, element } from "../../dom/element.js";
import type { Translate } from "../../dom/translator.js";

/** The questions a site suggests, each asked with one press. */
export function suggestedQuestions(
  t: Translate,
  questions: readonly string[],
  ask: (question: string) => void,
): HTMLElement {
  return element(
    "div",
    { class: "suggested", role: "group", "aria-label": t("suggestedQuestions") },
    ...questions.map((question) =>
      button(
        { class: "button", part: "suggested", dir: "auto", "data-role": "suggested" },
        () => ask(question),
        question,
      ),
    ),
  );
}
