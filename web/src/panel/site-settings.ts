import { getConfig } from "../client/api.js";
import type { ChatClientOptions } from "../client/options.js";
import { button, element } from "../dom/element.js";
import type { Translate } from "../dom/translator.js";
import type { PanelHost } from "./host.js";

/** Shows what the site's own settings say: greeting, suggestions, longest question. Without them the widget works as well. */
export class SiteSettings {
  readonly #host: PanelHost;
  readonly #client: () => ChatClientOptions;
  readonly #ask: (question: string) => void;
  #suggestions: HTMLElement | undefined;
  #reading: Promise<void> | undefined;

  constructor(host: PanelHost, client: () => ChatClientOptions, ask: (question: string) => void) {
    this.#host = host;
    this.#client = client;
    this.#ask = ask;
  }

  /** Reads them, once; what failed is tried again the next time. */
  read(): void {
    if (this.#reading || this.#host.element.endpoint === "") return;
    const reading = this.#read().catch(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
  }

  /** Those of another server are not this one's. */
  forget(): void {
    this.#reading = undefined;
    this.#suggestions?.remove();
    this.#host.greet(undefined);
  }

  async #read(): Promise<void> {
    const { element, frame, greet, translator } = this.#host;
    const { endpoint } = element;
    const { greeting, suggested_questions: questions, max_message_chars } = await getConfig(this.#client());
    if (endpoint !== element.endpoint) return;
    frame.composer.limit = max_message_chars;
    greet(greeting);
    this.#suggestions?.remove();
    if (questions.length === 0) return;
    this.#suggestions = suggestedQuestions(translator.t, questions, (question) => {
      // The button goes with the other suggestions.
      frame.composer.focus();
      this.#ask(question);
    });
    frame.intro.append(this.#suggestions);
  }
}

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
