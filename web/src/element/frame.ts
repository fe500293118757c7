import { button, element, fill, icon } from "../dom/element.js";
import * as icons from "../dom/icons.js";
import type { Translate, Translated } from "../dom/translator.js";
import { Composer } from "./composer.js";

/** The round button of a floating widget, and the root of the widget. All that a page shows before a visitor wants to ask. */
export class Launcher {
  readonly button: HTMLButtonElement;
  readonly root: HTMLElement;

  constructor(t: Translate, onClick: () => void) {
    this.button = button(
      {
        class: "launcher",
        part: "launcher",
        "aria-label": t("open"),
        "aria-expanded": "false",
        "data-role": "launcher",
      },
      onClick,
      icon(icons.quote),
    );
    this.root = element("div", { class: "root" }, this.button);
  }

  set mode(mode: "inline" | "floating") {
    this.root.dataset.mode = mode;
    this.button.hidden = mode === "inline";
  }

  /** Whether the panel of a floating widget is open. */
  get isOpen(): boolean {
    return this.button.getAttribute("aria-expanded") === "true";
  }

  set isOpen(isOpen: boolean) {
    this.button.setAttribute("aria-expanded", String(isOpen));
  }
}

/** Actions of the visitor before the panel's code is loaded. */
export interface FrameActions {
  readonly send: (question: string) => void;
  readonly close: () => void;
}

/**
 * The panel's skeleton: its head, log and question box. It is shown at once and the panel's code fills it later, so the layout does not
 * shift and a question that is being typed is kept.
 */
export class Frame {
  readonly composer: Composer;
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
  readonly #launcher: Launcher;
  readonly #greeting = element("p", { class: "greeting", dir: "auto", "data-role": "greeting" });

  constructor(t: Translate, launcher: Launcher, actions: FrameActions) {
    this.#launcher = launcher;
    this.root = launcher.root;
    this.composer = new Composer(t, actions.send);
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
    this.update();
    this.root.prepend(this.panel);
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

  /**
   * Lays a closed panel out in tasks of its own, first without the question box: each takes long on a slow phone, because the browser
   * looks for the fonts. It stays laid out but invisible, so that a tap only has to show it.
   */
  layOut(): void {
    for (const isPart of [true, false])
      setTimeout(() => {
        const { panel, composer } = this;
        // The visitor was faster.
        if (this.isSeen) return;
        panel.style.cssText = "visibility:hidden;animation:none";
        panel.hidden = false;
        composer.root.hidden = isPart;
        void panel.offsetHeight;
      });
  }

  /** Whether the panel is shown; one that is only laid out is not. */
  get isSeen(): boolean {
    return !this.panel.hidden && !this.panel.style.visibility;
  }

  /** Shows what the launcher says: a floating panel is a non-modal dialog; an inline one is a region of the page. */
  update(): void {
    const isFloating = !this.#launcher.button.hidden;
    const { panel, composer } = this;
    panel.setAttribute("role", isFloating ? "dialog" : "region");
    panel.hidden = isFloating && !this.#launcher.isOpen;
    panel.style.cssText = "";
    composer.root.hidden = false;
  }
}

/** Sets the colour scheme: the page's `theme`, or the visitor's preference. */
export class ColorScheme {
  readonly #root: HTMLElement;
  readonly #prefersDark = matchMedia("(prefers-color-scheme: dark)");
  readonly #update = () => this.#show();
  #theme = "auto";

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** `light` or `dark`; anything else follows the visitor's preference. */
  set theme(theme: string | null) {
    this.#theme = theme ?? "auto";
    this.#show();
  }

  connect(): void {
    this.#prefersDark.addEventListener("change", this.#update);
    this.#show();
  }

  disconnect(): void {
    this.#prefersDark.removeEventListener("change", this.#update);
  }

  #show(): void {
    const isDark = this.#theme === "dark" || (this.#theme !== "light" && this.#prefersDark.matches);
    this.#root.dataset.scheme = isDark ? "dark" : "light";
  }
}
