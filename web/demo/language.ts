import { type Language, TEXTS } from "./texts/index.js";
import type { TextKey } from "./texts/texts.js";

/** The language of the page, and its texts. Elements with `data-text` or `data-label` are updated automatically. */
export class PageLanguage {
  #current: Language | undefined;
  #pageTitle: string | undefined;
  readonly #listeners: (() => void)[] = [];

  get current(): Language {
    return this.#current ?? "en";
  }

  /** Changes the language of the page. */
  use(language: Language): void {
    if (language === this.#current) return;
    this.#current = language;
    document.documentElement.lang = language;
    document.documentElement.dir = language === "ar" ? "rtl" : "ltr";
    document.title = this.#pageTitle ?? this.say("pageTitle");
    for (const [target, key] of marked("text")) target.textContent = this.say(key);
    for (const [target, key] of marked("label")) target.setAttribute("aria-label", this.say(key));
    for (const listener of this.#listeners) listener();
  }

  /** A title that is the same in every language. */
  set pageTitle(title: string) {
    this.#pageTitle = title;
    document.title = title;
  }

  /** Calls the listener after each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The text in the current language, with its `{name}` places filled. */
  say(key: TextKey, values: Readonly<Record<string, string>> = {}): string {
    return TEXTS[this.current][key].replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
  }

  /** A number formatted for the language. */
  number(value: number, options?: Intl.NumberFormatOptions): string {
    return new Intl.NumberFormat(this.current, options).format(value);
  }

  /** A duration with its unit: milliseconds below two seconds, otherwise seconds. */
  duration(milliseconds: number): string {
    return milliseconds < 2000
      ? this.number(Math.round(milliseconds), { style: "unit", unit: "millisecond" })
      : this.number(milliseconds / 1000, { style: "unit", unit: "second", maximumFractionDigits: 1 });
  }
}

function marked(name: "text" | "label"): [HTMLElement, TextKey][] {
  return [...document.querySelectorAll<HTMLElement>(`[data-${name}]`)].map((target) => [
    target,
    target.dataset[name] as TextKey,
  ]);
}
