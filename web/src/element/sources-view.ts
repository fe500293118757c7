import type { Citation, EvidenceStrength } from "../client/wire.js";
import { element, icon } from "./dom.js";
import { highlightQuotes } from "./highlight.js";
import { ICONS } from "./icons.js";

/** The list of sources below an answer. */
export class SourcesView {
  readonly root: HTMLElement;
  readonly #entries: readonly { citation: Citation; details: HTMLDetailsElement }[];

  constructor(citations: readonly Citation[]) {
    this.#entries = citations.map((citation) => ({ citation, details: sourceEntry(citation) }));
    this.root = element(
      "section",
      { class: "sources", part: "sources", "data-role": "sources", "aria-label": "Sources" },
      element("p", { class: "sources-label" }, citations.length === 1 ? "Source" : `${citations.length} sources`),
      element("ul", {}, ...this.#entries.map(({ details }) => element("li", {}, details))),
    );
  }

  /** The title behind a marker, or `undefined` if no source has that number. */
  titleOf(index: number): string | undefined {
    return this.#entries.find(({ citation }) => citation.index === index)?.citation.title;
  }

  /**
   * Opens the entry a marker points at and brings it into view. A document has one number but an entry for each of its
   * passages; the words in front of the marker tell which of them is meant.
   */
  reveal(index: number, wordsBefore: string): void {
    const numbered = this.#entries.filter(({ citation }) => citation.index === index);
    const quoted = numbered.find(({ citation }) =>
      citation.quotes.some(({ text, plain }) => wordsBefore.includes(plain ?? text)),
    );
    const details = (quoted ?? numbered[0])?.details;
    if (!details) return;
    details.open = true;
    details.querySelector("summary")?.focus({ preventScroll: true });
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    details.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  }
}

function sourceEntry(citation: Citation): HTMLDetailsElement {
  return element(
    "details",
    { class: "source", part: "source", "data-role": "source", "data-index": citation.index },
    element(
      "summary",
      {},
      element("span", { class: "source-number", "data-role": "source-number" }, String(citation.index)),
      element(
        "span",
        { class: "source-heading" },
        element("span", { class: "source-title", "data-role": "source-title" }, citation.title),
        placeIn(citation),
      ),
      evidence(citation),
      icon(ICONS.chevron),
    ),
    element("div", { class: "source-body" }, excerpt(citation), link(citation)),
  );
}

function placeIn({ section, page }: Citation): HTMLElement | undefined {
  const place = [section, page === undefined ? undefined : `Page ${page}`].filter((part) => part !== undefined);
  return place.length > 0
    ? element("span", { class: "source-place", "data-role": "source-place" }, place.join(" · "))
    : undefined;
}

const STRENGTH_LABELS: Readonly<Record<EvidenceStrength, string>> = {
  strong: "Strong evidence",
  good: "Good evidence",
  partial: "Partial evidence",
};

/** The strength in words, as far as it is known, and the raw cosine. */
function evidence({ strength, score }: Citation): HTMLElement {
  const cosine = score.toFixed(2);
  const known = strength && [
    element("span", { class: "score-bars", "aria-hidden": "true" }, element("i"), element("i"), element("i")),
    element("span", { class: "score-label", "data-role": "strength" }, STRENGTH_LABELS[strength]),
  ];
  return element(
    "span",
    { class: "score", "data-role": "score", "data-strength": strength, title: `Cosine similarity ${cosine}` },
    ...(known ?? []),
    element("span", { class: "visually-hidden" }, "cosine similarity"),
    element("small", { class: "score-value", "data-role": "score-value" }, cosine),
  );
}

function excerpt(citation: Citation): HTMLElement {
  const runs = highlightQuotes(citation.excerpt, citation.quotes).map(({ text, quoted }) =>
    quoted ? element("mark", { part: "quote", "data-role": "quote" }, text) : text,
  );
  return element("blockquote", { "data-role": "excerpt" }, ...runs);
}

/** `url` was checked to be http(s) when the event was read. */
function link({ url }: Citation): HTMLElement | undefined {
  if (url === undefined) return undefined;
  return element(
    "a",
    { class: "source-link", href: url, target: "_blank", rel: "noopener noreferrer", "data-role": "source-link" },
    "Open document",
    icon(ICONS.external),
  );
}
