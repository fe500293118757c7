import { button, element, icon } from "./dom.js";
import { ICONS } from "./icons.js";

/** The longest question the server takes. */
const MAX_CHARACTERS = 4000;

/** From here on the visitor is told how much room is left. */
const WARN_FROM_CHARACTERS = 3600;

/** The question box. Enter sends, Shift+Enter makes a new line. */
export class Composer {
  readonly root: HTMLElement;
  readonly #input = element("textarea", {
    id: "question",
    part: "input",
    rows: 1,
    maxlength: MAX_CHARACTERS,
    placeholder: "Ask a question…",
    autocomplete: "off",
    enterkeyhint: "send",
    "data-role": "input",
  });
  readonly #count = element("span", { class: "count", "data-role": "count" });
  readonly #send: HTMLButtonElement;
  readonly #onSend: (question: string) => void;
  #busy = false;

  constructor(onSend: (question: string) => void) {
    this.#onSend = onSend;
    this.#send = button(
      { class: "send", part: "send", "aria-label": "Send", "data-role": "send" },
      () => this.#submit(),
      icon(ICONS.send),
    );
    this.root = element(
      "div",
      { class: "composer", part: "composer" },
      element("label", { for: "question", class: "visually-hidden" }, "Your question"),
      element("div", { class: "box" }, this.#input, this.#send),
      element("p", { class: "hint" }, element("span", {}, "Answers quote their sources word for word."), this.#count),
    );
    this.#input.addEventListener("input", () => this.#update());
    this.#input.addEventListener("keydown", (event) => {
      // While an input method composes a word, Enter confirms that word.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    this.#update();
  }

  set busy(busy: boolean) {
    this.#busy = busy;
    this.#update();
  }

  set disabled(disabled: boolean) {
    this.#input.disabled = disabled;
    this.#update();
  }

  focus(): void {
    this.#input.focus();
  }

  clear(): void {
    this.#input.value = "";
    this.#update();
  }

  /** Offers a text to edit, unless the visitor has already begun another. */
  offer(text: string): void {
    if (this.#input.value === "") this.#input.value = text;
    this.#input.focus();
    this.#input.select();
    this.#update();
  }

  #submit(): void {
    const question = this.#input.value.trim();
    if (question === "" || this.#busy || this.#input.disabled) return;
    this.clear();
    this.#onSend(question);
  }

  #update(): void {
    const { length } = this.#input.value;
    this.#send.disabled = this.#busy || this.#input.disabled || this.#input.value.trim() === "";
    this.#count.textContent = length >= WARN_FROM_CHARACTERS ? `${length} / ${MAX_CHARACTERS}` : "";
    // The box grows with the question up to the maximum height its style sets. While hidden it has no size.
    this.#input.style.height = "auto";
    const { scrollHeight } = this.#input;
    if (scrollHeight > 0) this.#input.style.height = `${scrollHeight}px`;
  }
}
