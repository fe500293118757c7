import type { Citation } from "../../client/wire.js";
import { button, element } from "../../dom/element.js";
import { agreementOf } from "./agreement.js";
import { byDocument } from "./documents.js";
import { type EntryContext, SourceEntry } from "./source-entry.js";

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
