import type { Message, TextKey, Texts } from "../texts/index.js";
import { TranslatedNodes } from "./translated-nodes.js";

/** What the `{name}` places of a text are filled with. Numbers are written as the language writes them. */
export type Values = Readonly<Record<string, string | number>>;

/** Makes a text that follows the widget's language. */
export type Translate = (key: TextKey, values?: Values) => Translated;

/** A text by its key, in whatever language the widget speaks. */
export class Translated {
  readonly translator: Translator;
  readonly key: TextKey;
  readonly values: Values;

  constructor(translator: Translator, key: TextKey, values: Values) {
    this.translator = translator;
    this.key = key;
    this.values = values;
  }

  /** The text in the language of this moment. */
  toString(): string {
    return this.translator.say(this.key, this.values);
  }

  /** A text node that changes with the language. */
  asText(): Text {
    const node = document.createTextNode("");
    this.translator.bind(node, undefined, this);
    return node;
  }

  /** Sets an attribute that changes with the language. Until it is set to something else, that is. */
  bindTo(target: Element, attribute: string): void {
    this.translator.bind(target, attribute, this);
  }
}

/**
 * Whether a value is a `Translated`. Launcher and panel are bundles of their own and have a class each: what one of them
 * makes, the other one must know as well.
 */
export function isTranslated(value: unknown): value is Translated {
  return typeof value === "object" && value !== null && "bindTo" in value && "asText" in value;
}

/** One widget's language, and everything on the screen that speaks it. */
export class Translator {
  #language = "en";
  #texts: Partial<Texts> = {};
  readonly #nodes = new TranslatedNodes();
  readonly #formats = new Map<string, Intl.NumberFormat>();
  #plurals: Intl.PluralRules | undefined;

  /** Makes a text that follows the language. */
  readonly t: Translate = (key, values = {}) => new Translated(this, key, values);

  /** BCP 47 tag of the language. */
  get language(): string {
    return this.#language;
  }

  /** Writing direction of the language. */
  get direction(): "ltr" | "rtl" {
    return RIGHT_TO_LEFT.has(this.#language.split("-", 1)[0] ?? "") ? "rtl" : "ltr";
  }

  /** Changes the language of everything that is on the screen. */
  use(language: string, texts: Partial<Texts>): void {
    this.#language = language;
    this.#plurals = undefined;
    this.#texts = texts;
    this.#nodes.update();
  }

  /** The text in the language of this moment. */
  say(key: TextKey, values: Values = {}): string {
    const message = this.#texts[key];
    if (message === undefined) return "";
    return this.#form(message, values).replace(/\{(\w+)\}/g, (place, name: string) => {
      const value = values[name];
      return value === undefined ? place : typeof value === "number" ? this.number(value) : value;
    });
  }

  /** A number as the language writes it. */
  number(value: number, options?: Intl.NumberFormatOptions): string {
    return this.#numbers(options).format(value);
  }

  /** Making a format takes far longer than using it. */
  #numbers(options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
    const key = JSON.stringify([this.#language, options]);
    const format = this.#formats.get(key) ?? new Intl.NumberFormat(this.#language, options);
    this.#formats.set(key, format);
    return format;
  }

  /** Shows a text in a text node, or in an attribute of an element, from now on. */
  bind(target: Node, attribute: string | undefined, translated: Translated): void {
    this.#nodes.add(target, attribute, translated);
  }

  /** The form of a text that the number called `count` asks for. */
  #form(message: Message, { count }: Values): string {
    if (typeof message === "string") return message;
    const rule =
      typeof count === "number" ? (this.#plurals ??= new Intl.PluralRules(this.#language)).select(count) : "other";
    return message[rule] ?? message.other;
  }
}

const RIGHT_TO_LEFT = new Set(["ar", "fa", "he", "ur"]);
