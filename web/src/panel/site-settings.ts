import { getConfig } from "../client/api.js";
import type { ChatClientOptions } from "../client/options.js";
import type { ChatConfig } from "../client/wire.js";
import { button, element } from "../dom/element.js";
import type { Translate } from "../dom/translator.js";
import type { PanelHost } from "./host.js";
import { PrivacyNotice } from "./privacy-notice.js";

/** Applies the site's settings: greeting, suggested questions, length limit, who writes answers. The widget also works without them. */
export class SiteSettings {
  readonly privacy: PrivacyNotice;
  readonly #host: PanelHost;
  readonly #client: () => ChatClientOptions;
  readonly #ask: (question: string) => void;
  #suggestions: HTMLElement | undefined;
  #reading: Promise<ChatConfig> | undefined;

  constructor(host: PanelHost, client: () => ChatClientOptions, ask: (question: string) => void) {
    this.privacy = new PrivacyNotice(host);
    this.#host = host;
    this.#client = client;
    this.#ask = ask;
  }

  /** Reads the settings once. After a failure the next call tries again. */
  read(): void {
    if (this.#host.element.endpoint !== "") this.config().catch(() => undefined);
  }

  /** The settings, which are read once; there must be an endpoint. After a failure the next call tries again. */
  config(): Promise<ChatConfig> {
    if (this.#reading) return this.#reading;
    const reading = this.#read();
    reading.catch(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }

  /** Drops the settings of the previous server. */
  forget(): void {
    this.#reading = undefined;
    this.#suggestions?.remove();
    this.#host.greet(undefined);
    this.privacy.show(undefined);
  }

  async #read(): Promise<ChatConfig> {
    const { element, frame, greet, translator } = this.#host;
    const { endpoint } = element;
    const config = await getConfig(this.#client());
    if (endpoint !== element.endpoint) return config;
    const { greeting, suggested_questions: questions, max_message_chars } = config;
    this.privacy.show(config);
    frame.composer.limit = max_message_chars;
    greet(greeting);
    this.#suggestions?.remove();
    if (questions.length === 0) return config;
    this.#suggestions = suggestedQuestions(translator.t, questions, (question) => {
      // The button is removed with the other suggestions.
      frame.composer.focus();
      this.#ask(question);
    });
    frame.intro.append(this.#suggestions);
    return config;
  }
}

/** Buttons for the suggested questions; a click asks. */
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
