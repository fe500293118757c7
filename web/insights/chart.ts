import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Attributes, element } from "../src/dom/element.js";
import type { Totals } from "./data.js";
import { formatDay, NONE } from "./format.js";
import { table } from "./table.js";

/** One line or row of bars. */
export interface Series {
  readonly label: string;
  readonly value: (day: Totals) => number | null;
  /** Custom property of the style sheet. */
  readonly color: `--${string}`;
  readonly kind: "bars" | "line" | "dashes" | "dots";
}

export interface ChartOptions {
  readonly title: string;
  /** Describes the chart in a sentence for readers who do not see it. */
  readonly summary: string;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** The largest value of the axis, if it is fixed. */
  readonly max?: number;
}

const HEIGHT = 220;
const DAY_SECONDS = 86_400;

/** A chart over days, with its legend and the same figures as a table. `stop` releases it. */
export function chart(days: readonly Totals[], options: ChartOptions): { node: HTMLElement; stop: () => void } {
  const { title, summary, series, format } = options;
  const place = element("div", { class: "plot", role: "img", "aria-label": `${title}. ${summary}` });
  const readout = element("p", { class: "readout", "aria-hidden": "true" }, summary);
  const describe = (day: Totals | undefined) => {
    if (!day) return summary;
    const figures = series.map(({ label, value }) => `${label.toLowerCase()} ${shown(value(day), format)}`);
    return `${formatDay(day.period)}: ${figures.join(", ")}`;
  };
  const plot = new uPlot(
    {
      width: 600,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: {
        x: { time: true, range: (_plot, min, max) => [min - DAY_SECONDS / 2, max + DAY_SECONDS / 2] },
        y: { range: (_plot, _min, max) => [0, options.max ?? (max > 0 ? max * 1.1 : 1)] },
      },
      axes: [
        { ...axis(), space: 64, values: (_plot, splits) => splits.map((seconds) => formatDay(seconds * 1000)) },
        { ...axis(), size: 62, values: (_plot, splits) => splits.map((value) => format(value)) },
      ],
      series: [{}, ...series.map(drawn)],
      hooks: {
        setCursor: [({ cursor }) => (readout.textContent = describe(days[cursor.idx ?? -1]))],
      },
    },
    [days.map(({ period }) => Date.parse(period) / 1000), ...series.map(({ value }) => days.map(value))],
    place,
  );

  const sized = new ResizeObserver(() => {
    if (place.clientWidth > 0) plot.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  sized.observe(place);
  const themes = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("(forced-colors: active)")];
  const redraw = () => plot.redraw();
  for (const theme of themes) theme.addEventListener("change", redraw);

  const columns = [
    { title: "Day (UTC)", cell: ({ period }: Totals) => formatDay(period) },
    ...series.map(({ label, value }) => ({
      title: label,
      cell: (day: Totals) => shown(value(day), format),
      isNumber: true,
    })),
  ];
  const node = element(
    "figure",
    { class: "card chart" },
    element("figcaption", {}, element("h3", {}, title), legend(series)),
    place,
    readout,
    element("details", {}, element("summary", {}, `${title} as a table`), table(title, columns, [...days].reverse())),
  );
  const stop = () => {
    sized.disconnect();
    for (const theme of themes) theme.removeEventListener("change", redraw);
    plot.destroy();
  };
  return { node, stop };
}

function legend(series: readonly Series[]): HTMLElement {
  const entry = ({ label, color, kind }: Series) =>
    element("li", { "data-kind": kind }, colored(color, { class: "key" }), label);
  return element("ul", { class: "legend", "aria-hidden": "true" }, ...series.map(entry));
}

function drawn({ label, color, kind }: Series): uPlot.Series {
  const stroke = () => property(color);
  if (kind === "bars") {
    const bars = uPlot.paths.bars?.({ size: [0.7, 28], radius: 0.15 });
    return { label, fill: stroke, points: { show: false }, ...(bars && { paths: bars }) };
  }
  return {
    label,
    stroke,
    width: 2,
    // A day between two without figures has no line.
    points: { size: 5, stroke, fill: stroke },
    ...(kind === "dashes" && { dash: [6, 4] }),
    ...(kind === "dots" && { dash: [2, 3] }),
  };
}

function axis(): uPlot.Axis {
  return {
    stroke: () => property("--ink-soft"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: () => property("--line"), width: 1 },
    ticks: { stroke: () => property("--line"), width: 1 },
  };
}

/** The present value, which follows the colour scheme. */
const property = (name: string): string => {
  const probe = colored(name, { hidden: true });
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

function colored(name: string, attributes: Attributes): HTMLElement {
  const made = element("span", attributes);
  // Not an attribute, which the policy forbids.
  made.style.color = `var(${name})`;
  return made;
}

const shown = (value: number | null, format: (value: number) => string): string =>
  value === null ? NONE : format(value);
