import { byDocument } from "../../client/cited-documents.js";
import type { Citation, FoundPassage } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { headingOf } from "./documents.js";
import { type Download, linksOf } from "./links.js";
import { excerptOf } from "./passage/draw.js";
import { shownWords, wholeWords } from "./quotes.js";
import { type EntryContext, openable, type SourceEntry, sourceEntry } from "./source-entry.js";
import { isVerified } from "./verify.js";

/** Number of documents that are listed at first. */
const INITIAL_COUNT = 3;

/** The list of sources below an answer. */
export interface SourcesView {
  readonly root: HTMLElement;
  /** Opens the entry of a passage and scrolls it into view. */
  reveal(citation: Citation): void;
}

/** Creates the list, with an entry for each document. */
export function sourcesView(citations: readonly Citation[], context: EntryContext): SourcesView {
  const { t } = context.translator;
  const documents = byDocument(citations);
  const entries = new Map<number, SourceEntry>();
  const list = element("ul");
  const listUpTo = (count: number) => {
    for (const passages of documents.slice(entries.size, count)) {
      const entry = sourceEntry(passages, context);
      entries.set(passages[0].index, entry);
      list.append(element("li", {}, entry.root));
    }
    more.hidden = entries.size === documents.length;
  };
  const listMore = () => {
    const listed = entries.size;
    listUpTo(documents.length);
    [...entries.values()][listed]?.focus();
  };
  const more = button(
    { class: "button quiet more-sources", "data-role": "more-sources" },
    listMore,
    t("showMoreSources"),
  );
  const label = t("sources", { count: documents.length });
  const head = element("p", { class: "sources-label" }, label);
  const root = element(
    "div",
    // Not a landmark: each answer of a conversation has its own sources.
    { class: "sources", part: "sources", role: "group", "data-role": "sources", "aria-label": label },
    element("div", { class: "sources-head row" }, head, agreement(citations, context)),
    list,
    more,
  );
  listUpTo(INITIAL_COUNT);
  const reveal = (citation: Citation) => {
    if (!entries.has(citation.index)) listUpTo(documents.length);
    entries.get(citation.index)?.reveal(citation);
  };
  return { root, reveal };
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

/** Counts the cited documents that say the first sentence of the answer. */
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

/** The words of a quote, and its place in the answer; -1 if white space differs there. */
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
