import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translate } from "../../dom/translator.js";

/** Shows a notice while there is no network. */
export class OfflineNotice {
  readonly root = element("div", { role: "status" });
  readonly #t: Translate;
  readonly #update = () => this.#show();

  constructor(t: Translate) {
    this.#t = t;
  }

  connect(): void {
    for (const type of ["online", "offline"]) addEventListener(type, this.#update);
    this.#show();
  }

  disconnect(): void {
    for (const type of ["online", "offline"]) removeEventListener(type, this.#update);
  }

  #show(): void {
    if (navigator.onLine) return this.root.replaceChildren();
    this.root.replaceChildren(
      element(
        "p",
        { class: "offline", "data-role": "offline" },
        icon(icons.alert),
        element("span", {}, this.#t("offline")),
      ),
    );
  }
}
