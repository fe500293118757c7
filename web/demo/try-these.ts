import { button, element } from "../src/dom/element.js";
import type { EvidenceChatElement } from "../src/index.js";
import { byId } from "./page.js";

/** Questions that the sample documents answer, and one that they do not, with what each demonstrates. */
const EXAMPLES = [
  ["How long do I have to return an item?", "A plain fact from one page."],
  ["What does standard delivery cost?", "A price, quoted with its conditions."],
  ["Can I combine gift cards?", "A detail from deep inside a page."],
  ["How do I get rust off my frying pan?", "The page uses other words: found by meaning."],
  ["What is the capital of France?", "Not in our help pages. It says so instead of guessing."],
] as const;

/** Shows example questions. A click asks one and scrolls the chat into view. */
export function showExamples(chat: EvidenceChatElement): void {
  const items = EXAMPLES.map(([question, note]) =>
    element(
      "li",
      {},
      button(
        { class: "example" },
        () => askInSight(chat, question),
        element("span", { class: "example-question" }, question),
        element("span", { class: "example-note" }, note),
      ),
    ),
  );
  byId("examples", HTMLElement).replaceChildren(...items);
}

function askInSight(chat: EvidenceChatElement, question: string): void {
  if (chat.mode === "floating") chat.open();
  else chat.scrollIntoView({ block: "nearest" });
  void chat.ask(question);
}
