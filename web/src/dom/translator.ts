import type { Message, TextKey, Texts } from "../texts/index.js";

/** A text that `toString` gives in the current language. */
interface TranslatedText {
  toString(): string;
}

/** The texts of a node: by attribute name, or by `undefined` for its own text. */
type TextsOfNode = Map<string | undefined, TranslatedText>;

/**
 * The texts are kept on the node itself. The wrapper object of a node in the page may be collected, and a weak
 * reference is then empty, unless the wrapper has a property of its own.
 */
const TEXTS = Symbol("translated texts of this node");

interface TranslatedNode extends Node {
  [TEXTS]?: TextsOfNode;
}

/** The nodes that show translated texts. Nodes that nothing else refers to are forgotten. */
class TranslatedNodes {
  #nodes: WeakRef<TranslatedNode>[] = [];
  #sweepAt = 256;

  /** Shows a text in a text node, or in an attribute of an element, and keeps it up to date. */
  add(node: TranslatedNode, attribute: string | undefined, text: TranslatedText): void {
    if (!node[TEXTS]) {
      node[TEXTS] = new Map();
      if (this.#nodes.length >= this.#sweepAt) this.#sweep();
      this.#nodes.push(new WeakRef(node));
    }
    node[TEXTS].set(attribute, text);
    show(node, attribute, text);
  }

  /** Shows all texts in the current language. */
  update(): void {
    this.#sweep();
    for (const reference of this.#nodes) {
      const node = reference.deref();
      for (const [attribute, text] of node?.[TEXTS] ?? []) if (node) show(node, attribute, text);
    }
  }

  /** Drops the references to collected nodes. */
  #sweep(): void {
    this.#nodes = this.#nodes.filter((node) => node.deref() !== undefined);
    this.#sweepAt = 2 * this.#nodes.length + 256;
  }
}

function show(node: Node, attribute: string | undefined, text: TranslatedText): void {
  if (node instanceof Text) node.data = text.toString();
  else if (node instanceof Element && attribute !== undefined) node.setAttribute(attribute, text.toString());
}

/** The values for the `{name}` places of a text. Numbers are formatted for the language. */
export type Values = Readonly<Record<string, string | number>>;

/** Creates a text that follows the widget's language. */
export type Translate = (key: TextKey, values?: Values) => Translated;

/** A text by its key, in the widget's current language. */
export class Translated {
  readonly translator: Translator;
  readonly key: TextKey;
  readonly values: Values;

  constructor(translator: Translator, key: TextKey, values: Values) {
    this.translator = translator;
    this.key = key;
    this.values = values;
  }

  toString(): string {
    return this.translator.format(this.key, this.values);
  }

  /** A text node that changes with the language. */
  asText(): Text {
    return this.translator.text(() => this.toString());
  }

  /** Sets an attribute that changes with the language. */
  bindTo(target: Element, attribute: string): void {
    this.translator.bind(target, attribute, this);
  }
}

/**
 * Whether a value is a `Translated`. Not by `instanceof`: launcher and panel are separate bundles with a class each,
 * and exchange instances.
 */
export function isTranslated(value: unknown): value is Translated {
  return typeof value === "object" && value !== null && "bindTo" in value && "asText" in value;
}

/** The language of one widget, and the nodes that show texts in it. */
export class Translator {
  #language = "en";
  #texts: Partial<Texts> = {};
  readonly #nodes = new TranslatedNodes();
  readonly #formats = new Map<string, Intl.NumberFormat>();
  #plurals: Intl.PluralRules | undefined;

  /** Creates a text that follows the language. */
  readonly t: Translate = (key, values = {}) => new Translated(this, key, values);

  /** BCP 47 tag of the language. */
  get language(): string {
    return this.#language;
  }

  /** Writing direction of the language. */
  get direction(): "ltr" | "rtl" {
    return RIGHT_TO_LEFT.test(this.#language) ? "rtl" : "ltr";
  }

  /** Changes the language and updates all visible texts. */
  use(language: string, texts: Partial<Texts>): void {
    this.#language = language;
    this.#plurals = undefined;
    this.#texts = texts;
    this.#nodes.update();
  }

  /** The text in the current language. */
  format(key: TextKey, values: Values = {}): string {
    const message = this.#texts[key];
    if (message === undefined) return "";
    return this.#form(message, values).replace(/\{(\w+)\}/g, (place, name: string) => {
      const value = values[name];
      return value === undefined ? place : typeof value === "number" ? this.number(value) : value;
    });
  }

  /** A number formatted for the language. */
  number(value: number, options?: Intl.NumberFormatOptions): string {
    return this.#numbers(options).format(value);
  }

  /** Cached, because creating a format takes far longer than using it. */
  #numbers(options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
    const key = JSON.stringify([this.#language, options]);
    const format = this.#formats.get(key) ?? new Intl.NumberFormat(this.#language, options);
    this.#formats.set(key, format);
    return format;
  }

  /** A text node whose text is read again when the language changes. */
  text(read: () => string): Text {
    const node = document.createTextNode("");
    this.#nodes.add(node, undefined, { toString: read });
    return node;
  }

  /** Shows a text in an attribute of an element, and keeps it up to date. */
  bind(target: Element, attribute: string, translated: Translated): void {
    this.#nodes.add(target, attribute, translated);
  }

  /** The plural form of a text for the value `count`. */
  #form(message: Message, { count }: Values): string {
    if (typeof message === "string") return message;
    const rule =
      typeof count === "number" ? (this.#plurals ??= new Intl.PluralRules(this.#language)).select(count) : "other";
    return message[rule] ?? message.other;
  }
}

const RIGHT_TO_LEFT = /^(ar|fa|he|ur)\b/;
