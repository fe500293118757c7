import { button, element } from "../src/dom/element.js";
import type { EvidenceChatElement } from "../src/index.js";
import { EXAMPLES } from "./examples.js";
import type { PageLanguage } from "./language.js";
import { byId } from "./page.js";

/** Shows example questions. A click asks one and scrolls the chat into view. */
export function showExamples(chat: EvidenceChatElement, language: PageLanguage): void {
  const draw = () => {
    const items = EXAMPLES.map(({ question, note }) =>
      element(
        "li",
        {},
        button(
          { class: "example" },
          () => askInSight(chat, question),
          element("span", { class: "example-question", lang: "en", dir: "ltr" }, question),
          element("span", { class: "example-note" }, language.say(note)),
        ),
      ),
    );
    byId("examples", HTMLElement).replaceChildren(...items);
    byId("english-only", HTMLElement).hidden = language.current === "en";
  };
  language.onChange(draw);
  draw();
}

function askInSight(chat: EvidenceChatElement, question: string): void {
  if (chat.mode === "floating") chat.open();
  else chat.scrollIntoView({ block: "nearest" });
  void chat.ask(question);
}
