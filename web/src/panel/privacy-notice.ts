import type { ChatConfig } from "../client/wire.js";
import { withoutBidiControls } from "../client/text.js";
import { button, element, icon } from "../dom/element.js";
import * as icons from "../dom/icons.js";
import type { Translated } from "../dom/translator.js";
import type { PanelHost } from "./host.js";

type WriterSettings = Pick<ChatConfig, "answer_mode" | "sends_to">;

/**
 * Says who writes answers and what is sent for that. A service is named before the first question, until the visitor
 * dismisses the notice; a button below the question box shows it again.
 */
export class PrivacyNotice {
  readonly root = element("div", { role: "status" });
  readonly #host: PanelHost;
  readonly #toggle: HTMLButtonElement;
  #settings: WriterSettings | undefined;

  constructor(host: PanelHost) {
    const { t } = host.translator;
    this.#host = host;
    this.#toggle = button(
      { class: "icon-button info", "aria-label": t("privacy"), title: t("privacy"), "data-role": "privacy-info" },
      () => this.#setOpen(!this.#isOpen),
      icon(icons.info),
    );
  }

  /** Applies the settings of the site; `undefined` if they are unknown. */
  show(settings: WriterSettings | undefined): void {
    this.#settings = settings;
    this.update();
  }

  /** Applies a change of the property `answerMode`. */
  update(): void {
    const { frame, translator } = this.#host;
    const hasWriter = this.#text() !== undefined;
    frame.composer.hint = this.service === undefined ? undefined : translator.t("hintGenerated");
    frame.composer.aside = hasWriter ? this.#toggle : undefined;
    this.#setOpen(this.service !== undefined && !wasDismissed(this.service));
  }

  /** Whether a language model on this device may write answers. */
  get isOnDevice(): boolean {
    const { element } = this.#host;
    const isOn = this.#settings?.answer_mode === "on_device" && element.answerMode !== "extractive";
    // The browser's own model needs no model of the page.
    return isOn && (element.hasAttribute("writer-model-url") || "LanguageModel" in globalThis);
  }

  /** The service that gets questions, if any. */
  get service(): string | undefined {
    const { answer_mode, sends_to } = this.#settings ?? {};
    const isUsed = answer_mode === "endpoint" && this.#host.element.answerMode !== "extractive";
    return isUsed && sends_to !== undefined ? withoutBidiControls(sends_to) : undefined;
  }

  #text(): Translated | undefined {
    const { t } = this.#host.translator;
    const service = this.service;
    if (service !== undefined) return t("sendsTo", { service });
    return this.isOnDevice ? t("writtenOnDevice") : undefined;
  }

  get #isOpen(): boolean {
    return this.root.firstChild !== null;
  }

  #setOpen(isOpen: boolean): void {
    const text = isOpen ? this.#text() : undefined;
    const { translator } = this.#host;
    this.#toggle.setAttribute("aria-expanded", String(text !== undefined));
    this.root.replaceChildren();
    if (text === undefined) return;
    const dismiss = { class: "button", "data-role": "privacy-dismiss" };
    this.root.append(
      element(
        "div",
        { class: "privacy", part: "privacy", "data-role": "privacy" },
        element("p", {}, text),
        button(dismiss, () => this.#dismiss(), translator.t("privacyDismiss")),
      ),
    );
  }

  #dismiss(): void {
    if (this.service !== undefined) rememberDismissal(this.service);
    // The button is removed with its notice, so the focus moves first.
    this.#host.frame.composer.focus();
    this.#setOpen(false);
  }
}

/** Services whose notice was dismissed on this page, for browsers that store nothing. */
const dismissed = new Set<string>();

function wasDismissed(service: string): boolean {
  try {
    return dismissed.has(service) || localStorage.getItem(keyOf(service)) !== null;
  } catch {
    return false;
  }
}

function rememberDismissal(service: string): void {
  dismissed.add(service);
  try {
    localStorage.setItem(keyOf(service), "1");
  } catch {
    // The notice appears again on the next page.
  }
}

/** Another service gets another notice. */
function keyOf(service: string): string {
  return `evidence-chat-dismissed:${service}`;
}
