// Charts of the figures in docs/benchmarks.md, as SVG in the page: they take the colours of its theme.

/**
 * Rows of the table "Answers": what the product reaches, and what the plain way does.
 * @type {readonly { title: string, ours: string, plain: string, plainName: string }[]}
 */
const COMPARISONS = [
  {
    title: "The right document is found first",
    ours: "the right document is found first / among the first five",
    plain: "… by vector search alone, first",
    plainName: "vector search alone",
  },
  {
    title: "The first sentence answers",
    ours: "the answer is in the first / in one of the quoted sentences, evidence checks off",
    plain: "… in the first sentence of the passage that vector search alone finds first",
    plainName: "first one of the nearest passage",
  },
  {
    title: "Answered, though about something else (less is better)",
    ours: "questions about something else that are answered anyway",
    plain: "… with a cosine threshold of 0.35 alone",
    plainName: "cosine threshold alone",
  },
];
/** The sets, in the order of the table's columns. */
const SETS = ["shop", "govuk"];

const WIDTH = 640;
const NAME = 232;
const BAR = 310;
const ROW = 26;

/** The Markdown of the benchmarks, with a chart below the first table of the section "Answers". */
export function drawCharts(/** @type {string} */ markdown) {
  const [before, ...rest] = markdown.split(/^(?=## Answers)/m);
  const section = rest.join("");
  const rows = new Map(
    [...section.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(([, name, ...cells]) => [name, cells]),
  );
  const end = section.search(/\n\n(?=The first sentence)/);
  if (end < 0) throw new Error("docs/benchmarks.md: no text after the table of answers");
  const figures = SETS.map((set, index) => chart(set, index, rows));
  return `${before}${section.slice(0, end)}\n\n${figures.join("\n\n")}${section.slice(end)}`;
}

function chart(set, column, rows) {
  let y = 0;
  const parts = COMPARISONS.flatMap(({ title, ours, plain, plainName }) => {
    const group = [
      `<text x="0" y="${y + 16}">${title}</text>`,
      bar(y + ROW, "Evidence Chat", percent(rows, ours, column), ""),
      bar(y + 2 * ROW, plainName, percent(rows, plain, column), "other"),
    ];
    y += 3 * ROW + 18;
    return group;
  });
  // No blank lines: they would end the HTML.
  return [
    `<figure class="chart">`,
    `<svg viewBox="0 0 ${WIDTH} ${y - 14}" role="img" aria-label="The figures of the table for the set ${set}">`,
    ...parts,
    `</svg>`,
    `<figcaption>Set ${set}, from the table above.</figcaption>`,
    `</figure>`,
  ].join("\n");
}

function bar(y, name, value, kind) {
  const width = ((value / 100) * BAR).toFixed(1);
  return [
    `<text class="soft" x="12" y="${y + 14}">${name}</text>`,
    `<rect class="track" x="${NAME}" y="${y + 3}" width="${BAR}" height="14" rx="4" />`,
    `<rect class="bar ${kind}" x="${NAME}" y="${y + 3}" width="${width}" height="14" rx="4" />`,
    `<text x="${NAME + BAR + 12}" y="${y + 14}">${value} %</text>`,
  ].join("\n");
}

/** The first number of a cell. */
function percent(rows, name, column) {
  const value = Number.parseFloat(rows.get(name)?.[column] ?? "");
  if (Number.isNaN(value)) throw new Error(`docs/benchmarks.md: no figure for "${name}"`);
  return value;
}
