import type { Citation, EvidenceStrength } from "../../src/client/wire.js";
import { element } from "../../src/dom/element.js";
import { sectionOf } from "../../src/panel/citations/documents.js";
import type { PageLanguage } from "../language.js";
import type { TextKey } from "../texts/texts.js";
import { THRESHOLD } from "./threshold.js";

/** One cited passage: its place, its similarity to the question, and its quotes or source sentences. */
export function citationSlip(citation: Citation, language: PageLanguage): HTMLElement {
  const place = [sectionOf(citation), pageOf(citation, language)].filter((part) => part !== undefined);
  return element(
    "article",
    { class: "slip", "data-chunk": citation.chunk_id },
    element("span", { class: "slip-number" }, language.number(citation.index)),
    element("h3", { class: "slip-title", dir: "auto" }, citation.title),
    place.length > 0 ? element("p", { class: "slip-place", dir: "auto" }, place.join(" · ")) : undefined,
    strength(citation.strength, language),
    tape(citation.score),
    measures(citation.score, language),
    citation.score < THRESHOLD ? element("p", { class: "slip-place" }, language.say("sentenceReaches")) : undefined,
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

function measures(score: number, language: PageLanguage): HTMLElement {
  const value = (number: number) => language.number(number, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return element(
    "p",
    { class: "slip-measures" },
    element("strong", {}, language.say("cosine", { value: value(score) })),
    element("span", {}, language.say("threshold", { value: value(THRESHOLD) })),
  );
}

function strength(value: EvidenceStrength | undefined, language: PageLanguage): HTMLElement | undefined {
  const key = value && STRENGTHS[value];
  return key && element("span", { class: "strength", "data-strength": value }, language.say(key));
}

function quotes({ quotes, supports = [] }: Citation): HTMLElement[] {
  return [...quotes, ...supports].map(({ text }) => element("blockquote", { dir: "auto" }, element("mark", {}, text)));
}

function pageOf({ page }: Citation, language: PageLanguage): string | undefined {
  return page === undefined ? undefined : language.say("page", { page: language.number(page) });
}

const STRENGTHS: Readonly<Record<EvidenceStrength, TextKey>> = {
  strong: "strengthStrong",
  good: "strengthGood",
  partial: "strengthPartial",
};
