import { element } from "../src/dom/element.js";
import { chart } from "./chart.js";
import type { Scope, Totals } from "./data.js";
import { changeOfCount, changeOfShare, formatCount, formatMilliseconds, formatShare, NONE, plural } from "./format.js";
import { notice, tile } from "./page.js";

/** The figures of the period, each with its change from the period before. */
export function showTotals(place: HTMLElement, rows: readonly Totals[], { days }: Scope): void {
  const now = rows.find(({ period }) => period === "current");
  const before = rows.find(({ period }) => period === "previous");
  if (!now || !before || now.questions === 0) {
    place.append(
      notice(`No questions in the last ${days} days. Only questions that the Worker records with its secret count.`),
    );
    return;
  }
  const latency = (value: number | null, other: number | null) =>
    value === null || other === null ? undefined : changeOfCount(value, other);
  const tiles: [label: string, value: string, change: string | undefined, detail: string][] = [
    [
      "Questions",
      formatCount(now.questions),
      changeOfCount(now.questions, before.questions),
      `${plural(now.refusals, "refusal")}`,
    ],
    [
      "Answered",
      formatShare(now.answered_share),
      changeOfShare(now.answered_share, before.answered_share),
      `${plural(now.answers, "answer")}, ${formatCount(now.hedged_answers)} of them hedged`,
    ],
    [
      "Answers with citations",
      formatShare(now.cited_share),
      changeOfShare(now.cited_share, before.cited_share),
      now.generated_answers > 0 ? `${formatCount(now.generated_answers)} written by a model` : "quotes of documents",
    ],
    [
      "Time to answer",
      formatMilliseconds(now.latency_p50_ms),
      latency(now.latency_p50_ms, before.latency_p50_ms),
      `median; 95 % within ${formatMilliseconds(now.latency_p95_ms)}`,
    ],
    [
      "Citations opened",
      formatCount(now.citations_opened),
      changeOfCount(now.citations_opened, before.citations_opened),
      `${formatCount(now.citations_hovered)} looked at, ${formatCount(now.citations_copied)} copied`,
    ],
    [
      "Helpful answers",
      formatShare(now.liked_share),
      changeOfShare(now.liked_share, before.liked_share),
      now.liked + now.disliked > 0
        ? `${formatCount(now.liked)} liked, ${formatCount(now.disliked)} disliked`
        : "no feedback yet",
    ],
  ];
  const compared = (change: string | undefined) =>
    change === undefined ? "nothing to compare with" : `${change} from the ${days} days before`;
  const drawn = tiles.map(([label, value, change, detail]) =>
    tile(label, value, detail, element("dd", { class: "change" }, compared(change))),
  );
  place.append(element("dl", { class: "tiles" }, ...drawn));
}

/** Questions, shares, time to answer, use of citations and feedback of each day. */
export function showCharts(place: HTMLElement, days: readonly Totals[]): (() => void) | undefined {
  if (days.every(({ questions }) => questions === 0)) {
    place.append(notice("There is nothing to draw yet."));
    return undefined;
  }
  const sum = (count: (day: Totals) => number) => days.reduce((total, day) => total + count(day), 0);
  const total = sum(({ questions }) => questions);
  const busiest = days.reduce((best, day) => (day.questions > best.questions ? day : best));
  const slowest = Math.max(...days.map(({ latency_p95_ms: slow }) => slow ?? 0));
  const lowest = days.reduce<number | null>(
    (least, { answered_share: share }) => (share === null ? least : Math.min(least ?? 1, share)),
    null,
  );
  const opened = sum(({ citations_opened: count }) => count);
  const liked = sum((day) => day.liked);
  const rated = liked + sum((day) => day.disliked);
  const charts = [
    chart(days, {
      title: "Questions",
      summary: `${plural(total, "question")} in ${days.length} days, at most ${formatCount(busiest.questions)} a day`,
      series: [
        // Drawn first and covered by the answers, so that what remains visible are the refusals.
        { label: "Asked", value: ({ questions }) => questions, color: "--refused", kind: "bars" },
        { label: "Answered", value: ({ answers }) => answers, color: "--answered", kind: "bars" },
      ],
      format: (value) => formatCount(value),
    }),
    chart(days, {
      title: "Shares",
      summary: `The answered share of a day is at least ${lowest === null ? NONE : formatShare(lowest)}`,
      series: [
        { label: "Answered", value: ({ answered_share: share }) => share, color: "--answered", kind: "line" },
        { label: "With citations", value: ({ cited_share: share }) => share, color: "--second", kind: "dashes" },
        { label: "Helpful", value: ({ liked_share: share }) => share, color: "--third", kind: "dots" },
      ],
      format: (value) => formatShare(value),
      max: 1,
    }),
    chart(days, {
      title: "Time to answer",
      summary: `95 % of the answers of a day take at most ${formatMilliseconds(slowest)}`,
      series: [
        { label: "Median", value: ({ latency_p50_ms: p50 }) => p50, color: "--answered", kind: "line" },
        { label: "95 % within", value: ({ latency_p95_ms: p95 }) => p95, color: "--second", kind: "dashes" },
      ],
      format: (value) => formatMilliseconds(Math.round(value)),
    }),
    chart(days, {
      title: "Use of citations",
      summary: `${plural(opened, "citation")} opened in ${days.length} days`,
      series: [
        { label: "Looked at", value: ({ citations_hovered: count }) => count, color: "--second", kind: "dashes" },
        { label: "Opened", value: ({ citations_opened: count }) => count, color: "--answered", kind: "line" },
        { label: "Copied", value: ({ citations_copied: count }) => count, color: "--refused", kind: "line" },
      ],
      format: (value) => formatCount(value),
    }),
    chart(days, {
      title: "Feedback",
      summary: `${formatCount(liked)} of ${plural(rated, "rated answer")} liked in ${days.length} days`,
      series: [
        { label: "Rated", value: ({ liked, disliked }) => liked + disliked, color: "--refused", kind: "bars" },
        { label: "Liked", value: ({ liked }) => liked, color: "--answered", kind: "bars" },
      ],
      format: (value) => formatCount(value),
      ...(rated === 0 && { max: 1 }),
    }),
  ];
  place.classList.add("charts");
  place.append(...charts.map(({ node }) => node));
  return () => charts.forEach(({ stop }) => stop());
}
