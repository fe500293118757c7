import { button, element } from "../src/dom/element.js";
import type { Gap, Scope } from "./data.js";
import { draftPage, explainReasons } from "./draft.js";
import { formatCount, formatDate, plural } from "./format.js";
import { onOneLine, shorten, wholeText } from "./others-text.js";
import { announce } from "./page.js";

/** What a screen reader says of a question in the name of a button. */
const MAX_LABEL_CHARACTERS = 100;

/** Groups of questions without a good answer, each with its examples and a draft of the page that is missing. */
export function showGaps(place: HTMLElement, gaps: readonly Gap[], { assistant }: Scope): void {
  if (gaps.length === 0) {
    place.append(
      element("p", { class: "notice" }, "No question without a good answer was asked by several users in this period."),
    );
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
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  element("a", { href: url, download: name }).click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  announce(`Saved ${name}.`);
}
