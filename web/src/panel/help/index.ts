/** The part of the panel that loads when the visitor opens the help, which is a page of the history. */
import { button, element, icon, onEscape } from "../../dom/element.js";
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
  /** A heading or text of a topic, in the present language. */
  const text = (topic: number, part: 0 | 1) =>
    translator.text(() => {
      const topics = HELP_TOPICS[translator.language.split("-", 1)[0] as Language];
      return topics[topic]?.[part].replace("{history}", translator.format("history")) ?? "";
    });
  const content = element(
    "div",
    { class: "history-scroll help-topics", tabindex: 0, role: "group", "aria-label": t("help") },
    ...HELP_TOPICS.en.flatMap((_, topic) => [element("h4", {}, text(topic, 0)), element("p", {}, text(topic, 1))]),
  );
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
  onEscape(root, close);
  history.append(root);
  adoptStyles(history.getRootNode() as ShadowRoot, css);
  return {
    show: () => {
      root.hidden = false;
      heading.focus();
    },
    close,
  };
}
