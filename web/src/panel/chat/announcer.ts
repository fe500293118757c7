import { element } from "../../dom/element.js";

/** Makes screen readers read a text aloud, once. */
export class Announcer {
  readonly root = element("div", { class: "visually-hidden", role: "status", "data-role": "announcer" });

  say(text: string): void {
    // A new node each time: setting the same text again would not be read.
    this.root.replaceChildren(element("p", {}, text));
  }

  clear(): void {
    this.root.replaceChildren();
  }
}
