/** The part of the panel that loads when the visitor opens the help, which is a page of the history. */
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { adoptStyles } from "../../dom/styles.js";
import type { Translator } from "../../dom/translator.js";
import type { Language } from "../../texts/index.js";
import css from "./help.css";
import { texts as ar } from "./texts/ar.js";
import { texts as de } from "./texts/de.js";
import { texts as en, type HelpTexts } from "./texts/en.js";
import { texts as es } from "./texts/es.js";
import { texts as fr } from "./texts/fr.js";
import { texts as ja } from "./texts/ja.js";
import { helpTitle } from "./titles.js";

const TEXTS: { readonly [language in Language]: HelpTexts } = { ar, de, en, es, fr, ja };

/** The help page. It covers its parent, the history. */
export class Help {
  readonly root: HTMLElement;
  readonly #translator: Translator;
  readonly #opener: HTMLElement;
  readonly #heading = element("h3", { class: "history-heading", tabindex: -1 });
  readonly #content = element("div", { class: "help-scroll", tabindex: 0, role: "group" });

  /** Adds the page to `parent`; `opener` gets the focus when the visitor goes back. */
  constructor(translator: Translator, parent: HTMLElement, opener: HTMLElement) {
    this.#translator = translator;
    this.#opener = opener;
    const back = button(
      { class: "icon-button history-back", "data-role": "help-back", "aria-label": translator.t("history") },
      () => this.close(),
      icon(icons.back),
    );
    this.root = element(
      "div",
      { class: "help", "data-role": "help", hidden: true },
      element("div", { class: "history-bar" }, back, this.#heading),
      this.#content,
    );
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      // Otherwise the same key closes a floating panel.
      event.preventDefault();
      this.close();
    });
    parent.append(this.root);
    adoptStyles(parent.getRootNode() as ShadowRoot, css);
    const localized = parent.closest("[lang]");
    // The page of the widget may change its language at any time.
    if (localized) new MutationObserver(() => this.#draw()).observe(localized, { attributeFilter: ["lang"] });
    this.#draw();
  }

  show(): void {
    this.root.hidden = false;
    this.#heading.focus();
  }

  close(): void {
    if (this.root.hidden) return;
    this.root.hidden = true;
    this.#opener.focus();
  }

  #draw(): void {
    const { language } = this.#translator;
    const [primary] = language.split("-", 1);
    const { topics } = TEXTS[primary as Language];
    const title = helpTitle(language);
    this.#heading.textContent = title;
    this.#content.setAttribute("aria-label", title);
    const history = this.#translator.format("history");
    const drawn = topics.map(([heading, text]) => [
      element("h4", {}, heading),
      element("p", {}, text.replace("{history}", history)),
    ]);
    this.#content.replaceChildren(...drawn.flat());
  }
}
