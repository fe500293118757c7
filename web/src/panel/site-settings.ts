import { getConfig } from "../client/api.js";
import { type ChatClientOptions, withTimeout } from "../client/request.js";
import type { ChatConfig } from "../client/wire.js";
import { button, element } from "../dom/element.js";
import type { Translate } from "../dom/translator.js";
import type { PanelHost } from "./host.js";
import { PrivacyNotice } from "./privacy-notice.js";

/** Time that a question waits for the settings. */
const MAX_WAIT_MS = 3000;

const NOBODY = { tokenProvider: () => Promise.resolve(null) };

/** Applies the site's settings: greeting, suggested questions, length limit, who writes answers. The widget also works without them. */
export class SiteSettings {
  readonly privacy: PrivacyNotice;
  readonly #host: PanelHost;
  readonly #client: () => ChatClientOptions;
  readonly #ask: (question: string) => void;
  #suggestions: HTMLElement | undefined;
  #supportUrl: string | undefined;
  #reading: Promise<ChatConfig> | undefined;
  /** Whether they were requested for the user, because they are not for everybody. */
  #areOfUser = false;

  constructor(host: PanelHost, client: () => ChatClientOptions, ask: (question: string) => void) {
    this.privacy = new PrivacyNotice(host);
    this.#host = host;
    this.#client = client;
    this.#ask = ask;
  }

  /** Where visitors contact people. */
  get supportUrl(): string | undefined {
    return this.#supportUrl;
  }

  /** Reads the settings once. After a failure the next call tries again. */
  read(): void {
    const { endpoint, isConnected } = this.#host.element;
    if (isConnected && endpoint !== "") this.config().catch(() => undefined);
  }

  /** The settings, which are read once; there must be an endpoint. After a failure the next call tries again. */
  config(): Promise<ChatConfig> {
    if (this.#reading) return this.#reading;
    const reading = this.#request();
    this.#reading = reading;
    const isLatest = () => reading === this.#reading;
    reading.then(
      (config) => isLatest() && this.#apply(config),
      () => isLatest() && (this.#reading = undefined),
    );
    return reading;
  }

  /**
   * Whether the visitor was told which service gets questions. Waits for the settings, but not for long: without them a question is
   * answered with quotes.
   */
  async namesService(): Promise<boolean> {
    const { endpoint, answerMode } = this.#host.element;
    if (endpoint !== "" && answerMode !== "extractive")
      await withTimeout(MAX_WAIT_MS, this.config()).catch(() => undefined);
    return this.privacy.service !== undefined;
  }

  /**
   * The settings that need no token, because they say how visitors get one: those of the assistant, or of the default one if the
   * assistant is not for everybody.
   */
  async forEverybody(): Promise<ChatConfig> {
    const { assistant, ...client } = { ...this.#client(), ...NOBODY };
    if (assistant === undefined) return this.config();
    return getConfig({ ...client, assistant }).catch(() => getConfig(client));
  }

  /** Reads the settings of the present user, unless those that are there are for everybody. */
  userChanged(): void {
    if (this.#areOfUser) this.forget();
    this.read();
  }

  /** Drops the settings of the previous server or user. */
  forget(): void {
    this.#reading = undefined;
    this.#areOfUser = false;
    this.#supportUrl = undefined;
    this.#suggestions?.remove();
    this.#host.greet({});
    this.privacy.show(undefined);
  }

  #request(): Promise<ChatConfig> {
    const client = this.#client();
    // The token of a visitor without an account depends on these settings.
    const isAwaited = client.assistant === undefined && !this.#host.element.tokenProvider;
    const tokenProvider = () => {
      this.#areOfUser = true;
      return client.tokenProvider();
    };
    return getConfig({ ...client, ...(isAwaited ? NOBODY : { tokenProvider }) });
  }

  #apply(config: ChatConfig): void {
    const { frame, greet, translator } = this.#host;
    const { suggested_questions: questions, max_message_chars } = config;
    this.privacy.show(config);
    this.#supportUrl = config.support_url;
    frame.composer.limit = max_message_chars;
    greet(config);
    this.#suggestions?.remove();
    if (questions.length === 0) return;
    this.#suggestions = suggestedQuestions(translator.t, questions, (question) => {
      // The button is removed with the other suggestions.
      frame.composer.focus();
      this.#ask(question);
    });
    frame.intro.append(this.#suggestions);
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
    { class: "suggested row", role: "group", "aria-label": t("suggestedQuestions") },
    ...questions.map((question) =>
      button(
        { class: "button", part: "suggested", dir: "auto", "data-role": "suggested" },
        () => ask(question),
        question,
      ),
    ),
  );
}
