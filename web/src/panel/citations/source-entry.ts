import type { DocumentPassages } from "../../client/cited-documents.js";
import { optional } from "../../client/json.js";
import type { Citation, EvidenceStrength } from "../../client/wire.js";
import { type Attributes, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { headingOf, placesOf } from "./documents.js";
import { type Download, linksOf } from "./links.js";
import { excerptOf } from "./passage/draw.js";
import { citedRanges } from "./quotes.js";
import { verifiedMark } from "./verify.js";

/** Dependencies of an entry. */
export interface EntryContext {
  readonly translator: Translator;
  readonly download: Download;
  /** Called when the visitor opens the entry. */
  readonly opened: (citation: Citation) => void;
  /** The visible answer, which quotes are compared with. */
  readonly answer: () => string;
}

/** A document in the list of sources. */
export interface SourceEntry {
  readonly root: HTMLDetailsElement;
  focus(): void;
  /** Opens and focuses the entry and scrolls the passage into view. */
  reveal(citation: Citation): void;
}

/** Creates the entry of a document. Its passages are created when it opens for the first time. */
export function sourceEntry(citations: DocumentPassages, context: EntryContext): SourceEntry {
  const { translator, download, answer, opened } = context;
  const isOnly = citations.length === 1;
  const passages = new Map<Citation, HTMLElement>();
  const drawPassage = (citation: Citation) =>
    element(
      "div",
      { class: "passage", "data-role": "passage" },
      isOnly ? undefined : passageHead(citation, translator),
      excerptOf(citation, citedRanges(citation)),
      verifiedMark(citation, answer(), translator),
    );
  const drawBody = () => {
    for (const citation of citations) passages.set(citation, drawPassage(citation));
    const links = linksOf(withAll(citations), translator, download, citations);
    return element("div", { class: "source-body" }, ...passages.values(), links);
  };
  const head = summary(citations, translator);
  const attributes = { class: "source", part: "source", "data-role": "source", "data-index": citations[0].index };
  const { root, draw } = openable(attributes, head, drawBody);
  head.addEventListener("click", () => {
    if (!root.open) opened(bestOf(citations));
  });
  const focus = () => head.focus({ preventScroll: true });
  const reveal = (citation: Citation) => {
    draw();
    root.open = true;
    focus();
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    const passage = isOnly ? undefined : passages.get(citation);
    for (const each of passages.values()) each.toggleAttribute("data-current", each === passage);
    (passage ?? root).scrollIntoView({ block: "nearest", behavior });
  };
  return { root, focus, reveal };
}

/** A `details` element whose content is created when it opens for the first time, or by `draw`. */
export function openable(attributes: Attributes, summary: HTMLElement, content: () => HTMLElement) {
  const root = element("details", attributes, summary);
  const draw = (): void => {
    if (root.lastChild === summary) root.append(content());
  };
  // On click, so that it opens at its full height; on toggle, because browsers open it for a search in the page.
  summary.addEventListener("click", draw);
  root.addEventListener("toggle", draw);
  return { root, draw };
}

function summary(citations: DocumentPassages, translator: Translator): HTMLElement {
  const [first] = citations;
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
    evidenceOf(bestOf(citations), translator),
    icon(icons.chevron),
  );
}

function passageHead(citation: Citation, translator: Translator): HTMLElement {
  return element(
    "div",
    { class: "passage-head row" },
    placesOf([citation], translator),
    evidenceOf(citation, translator),
  );
}

/** The first citation with every link that any passage of the document has. */
function withAll(citations: DocumentPassages): Citation {
  const url = citations.find((citation) => citation.url !== undefined)?.url;
  const download = citations.find((citation) => citation.download_url !== undefined)?.download_url;
  return {
    ...citations[0],
    ...optional("url", url),
    ...optional("download_url", download),
    available: citations.every((citation) => citation.available !== false),
  };
}

const STRENGTHS = { strong: "strengthStrong", good: "strengthGood", partial: "strengthPartial" } as const;
const ORDER: readonly (EvidenceStrength | undefined)[] = ["strong", "good", "partial", undefined];

/** The passage with the best evidence. */
function bestOf(citations: DocumentPassages): Citation {
  const rank = ({ strength }: Citation) => ORDER.indexOf(strength);
  return citations.reduce((best, each) => ((rank(each) - rank(best) || best.score - each.score) < 0 ? each : best));
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
