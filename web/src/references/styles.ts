// APA (7th edition), MLA (9th) and Chicago (author-date), for documents without author and date of publication.
import { type ReferenceItem, referenceItem, type ReferenceSource } from "./source.js";

type Style = "apa" | "mla" | "chicago";

/** The words and signs of a language in references. */
interface Terms {
  readonly noDate: string;
  readonly page: string;
  readonly pages: string;
  /** Before the date in MLA and Chicago. */
  readonly accessed: string;
  /** APA's words around date and address. */
  readonly retrieved: (date: string, url: string) => string;
  readonly quotes: readonly [open: string, close: string];
  readonly innerQuotes: readonly [open: string, close: string];
}

const ENGLISH: Terms = {
  noDate: "n.d.",
  page: "p.",
  pages: "pp.",
  accessed: "Accessed",
  retrieved: (date, url) => `Retrieved ${date}, from ${url}`,
  quotes: ["“", "”"],
  innerQuotes: ["‘", "’"],
};

const TERMS = new Map<string, Terms>([
  ["en", ENGLISH],
  [
    "de",
    {
      noDate: "o.\u00a0J.",
      page: "S.",
      pages: "S.",
      accessed: "Zugegriffen",
      retrieved: (date, url) => `Abgerufen ${date}, von ${url}`,
      quotes: ["„", "“"],
      innerQuotes: ["‚", "‘"],
    },
  ],
  [
    "es",
    {
      noDate: "s.\u00a0f.",
      page: "p.",
      pages: "pp.",
      accessed: "Accedido",
      retrieved: (date, url) => `Recuperado ${date}, de ${url}`,
      quotes: ["«", "»"],
      innerQuotes: ["“", "”"],
    },
  ],
  [
    "fr",
    {
      noDate: "s.\u00a0d.",
      page: "p.",
      pages: "p.",
      accessed: "Consulté le",
      retrieved: (date, url) => `Consulté ${date}, à l’adresse ${url}`,
      quotes: ["«\u00a0", "\u00a0»"],
      innerQuotes: ["“", "”"],
    },
  ],
]);

/** MLA's, which are not those of `Intl`. */
const SHORT_MONTHS = "Jan. Feb. Mar. Apr. May June July Aug. Sept. Oct. Nov. Dec.".split(" ");

/** Writes references in a style, sorted by title, with an empty line between two. */
export function formatStyle(sources: readonly ReferenceSource[], style: Style, language: string): string {
  const primary = language.toLowerCase().split("-", 1)[0] ?? "";
  const locale = TERMS.has(primary) ? primary : "en";
  const writer = new Writer(locale, TERMS.get(locale) ?? ENGLISH);
  const { compare } = new Intl.Collator(locale);
  return sources
    .map(referenceItem)
    .sort((a, b) => compare(sortKey(a), sortKey(b)))
    .map((item) => writer[style](item))
    .join("\n\n");
}

/** The title from its first letter or digit on. */
function sortKey({ title }: ReferenceItem): string {
  return title.replace(/^[\p{P}\p{S}\s]+/u, "");
}

class Writer {
  readonly #locale: string;
  readonly #terms: Terms;

  constructor(locale: string, terms: Terms) {
    this.#locale = locale;
    this.#terms = terms;
  }

  /** `Title (pp. 3, 5). (n.d.). Site. Retrieved November 5, 2026, from https://…` */
  apa(item: ReferenceItem): string {
    const { title, pages, url, accessed } = item;
    const { noDate, retrieved } = this.#terms;
    const name = this.#curly(title);
    return [
      sentence(pages === "" ? name : `${name} (${this.#pages(pages)})`),
      `(${noDate}).`,
      sentence(this.#site(item)),
      url && retrieved(this.#date(accessed), url),
    ]
      .filter(Boolean)
      .join(" ");
  }

  /** `“Title.” Site, https://…. Accessed 5 Nov. 2026.`, without quotes unless the title is part of a site. */
  mla(item: ReferenceItem): string {
    const { isWebPage, title, site, pages, url, accessed } = item;
    const place = [this.#site(item), pages && this.#pages(pages), url].filter(Boolean).join(", ");
    return [
      isWebPage && site !== undefined ? this.#quoted(title) : sentence(this.#curly(this.#title(title))),
      sentence(place),
      this.#accessed(accessed, true),
    ]
      .filter(Boolean)
      .join(" ");
  }

  /** `“Title.” n.d. Site. Accessed November 5, 2026. https://….` */
  chicago(item: ReferenceItem): string {
    const { title, url, accessed } = item;
    return [
      this.#quoted(title),
      this.#terms.noDate,
      sentence(this.#site(item)),
      this.#accessed(accessed),
      url && `${url}.`,
    ]
      .filter(Boolean)
      .join(" ");
  }

  /** English capitalises the words of titles. */
  #title(title: string): string {
    return this.#locale === "en" ? titleCase(title) : title;
  }

  /** With typographic apostrophes and quotes. */
  #curly(title: string, [open, close] = this.#terms.quotes): string {
    return title.replace(/(?<=[\p{L}\p{N}])'(?=\p{L})/gu, "’").replace(/"([^"]*)"/g, `${open}$1${close}`);
  }

  /** A site is a title too; a publisher is a name. */
  #site({ site = "", isWebPage }: ReferenceItem): string {
    return isWebPage ? this.#title(site) : site;
  }

  /** A title in quotes, with its full stop: inside them in English, otherwise after them. */
  #quoted(title: string): string {
    const { quotes, innerQuotes } = this.#terms;
    const [open, close] = quotes;
    const inner = this.#curly(this.#title(title).replace(/“([^“”]*)”/g, '"$1"'), innerQuotes);
    if (this.#locale === "en") return `${open}${sentence(inner)}${close}`;
    return sentence(`${open}${inner}${close}`);
  }

  #pages(pages: string): string {
    return `${pages.includes(",") ? this.#terms.pages : this.#terms.page} ${pages}`;
  }

  #accessed(date: Date, isShort = false): string {
    return `${this.#terms.accessed} ${this.#date(date, isShort)}.`;
  }

  #date(date: Date, isShort = false): string {
    if (isShort && this.#locale === "en")
      return `${date.getDate()} ${SHORT_MONTHS[date.getMonth()]} ${date.getFullYear()}`;
    return new Intl.DateTimeFormat(this.#locale, { year: "numeric", month: "long", day: "numeric" }).format(date);
  }
}

/** The text with a full stop, which English puts inside closing quotes, unless it ends like a sentence already. */
function sentence(text: string): string {
  if (text === "" || /[.!?…][”’“‘»"'\s]*$/.test(text)) return text;
  return text.replace(/[”’]*$/, ".$&");
}

/** Articles, conjunctions and prepositions, which stay as they are inside a title. */
const SMALL_WORDS = new Set(
  "a an and as at but by down for from in into nor of on onto or over so the till to up via with yet".split(" "),
);

/**
 * An English title with capitals as MLA and Chicago want them. Words with a capital or a dot inside stay as they are.
 */
function titleCase(title: string): string {
  const words = [...title.matchAll(/[^\s-]+/g)];
  const last = words.length - 1;
  return words.reduceRight((text, { 0: word, index }, number) => {
    const before = title.slice(0, index).trimEnd();
    const isFirst = number === 0 || number === last || /[:?!.]$/.test(before);
    const bare = word.replace(/[^\p{L}\p{N}'’]/gu, "");
    if ((!isFirst && SMALL_WORDS.has(bare)) || /\p{Lu}|[\p{L}\p{N}][.@/\\<>_][\p{L}\p{N}]/u.test(word)) return text;
    const at = word.search(/[\p{L}\p{N}]/u);
    // A markup tag is not a word.
    if (at < 0 || /^<|[<&]/.test(word)) return text;
    const start = index + at;
    const [first = ""] = text.slice(start);
    return `${text.slice(0, start)}${first.toUpperCase()}${text.slice(start + first.length)}`;
  }, title);
}
