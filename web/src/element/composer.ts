import { button, element, icon, set } from "../dom/element.js";
import * as icons from "../dom/icons.js";
import type { Translate, Translated } from "../dom/translator.js";

/** From this fraction of the length limit on, a counter shows. */
const WARN_FRACTION = 0.9;

/** The question box. Enter sends, Shift+Enter starts a new line. */
export class Composer {
  readonly root: HTMLElement;
  /** The button in place of the send button, if any. */
  #replacement: HTMLElement | undefined;
  readonly #input: HTMLTextAreaElement;
  readonly #count = element("span", { class: "count", "data-role": "count" });
  readonly #send: HTMLButtonElement;
  readonly #onSend: (question: string) => void;
  #onInput: (text: string) => void = () => undefined;
  readonly #t: Translate;
  readonly #hint = element("span", { id: "hint" });
  /** The button next to the hint, if any. */
  #aside: HTMLElement | undefined;
  #limit = 4000;
  #busy = false;

  constructor(t: Translate, onSend: (question: string) => void) {
    this.#onSend = onSend;
    this.#t = t;
    this.hint = undefined;
    this.#input = element("textarea", {
      id: "question",
      part: "input",
      rows: 1,
      maxlength: this.#limit,
      placeholder: t("placeholder"),
      autocomplete: "off",
      enterkeyhint: "send",
      "aria-describedby": "hint",
      "data-role": "input",
    });
    this.#send = button(
      { class: "send", part: "send", "aria-label": t("send"), "data-role": "send" },
      () => this.#submit(),
      icon(icons.send),
    );
    this.root = element(
      "div",
      { class: "composer", part: "composer" },
      element("label", { for: "question", class: "visually-hidden" }, t("question")),
      element("div", { class: "box" }, this.#input, this.#send),
      element("p", { class: "hint" }, this.#hint, this.#count),
    );
    this.#input.addEventListener("input", () => this.#changed());
    this.#input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      this.#submit();
    });
    this.#update();
  }

  /** The text in the box. */
  get value(): string {
    return this.#input.value;
  }

  set value(text: string) {
    this.#input.value = text;
    this.#changed();
  }

  /** The server's length limit of a question, in characters. */
  set limit(characters: number) {
    this.#limit = characters;
    set(this.#input, "maxlength", characters);
    this.#changed();
  }

  /** The text below the box; `undefined` for the usual one. */
  set hint(hint: Translated | undefined) {
    this.#hint.replaceChildren((hint ?? this.#t("hint")).asText());
  }

  /** A button next to the hint. */
  set aside(other: HTMLElement | undefined) {
    this.#aside?.remove();
    this.#aside = other;
    if (other) this.#hint.after(other);
  }

  /** Called with the text whenever it changes. */
  set onInput(listener: (text: string) => void) {
    this.#onInput = listener;
    listener(this.value);
  }

  /** Whether a question is running, so the next one has to wait. */
  set busy(busy: boolean) {
    this.#busy = busy;
    this.#update();
  }

  set disabled(disabled: boolean) {
    this.#input.disabled = disabled;
    this.#update();
  }

  /** Shows another button in place of the send button; `undefined` shows the send button again. */
  set replacement(other: HTMLElement | undefined) {
    // Replacing a button with itself would lose the focus, or a press that has just begun.
    if (other === this.#replacement) return;
    const hadFocus = (this.#replacement ?? this.#send).matches(":focus");
    (this.#replacement ?? this.#send).replaceWith(other ?? this.#send);
    this.#replacement = other;
    if (hadFocus) this.focus();
  }

  focus(options?: FocusOptions): void {
    this.#input.focus(options);
  }

  /** Puts a text into the box for editing, unless the visitor has typed one. */
  suggest(text: string): void {
    if (this.value === "") this.value = text;
    this.#input.focus();
    this.#input.select();
  }

  #submit(): void {
    const question = this.value.trim();
    if (question === "" || this.#busy || this.#input.disabled) return;
    this.value = "";
    this.#onSend(question);
  }

  #update(): void {
    this.#send.disabled = this.#busy || this.#input.disabled || this.value.trim() === "";
  }

  #changed(): void {
    const { length } = this.value;
    this.#count.textContent = length >= WARN_FRACTION * this.#limit ? `${length} / ${this.#limit}` : "";
    // An empty box shows the placeholder, which has the widget's direction.
    set(this.#input, "dir", length > 0 ? "auto" : undefined);
    // The box grows with the question, up to the `max-height` of its style. A hidden box has no height.
    this.#input.style.height = "auto";
    const { scrollHeight } = this.#input;
    if (scrollHeight > 0) this.#input.style.height = `${scrollHeight}px`;
    this.#update();
    this.#onInput(this.value);
  }
}

/**
 * Whether an input method composes a word, which uses the key. Safari reports the key that ends it with code 229 only.
 */
export function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
