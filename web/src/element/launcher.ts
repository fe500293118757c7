import { button, element, icon } from "../dom/element.js";
import * as icons from "../dom/icons.js";
import type { Translate } from "../dom/translator.js";

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
