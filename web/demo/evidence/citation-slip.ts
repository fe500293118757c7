import type { Citation, EvidenceStrength } from "../../src/client/wire.js";
import { element } from "../../src/dom/element.js";
import { sectionOf } from "../../src/panel/citations/documents.js";
import { cosine, number } from "../format.js";

/** The default of `evidence_threshold`, the column of an assistant. */
export const THRESHOLD = 0.35;

/** One cited passage: its place, its similarity to the question, and its quotes or source sentences. */
export function citationSlip(citation: Citation): HTMLElement {
  const place = [sectionOf(citation), pageOf(citation)].filter((part) => part !== undefined);
  return element(
    "article",
    { class: "slip", "data-chunk": citation.chunk_id },
    element("span", { class: "slip-number" }, number(citation.index)),
    element("h3", { class: "slip-title", dir: "auto" }, citation.title),
    place.length > 0 ? element("p", { class: "slip-place", dir: "auto" }, place.join(" · ")) : undefined,
    strength(citation.strength),
    tape(citation.score),
    measures(citation.score),
    citation.score < THRESHOLD ? element("p", { class: "slip-place" }, SENTENCE_REACHES) : undefined,
    ...quotes(citation),
  );
}

/** The cosine similarity on a scale from 0 to 1, with the threshold marked and the numbers below. */
function tape(score: number): HTMLElement {
  const made = element(
    "div",
    { class: "tape", "aria-hidden": "true" },
    element("span", { class: "tape-fill" }),
    element("span", { class: "tape-threshold" }),
  );
  // Through CSSOM, because a strict `style-src` forbids the attribute.
  made.style.setProperty("--cosine", String(Math.min(1, Math.max(0, score))));
  made.style.setProperty("--threshold", String(THRESHOLD));
  return made;
}

function measures(score: number): HTMLElement {
  return element(
    "p",
    { class: "slip-measures" },
    element("strong", {}, `Cosine ${cosine(score)}`),
    element("span", {}, `Threshold ${cosine(THRESHOLD)}`),
  );
}

function strength(value: EvidenceStrength | undefined): HTMLElement | undefined {
  return value && element("span", { class: "strength", "data-strength": value }, value);
}

function quotes({ quotes, supports = [] }: Citation): HTMLElement[] {
  return [...quotes, ...supports].map(({ text }) => element("blockquote", { dir: "auto" }, element("mark", {}, text)));
}

function pageOf({ page }: Citation): string | undefined {
  return page === undefined ? undefined : `page ${number(page)}`;
}

const SENTENCE_REACHES = "Below the threshold as a whole, but one of its sentences reaches it.";
