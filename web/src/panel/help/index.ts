/** The part of the panel that loads when the visitor opens the help, which is a page of the history. */
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { adoptStyles } from "../../dom/styles.js";
import type { Translator } from "../../dom/translator.js";
import { HELP_TOPICS, type Language } from "../../texts/index.js";
import css from "./help.css";

/** The help page. */
export interface Help {
  show(): void;
  close(): void;
}

/** Adds the help page to the history, which it covers; `opener` gets the focus when the visitor goes back. */
export function createHelp(translator: Translator, history: HTMLElement, opener: HTMLElement): Help {
  const { t } = translator;
  const heading = element("h3", { class: "history-heading", tabindex: -1 }, t("help"));
  const content = element("div", { class: "help-scroll", tabindex: 0, role: "group", "aria-label": t("help") });
  const close = () => {
    if (root.hidden) return;
    root.hidden = true;
    opener.focus();
  };
  const back = button(
    { class: "icon-button history-back", "data-role": "help-back", "aria-label": t("history") },
    close,
    icon(icons.back),
  );
  const root = element(
    "div",
    { class: "help", "data-role": "help", hidden: true },
    element("div", { class: "history-bar" }, back, heading),
    content,
  );
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    // Otherwise the same key closes a floating panel.
    event.preventDefault();
    close();
  });
  const draw = () => {
    const topics = HELP_TOPICS[translator.language.split("-", 1)[0] as Language];
    const name = translator.format("history");
    const drawn = topics.map(([title, text]) => [
      element("h4", {}, title),
      element("p", {}, text.replace("{history}", name)),
    ]);
    content.replaceChildren(...drawn.flat());
  };
  history.append(root);
  adoptStyles(history.getRootNode() as ShadowRoot, css);
  const localized = history.closest("[lang]");
  // The page of the widget may change its language at any time.
  if (localized) new MutationObserver(draw).observe(localized, { attributeFilter: ["lang"] });
  draw();
  return {
    show: () => {
      root.hidden = false;
      heading.focus();
    },
    close,
  };
}
