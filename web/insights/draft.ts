import type { Gap } from "./data.js";
import { formatDate, plural } from "./format.js";
import { NO_TEXT, onOneLine, shorten } from "./others-text.js";

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
export const explainReasons = (reasons: readonly string[]): string =>
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
