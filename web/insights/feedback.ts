import type { FeedbackReason } from "../src/client/wire.js";
import { element } from "../src/dom/element.js";
import { type CallDatabase, type Comment, readInsights, type Scope, type Totals } from "./data.js";
import { formatCount, formatDate, formatShare, plural } from "./format.js";
import { onOneLine, shorten, wholeText } from "./others-text.js";
import { notice } from "./page.js";

/** The words of the widget for each reason. */
const REASONS: Record<FeedbackReason, string> = {
  wrong: "It is not true",
  incomplete: "Something is missing",
  off_topic: "It answers another question",
  outdated: "It is out of date",
  other: "Something else",
};

interface Feedback {
  readonly totals: Totals | undefined;
  readonly comments: readonly Comment[];
}

/** Reads what {@link showFeedback} shows. */
export async function readFeedback(call: CallDatabase, scope: Scope): Promise<Feedback> {
  const [totals, comments] = await Promise.all([
    readInsights(call, "chat_insights", scope),
    readInsights(call, "chat_insights_comments", scope),
  ]);
  return { totals: totals.find(({ period }) => period === "current"), comments };
}

/** Why visitors disliked answers, and what they wrote. */
export function showFeedback(place: HTMLElement, { totals, comments }: Feedback, { days, assistant }: Scope): void {
  if (!totals || (totals.liked + totals.disliked === 0 && comments.length === 0)) {
    place.append(notice(`Nobody said whether an answer of the last ${days} days helped.`));
    return;
  }
  place.append(
    element(
      "div",
      { class: "feedback" },
      element("div", { class: "card" }, element("h3", {}, "Why answers were disliked"), reasons(totals)),
      element("div", {}, written(comments, assistant === null)),
    ),
  );
}

function reasons(totals: Totals): HTMLElement {
  if (totals.disliked === 0) return element("p", { class: "detail" }, "No answer was disliked.");
  const counts = (Object.entries(REASONS) as [FeedbackReason, string][])
    .map(([reason, label]) => ({ label, count: totals[`disliked_${reason}`] }))
    .sort((a, b) => b.count - a.count);
  const unexplained = totals.disliked - counts.reduce((sum, { count }) => sum + count, 0);
  const bar = ({ label, count }: (typeof counts)[number]) => {
    const filled = element("span");
    // Not an attribute, which the policy forbids.
    filled.style.inlineSize = `${(count / totals.disliked) * 100}%`;
    return element(
      "div",
      {},
      element("dt", {}, label),
      element("dd", {}, `${formatCount(count)} (${formatShare(count / totals.disliked)})`),
      element("dd", { class: "share", "aria-hidden": "true" }, filled),
    );
  };
  return element("dl", { class: "reasons" }, ...[...counts, { label: "No reason given", count: unexplained }].map(bar));
}

function written(comments: readonly Comment[], showsAssistant: boolean): HTMLElement {
  const [first] = comments;
  if (!first) return element("div", { class: "card" }, element("p", { class: "detail" }, "Nobody wrote a comment."));
  const more = first.total - comments.length;
  return element(
    "div",
    {},
    element("ol", { class: "comments" }, ...comments.map((comment) => commentItem(comment, showsAssistant))),
    more > 0 ? element("p", { class: "detail" }, `${plural(more, "older comment")} not shown.`) : undefined,
  );
}

function commentItem(said: Comment, showsAssistant: boolean): HTMLElement {
  const rating = said.rating === "up" ? "Helpful" : "Not helpful";
  const reason = said.reason === null ? "" : `: ${REASONS[said.reason]}`;
  const assistant = showsAssistant ? `, to ${said.assistant_name}` : "";
  return element(
    "li",
    { class: "card comment" },
    element("span", { class: "badge", "data-rating": said.rating }, rating + reason),
    element("blockquote", { dir: "auto" }, shorten(said.comment)),
    wholeText(said.comment, "The whole comment"),
    said.question === null
      ? undefined
      : element(
          "p",
          { class: "detail" },
          "About the answer to ",
          element("q", { dir: "auto" }, shorten(onOneLine(said.question))),
        ),
    element("p", { class: "detail" }, `${formatDate(said.feedback_at)}${assistant}`),
  );
}
