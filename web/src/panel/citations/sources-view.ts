import type { Citation, FoundPassage } from "../../client/wire.js";
import { type Attributes, button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { byDocument, headingOf } from "./documents.js";
import { type Download, linksOf } from "./links.js";
import { excerptOf } from "./passage/draw.js";
import { shownWords, wholeWords } from "./quotes.js";
import { type EntryContext, SourceEntry } from "./source-entry.js";
import { isVerified } from "./verify.js";

/** Number of documents that are listed at first. */
const INITIAL_COUNT = 3;

/** The list of sources below an answer, with an entry for each document. */
export class SourcesView {
  readonly root: HTMLElement;
  readonly #context: EntryContext;
  readonly #list = element("ul");
  readonly #entries = new Map<number, SourceEntry>();
  readonly #more: HTMLButtonElement;
  /** The documents that are not listed yet, in order. */
  #rest: readonly (readonly Citation[])[];

  constructor(citations: readonly Citation[], context: EntryContext) {
    const { translator } = context;
    const documents = byDocument(citations);
    const label = translator.t("sources", { count: documents.length });
    this.#context = context;
    this.#rest = documents;
    this.#more = button(
      { class: "button quiet more-sources", "data-role": "more-sources" },
      () => this.#listMore(Number.POSITIVE_INFINITY)?.focus(),
      translator.t("showMoreSources"),
    );
    this.root = element(
      "div",
      // Not a landmark: each answer of a conversation has its own sources.
      { class: "sources", part: "sources", role: "group", "data-role": "sources", "aria-label": label },
      element(
        "div",
        { class: "sources-head" },
        element("p", { class: "sources-label" }, label),
        agreement(citations, context),
      ),
      this.#list,
      this.#more,
    );
    this.#listMore(INITIAL_COUNT);
  }

  /** Opens the entry of a passage and scrolls it into view. */
  reveal(citation: Citation): void {
    if (!this.#entries.has(citation.index)) this.#listMore(Number.POSITIVE_INFINITY);
    this.#entries.get(citation.index)?.reveal(citation);
  }

  /** Lists `count` more documents and gives the first of them. */
  #listMore(count: number): SourceEntry | undefined {
    const next = this.#rest.slice(0, count);
    this.#rest = this.#rest.slice(next.length);
    const entries = next.map((citations) => new SourceEntry(citations, this.#context));
    for (const [place, entry] of entries.entries()) {
      this.#entries.set(next[place]?.[0]?.index ?? 0, entry);
      this.#list.append(element("li", {}, entry.root));
    }
    this.#more.hidden = this.#rest.length === 0;
    return entries[0];
  }
}

function agreement(citations: readonly Citation[], { translator, answer }: EntryContext): HTMLElement | undefined {
  const { agreeing, total } = agreementOf(citations, answer());
  if (agreeing < 2) return undefined;
  return element(
    "p",
    { class: "agreement", title: translator.t("sourcesAgreeHelp"), "data-role": "agreement" },
    translator.t("sourcesAgree", { agreeing, total }),
  );
}

/** How many of the cited documents say the first sentence of the answer. */
interface Agreement {
  readonly agreeing: number;
  readonly total: number;
}

/**
 * Counts the documents with a verified quote of the answer's first quoted sentence. Only case, white space and punctuation
 * may differ: one other word, number or sign may be a contradiction. `agreeing` is 0 if the answer has no verified quote.
 */
export function agreementOf(citations: readonly Citation[], answer: string): Agreement {
  const documents = byDocument(citations);
  const [first] = statements(citations, answer)
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  if (!first) return { agreeing: 0, total: documents.length };
  const agrees = (passages: readonly Citation[]) =>
    statements(passages, answer).some(({ said }) => said === first.said);
  return { agreeing: documents.filter(agrees).length, total: documents.length };
}

/** What a quote says, and its place in the answer; -1 if white space differs there. */
interface Statement {
  readonly at: number;
  readonly said: string;
}

/** The verified quotes of passages. */
function statements(citations: readonly Citation[], answer: string): Statement[] {
  return citations.flatMap((citation) =>
    citation.quotes
      .filter((quote) => isVerified(citation, quote, answer))
      .map((quote) => ({ at: answer.indexOf(shownWords(quote)), said: said(wholeWords(quote)) })),
  );
}

/** The words and signs of a text in lower case, with a space between them. */
function said(text: string): string {
  return (text.normalize("NFC").toLowerCase().match(WORD_OR_SIGN) ?? []).join(" ");
}

/** A word or number, or a sign that is not just punctuation: "€", "%", "-". */
const WORD_OR_SIGN =
  /[\p{L}\p{M}\p{N}]+(?:[.,:'’][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}.,;:!?…"'“”„‘’«»()[\]、。，：；！？「」（）،؛؟]/gu;

/**
 * The list of passages that the answer does not quote. They are not sources, so the list starts closed, and its entries are created after
 * the answer is shown.
 */
export function alsoFound(
  passages: readonly FoundPassage[],
  translator: Translator,
  download: Download,
): HTMLElement | undefined {
  if (passages.length === 0) return undefined;
  const { t } = translator;
  const summary = element(
    "summary",
    { class: "button quiet", title: t("alsoFoundHelp") },
    t("alsoFound", { count: passages.length }),
    icon(icons.chevron),
  );
  const entries = () =>
    element("ul", {}, ...passages.map((passage) => element("li", {}, entryOf(passage, translator, download))));
  const list = openable({ class: "also-found", part: "also-found", "data-role": "also-found" }, summary, entries);
  setTimeout(list.draw);
  return list.root;
}

/** One passage. Its content is created when it opens for the first time. */
function entryOf(passage: FoundPassage, translator: Translator, download: Download): HTMLElement {
  const summary = element("summary", {}, headingOf(passage, [passage], translator), icon(icons.chevron));
  const body = () =>
    element("div", { class: "source-body" }, excerptOf(passage), linksOf(passage, translator, download));
  return openable({ class: "source", part: "found", "data-role": "found" }, summary, body).root;
}

/** A `details` element whose content is created when it opens for the first time, or by `draw`. */
function openable(attributes: Attributes, summary: HTMLElement, content: () => HTMLElement) {
  const root = element("details", attributes, summary);
  const draw = (): void => {
    if (root.lastChild === summary) root.append(content());
  };
  // On click, so that it opens at its full height; on toggle, because browsers open it for a search in the page.
  summary.addEventListener("click", draw);
  root.addEventListener("toggle", draw);
  return { root, draw };
}
