import type { Citation, EvidenceStrength } from "../../client/wire.js";
import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { headingOf, placesOf } from "./documents.js";
import { type Download, linksOf } from "./links.js";
import { excerptOf } from "./passage/draw.js";
import { citedRanges } from "./quotes.js";
import { verifiedMark } from "./verify.js";

/** What an entry needs besides its passages. */
export interface EntryContext {
  readonly translator: Translator;
  readonly download: Download;
  /** Called when the visitor opens the entry. */
  readonly opened: (citation: Citation) => void;
  /** The visible answer, which quotes are compared with. */
  readonly answer: () => string;
}

/** A document in the list of sources. Its passages are created when it opens for the first time. */
export class SourceEntry {
  readonly root: HTMLDetailsElement;
  readonly #citations: readonly Citation[];
  readonly #context: EntryContext;
  readonly #summary: HTMLElement;
  readonly #passages = new Map<Citation, HTMLElement>();

  /** `citations` are the passages of one document; at least one. */
  constructor(citations: readonly Citation[], context: EntryContext) {
    const [first] = citations;
    if (!first) throw new RangeError("A source without a passage");
    this.#citations = citations;
    this.#context = context;
    this.#summary = summary(first, citations, context.translator);
    this.root = element(
      "details",
      { class: "source", part: "source", "data-role": "source", "data-index": first.index },
      this.#summary,
    );
    this.#summary.addEventListener("click", () => {
      if (!this.root.open) context.opened(bestOf(citations) ?? first);
    });
    // On click, so that it opens at its full height; on toggle, because browsers open it for a search in the page.
    this.#summary.addEventListener("click", () => this.#draw());
    this.root.addEventListener("toggle", () => this.#draw());
  }

  focus(): void {
    this.#summary.focus({ preventScroll: true });
  }

  /** Opens and focuses the entry and scrolls the passage into view. */
  reveal(citation: Citation): void {
    this.#draw();
    this.root.open = true;
    this.focus();
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    const isOnly = this.#citations.length === 1;
    const passage = isOnly ? undefined : this.#passages.get(citation);
    for (const [, each] of this.#passages) each.toggleAttribute("data-current", each === passage);
    (passage ?? this.root).scrollIntoView({ block: "nearest", behavior });
  }

  #draw(): void {
    if (this.#passages.size > 0) return;
    for (const citation of this.#citations) this.#passages.set(citation, this.#passage(citation));
    const { translator, download } = this.#context;
    const [first] = this.#citations;
    const links = first && linksOf(withAll(first, this.#citations), translator, download, this.#citations);
    this.root.append(element("div", { class: "source-body" }, ...this.#passages.values(), links));
  }

  #passage(citation: Citation): HTMLElement {
    const { translator, answer } = this.#context;
    const isOnly = this.#citations.length === 1;
    return element(
      "div",
      { class: "passage", "data-role": "passage" },
      isOnly ? undefined : passageHead(citation, translator),
      excerptOf(citation, citedRanges(citation)),
      verifiedMark(citation, answer(), translator),
    );
  }
}

function summary(first: Citation, citations: readonly Citation[], translator: Translator): HTMLElement {
  const { t } = translator;
  const count = citations.length;
  return element(
    "summary",
    {},
    element(
      "span",
      { class: "source-number", "data-role": "source-number" },
      t("sourceNumber", { count: first.index }),
    ),
    headingOf(
      first,
      citations,
      translator,
      count > 1
        ? element("span", { class: "source-count", "data-role": "source-count" }, t("passages", { count }))
        : undefined,
    ),
    evidenceOf(bestOf(citations) ?? first, translator),
    icon(icons.chevron),
  );
}

function passageHead(citation: Citation, translator: Translator): HTMLElement {
  return element("div", { class: "passage-head" }, placesOf([citation], translator), evidenceOf(citation, translator));
}

/** The first citation with every link that any passage of the document has. */
function withAll(first: Citation, citations: readonly Citation[]): Citation {
  const url = citations.find((citation) => citation.url !== undefined)?.url;
  const download = citations.find((citation) => citation.download_url !== undefined)?.download_url;
  return {
    ...first,
    ...(url === undefined ? {} : { url }),
    ...(download === undefined ? {} : { download_url: download }),
    available: citations.every((citation) => citation.available !== false),
  };
}

const STRENGTHS = { strong: "strengthStrong", good: "strengthGood", partial: "strengthPartial" } as const;
const ORDER: readonly (EvidenceStrength | undefined)[] = ["strong", "good", "partial", undefined];

/** The passage with the best evidence. */
function bestOf(citations: readonly Citation[]): Citation | undefined {
  const rank = ({ strength }: Citation) => ORDER.indexOf(strength);
  return [...citations].sort((a, b) => rank(a) - rank(b) || b.score - a.score)[0];
}

/** The strength in words, if it is known, and the cosine similarity. */
export function evidenceOf({ strength, score }: Citation, translator: Translator): HTMLElement {
  const similarity = translator.t("similarity", { score: Math.round(score * 100) / 100 });
  const known = strength && [
    element("span", { class: "score-bars", "aria-hidden": "true" }, element("i"), element("i"), element("i")),
    element("span", { class: "score-label", "data-role": "strength" }, translator.t(STRENGTHS[strength])),
  ];
  const digits = translator.number(score, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return element(
    "span",
    { class: "score", "data-role": "score", "data-strength": strength, title: similarity },
    ...(known ?? []),
    element("span", { class: "visually-hidden" }, similarity),
    element("small", { class: "score-value", "aria-hidden": "true", "data-role": "score-value" }, digits),
  );
}
