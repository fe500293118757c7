import { button, element } from "../src/dom/element.js";
import type { Gap, Scope } from "./data.js";
import { formatCount, formatDate, plural } from "./format.js";
import { saveFile } from "../src/panel/save-file.js";
import { NO_TEXT, onOneLine, shorten, wholeText } from "./others-text.js";
import { announce, notice } from "./page.js";

/** The longest part of a question in the name of a button, for screen readers. */
const MAX_LABEL_CHARACTERS = 100;

/** Groups of questions without a good answer, each with its examples and a draft of the page that is missing. */
export function showGaps(place: HTMLElement, gaps: readonly Gap[], { assistant }: Scope): void {
  if (gaps.length === 0) {
    place.append(notice("No question without a good answer was asked by several users in this period."));
    return;
  }
  place.append(element("ol", { class: "gaps" }, ...gaps.map((gap) => gapItem(gap, assistant === null))));
}

function gapItem(gap: Gap, showsAssistant: boolean): HTMLElement {
  const [question = "", ...others] = gap.examples;
  const disliked = gap.disliked > 0 ? `, ${formatCount(gap.disliked)} answered but disliked` : "";
  const counts = `${plural(gap.questions, "question")} of ${plural(gap.users, "user")}${disliked}`;
  const assistant = showsAssistant ? `, to ${gap.assistant_name}` : "";
  const write = button({}, () => download(gap), "Write a page about this");
  write.setAttribute("aria-label", `Write a page about this: ${shorten(onOneLine(question), MAX_LABEL_CHARACTERS)}`);
  return element(
    "li",
    { class: "card gap" },
    element("h3", { dir: "auto" }, shorten(onOneLine(question))),
    wholeText(question, "The whole question"),
    element("p", { class: "detail" }, `${counts}${assistant}. Last asked on ${formatDate(gap.last_asked)}.`),
    element("p", { class: "detail" }, explainReasons(gap.reasons)),
    others.length > 0
      ? element(
          "details",
          {},
          element("summary", {}, `${plural(others.length, "similar question")}`),
          element("ul", {}, ...others.map((other) => element("li", { dir: "auto" }, shorten(onOneLine(other))))),
        )
      : undefined,
    write,
  );
}

/** Saves the draft as a Markdown file. */
function download(gap: Gap): void {
  const { name, text } = draftPage(gap);
  saveFile({ name, blob: new Blob([text], { type: "text/markdown" }) });
  announce(`Saved ${name}.`);
}

/** A longer question makes no title. */
const MAX_TITLE_CHARACTERS = 150;

const REASONS: Record<string, string> = {
  no_match: "No passage is about it.",
  weak_evidence: "Some passages are near, but do not answer it.",
  unreadable_language: "The questions are in a script that the model cannot read, and their words were not found.",
  no_access: "There was no document that they may read.",
  empty_kb: "There were no documents.",
  disliked: "It was answered, and the visitors disliked the answer.",
};

/** Why the questions of a gap got no answer, in sentences. */
const explainReasons = (reasons: readonly string[]): string =>
  reasons.map((reason) => REASONS[reason] ?? reason).join(" ");

/** A page to write: Markdown with the questions that it should answer. Visitors wrote them, so they are escaped. */
export function draftPage(gap: Gap): { readonly name: string; readonly text: string } {
  const [title = NO_TEXT, ...others] = gap.examples.map((question) =>
    shorten(onOneLine(question), MAX_TITLE_CHARACTERS),
  );
  const asked = `${plural(gap.users, "user")} asked this ${gap.questions === 1 ? "once" : `${gap.questions} times`}`;
  const sections = others.map((question) => `## ${escape(question)}\n\nTODO\n`);
  const text = `---
title: ${JSON.stringify(title)}
---

<!-- ${asked} from ${formatDate(gap.first_asked)} to ${formatDate(gap.last_asked)}. ${explainReasons(gap.reasons)}
Write full sentences that make sense when they are quoted alone. Then run kb sync. -->

# ${escape(title)}

TODO: the answer in one or two sentences.

${sections.join("\n")}`;
  return { name: `${slug(title)}.md`, text: `${text.trimEnd()}\n` };
}

/**
 * Text that Markdown shows as it is. `{{` would be code for generators of sites that are made with Vue. Generators also link addresses,
 * domains and e-mail addresses that nobody marked as links, some of them after they have read the escapes. So a comment, which is no text,
 * comes before each sign that an address needs.
 */
const escape = (text: string): string =>
  text
    .replace(/[\\`*_{}[\]<>#|&~]/g, "\\$&")
    .replace(/(?<=\S)[.:@](?=\S)/g, "<!-- -->$&")
    .replace(/\\\{(?=\\\{)/g, "\\{ ");

function slug(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^\p{L}\p{N}]+/gu, "-");
  const name = [...words.replace(/^-+/, "")].slice(0, 60).join("").replace(/-+$/, "");
  return name || "new-page";
}
