import { button, element, fill, icon } from "../dom/element.js";
import * as icons from "../dom/icons.js";
import type { Translate, Translated } from "../dom/translator.js";
import { Composer } from "./composer.js";

/** What the visitor can do before the panel's code is loaded. */
export interface FrameActions {
  readonly send: (question: string) => void;
  readonly open: () => void;
  readonly close: () => void;
}

/**
 * The widget's skeleton: the launcher, and the panel's head, log and question box. It is shown at once and the panel's
 * code fills it later, so the layout does not shift and a question that is being typed is kept.
 */
export class Frame {
  readonly composer: Composer;
  /** The round button of a floating widget. */
  readonly launcher: HTMLButtonElement;
  readonly heading = element("h2", { id: "heading", dir: "auto", part: "heading" });
  /** Container of the panel's buttons. */
  readonly tools = element("div", { class: "tools" });
  readonly intro: HTMLElement;
  readonly log: HTMLElement;
  /** The conversation; the panel may show the history instead. */
  readonly body: HTMLElement;
  /** Notices above the question box. */
  readonly status = element("div", { class: "status" });
  readonly panel: HTMLElement;
  readonly root: HTMLElement;
  readonly #greeting = element("p", { class: "greeting", dir: "auto", "data-role": "greeting" });

  constructor(t: Translate, actions: FrameActions) {
    this.composer = new Composer(t, actions.send);
    this.launcher = button(
      {
        class: "launcher",
        part: "launcher",
        "aria-label": t("open"),
        "aria-expanded": "false",
        "data-role": "launcher",
      },
      actions.open,
      icon(icons.quote),
    );
    this.intro = element("div", { class: "intro" }, element("slot", {}, this.#greeting));
    this.log = element("div", { class: "log", part: "log", tabindex: 0, "data-role": "log" }, this.intro);
    this.body = element("div", { class: "body" }, this.log, this.status, this.composer.root);
    const close = button(
      { class: "icon-button close", part: "close", "aria-label": t("close"), "data-role": "close" },
      actions.close,
      icon(icons.close),
    );
    this.panel = element(
      "section",
      { class: "panel", part: "panel", "aria-labelledby": "heading" },
      element(
        "header",
        { part: "header" },
        element("span", { class: "emblem" }, icon(icons.quote)),
        this.heading,
        this.tools,
        close,
      ),
      this.body,
    );
    this.root = element("div", { class: "root" }, this.panel, this.launcher);
  }

  set title(title: string | Translated) {
    this.heading.replaceChildren();
    fill(this.heading, title);
  }

  /** Text before the first question, unless the page fills the slot. */
  set greeting(greeting: string | Translated) {
    this.#greeting.replaceChildren();
    fill(this.#greeting, greeting);
  }

  /** Shows that the panel could not be loaded, with a retry button. */
  showLoadFailure(t: Translate, retry: () => void): void {
    this.status.replaceChildren(
      element(
        "div",
        { class: "notice", "data-role": "load-failed" },
        element("p", { role: "alert" }, t("loadFailed")),
        button({ class: "button", part: "retry", "data-role": "retry" }, retry, t("retry")),
      ),
    );
  }

  /** A floating panel is a non-modal dialog; an inline one is a region of the page. */
  set mode(mode: "inline" | "floating") {
    this.root.dataset.mode = mode;
    this.panel.setAttribute("role", mode === "floating" ? "dialog" : "region");
    this.launcher.hidden = mode === "inline";
    this.panel.hidden = mode === "floating" && !this.isOpen;
  }

  get isOpen(): boolean {
    return this.launcher.getAttribute("aria-expanded") === "true";
  }

  set isOpen(isOpen: boolean) {
    this.launcher.setAttribute("aria-expanded", String(isOpen));
    this.panel.hidden = this.root.dataset.mode === "floating" && !isOpen;
  }
}
