import { element } from "../../dom/element.js";

/** Has a screen reader say something, once. */
export class Announcer {
  readonly root = element("div", { class: "visually-hidden", role: "status", "data-role": "announcer" });

  say(text: string): void {
    // A text of its own each time: the same words again would be no change.
    this.root.replaceChildren(element("p", {}, text));
  }

  clear(): void {
    this.root.replaceChildren();
  }
}
