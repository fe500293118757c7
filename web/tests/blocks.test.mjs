import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { createRandom } from "../../tests/lib/random.mjs";

const load = (/** @type {string} */ path) => importTs(new URL(`../src/${path}`, import.meta.url));
const { layOut } = await load("panel/citations/passage/blocks.ts");
const { clip, windowAround } = await load("panel/citations/passage/clip.ts");
const { cut, runsOf } = await load("panel/citations/passage/tree.ts");
const { urlOfWords } = await load("panel/citations/cited-place.ts");
const { decodeCitation } = await load("client/decode.ts");

/** The tree on one line: `tag(…)`, text as it is seen, quoted parts in `«»`. */
function show(/** @type {any[]} */ nodes, /** @type {any[]} */ ranges = []) {
  /** @type {(node: any) => string} */
  const one = (node) =>
    node.kind === "branch"
      ? `${node.tag}(${node.children.map(one).join("")})`
      : cut(node, ranges)
          .map((/** @type {any} */ { text, inside }) => (inside ? `«${text}»` : text))
          .join("");
  return nodes.map(one).join(" ");
}

/** The range of words, with other fields of a block or mark. */
const at = (/** @type {string} */ text, /** @type {string} */ words, fields = {}) => {
  const start = text.indexOf(words);
  assert.ok(start >= 0, words);
  return { start, end: start + words.length, ...fields };
};
const laidOut = (/** @type {string} */ text, /** @type {any[]} */ blocks, /** @type {any[]} */ marks = []) =>
  show(layOut(text, { blocks, marks }));

const LIST = "Before.\n\n1. One\n   - deep\n\n   More.\n2. Two\n\nAfter.";
const LIST_BLOCKS = [
  at(LIST, "Before.", { kind: "paragraph" }),
  at(LIST, "1. One", { kind: "item", text: LIST.indexOf("One"), depth: 0 }),
  at(LIST, "- deep", { kind: "item", text: LIST.indexOf("deep"), depth: 1 }),
  at(LIST, "More.", { kind: "paragraph", depth: 1 }),
  at(LIST, "2. Two", { kind: "item", text: LIST.indexOf("Two"), depth: 0 }),
  at(LIST, "After.", { kind: "paragraph" }),
];
const TABLE = "Damage\tExcluded\nTheft\tyes\nFire\t";
const TABLE_BLOCKS = [
  at(TABLE, "Damage\tExcluded", {
    kind: "row",
    cells: [
      [0, 6],
      [7, 15],
    ],
    is_header: true,
  }),
  at(TABLE, "Theft\tyes", {
    kind: "row",
    cells: [
      [16, 21],
      [22, 25],
    ],
  }),
  at(TABLE, "Fire\t", {
    kind: "row",
    cells: [
      [26, 30],
      [31, 31],
    ],
  }),
];

test("headings, questions and labels are headings, and line breaks stay", () => {
  const text = "Fees\n\nWhat is free?\n\nmacOS\n\nOne\ntwo.";
  const blocks = [
    at(text, "Fees", { kind: "heading" }),
    at(text, "What is free?", { kind: "question" }),
    at(text, "macOS", { kind: "label" }),
    at(text, "One\ntwo.", { kind: "paragraph" }),
  ];
  const expected = "heading(Fees) heading(What is free?) heading(macOS) paragraph(One\ntwo.)";
  assert.equal(laidOut(text, blocks), expected);
});

test("items are nested lists with their markers, and paragraphs stay in their items", () => {
  assert.equal(
    laidOut(LIST, LIST_BLOCKS),
    "paragraph(Before.) items(item(paragraph(marker(1. )One)items(item(paragraph(marker(- )deep)))paragraph(More.))" +
      "item(paragraph(marker(2. )Two))) paragraph(After.)",
  );
});

test("a passage that begins inside a list has its items side by side", () => {
  const text = "- a\n- b\n- c";
  const item = (/** @type {string} */ words, /** @type {number} */ depth) =>
    at(text, words, { kind: "item", depth, text: text.indexOf(words) + 2 });
  assert.equal(
    laidOut(text, [item("- a", 2), item("- b", 2), item("- c", 1)]),
    "items(item(paragraph(marker(- )a))item(paragraph(marker(- )b))) items(item(paragraph(marker(- )c)))",
  );
});

test("rows that follow each other are a table, with heads only where names of columns are", () => {
  assert.equal(
    laidOut(TABLE, TABLE_BLOCKS),
    "table(row(head(Damage)head(Excluded))row(cell(Theft)cell(yes))row(cell(Fire)cell()))",
  );
  const [, ...body] = TABLE_BLOCKS;
  const rest = TABLE.slice(16);
  const moved = body.map((/** @type {any} */ { start, end, cells, ...row }) => ({
    ...row,
    start: start - 16,
    end: end - 16,
    cells: cells.map((/** @type {number[]} */ cell) => cell.map((/** @type {number} */ place) => place - 16)),
  }));
  assert.equal(laidOut(rest, moved), "table(row(cell(Theft)cell(yes))row(cell(Fire)cell()))");
});

test("code is drawn to the letter", () => {
  const text = "Run:\n\nif a:\n    b";
  assert.equal(
    laidOut(text, [at(text, "Run:", { kind: "paragraph" }), at(text, "if a:\n    b", { kind: "code" })]),
    "paragraph(Run:) codeBlock(if a:\n    b)",
  );
});

test("marks are drawn, also inside each other, and links are their text", () => {
  const text = "See the very bold code here.1";
  const marks = [
    at(text, "the very", { kind: "link" }),
    at(text, "very bold code", { kind: "strong" }),
    at(text, "code", { kind: "code" }),
    at(text, "1", { kind: "reference" }),
  ];
  assert.equal(
    laidOut(text, [{ kind: "paragraph", start: 0, end: text.length }], marks),
    "paragraph(See the strong(very bold code(code)) here.reference(1))",
  );
});

test("text outside of blocks is drawn as it is written, with its paragraphs", () => {
  const text = "Before\nit.\n\nInside.\n\nAfter.\n";
  assert.equal(
    laidOut(text, [at(text, "Inside.", { kind: "paragraph" })]),
    "paragraph(Before\nit.) paragraph(Inside.) paragraph(After.)",
  );
});

test("a row with text outside of its cells is drawn as it is written", () => {
  const row = at(TABLE, "Theft\tyes", { kind: "row", cells: [[16, 21]] });
  assert.equal(laidOut("Theft\tyes", [{ ...row, start: 0, end: 9, cells: [[0, 5]] }]), "paragraph(Theft\tyes)");
});

test("quotes are highlighted in lists and tables", () => {
  assert.match(show(layOut(LIST, { blocks: LIST_BLOCKS }), [at(LIST, "2. Two")]), /marker\(«2. »\)«Two»/);
  assert.match(
    show(layOut(TABLE, { blocks: TABLE_BLOCKS }), [at(TABLE, "Theft\tyes")]),
    /cell\(«Theft»\)cell\(«yes»\)/,
  );
});

test("a window of a long table keeps whole rows and the names of the columns", () => {
  const rows = Array.from({ length: 60 }, (_, n) => `k${n}\tvalue ${n}`);
  const text = ["key\tvalue", ...rows].join("\n");
  let start = 0;
  const blocks = text.split("\n").map((row, n) => {
    const tab = start + row.indexOf("\t");
    const end = start + row.length;
    const cells = [
      [start, tab],
      [tab + 1, end],
    ];
    const block = { kind: "row", start, end, cells, ...(n === 0 && { is_header: true }) };
    start = end + 1;
    return block;
  });
  const shown = (/** @type {any[]} */ blocks) =>
    show(clip(layOut(text, { blocks }), windowAround(text, at(text, "k40\tvalue 40"))));
  assert.match(shown(blocks), /^table\(row\(head\(… key\)head\(value\)\)row\(cell\(k\d+\)/);
  assert.match(shown(blocks), /row\(cell\(k40\)cell\(value 40\)\)/);
  assert.doesNotMatch(shown(blocks), /k1\b|k59/);
  const headless = blocks.map((block) => ({ ...block, is_header: undefined }));
  assert.doesNotMatch(shown(headless), /key/);
});

test("a link to cited words has neither markers of items nor numbers of footnotes", () => {
  const text = "2. Remove all four of the screws.1 Then close it again.";
  const blocks = {
    blocks: [{ kind: "item", start: 0, end: text.length, text: 3, depth: 0 }],
    marks: [at(text, "1", { kind: "reference" })],
  };
  const quotes = [at(text, "2. Remove all four of the screws.1", { text: "2. Remove all four of the screws.1" })];
  const citation = { url: "https://example.com/", excerpt: text, blocks, quotes };
  assert.equal(
    urlOfWords(citation, [citation], true),
    "https://example.com/#:~:text=Remove%20all%20four%20of%20the%20screws",
  );
});

test("whatever the layout is, each letter is drawn once and in order", () => {
  const { between } = createRandom(7);
  const random = () => between(0, 1);
  const below = (/** @type {number} */ count) => Math.floor(random() * count);
  const one = (/** @type {readonly any[]} */ list) => list[below(list.length)];
  const text = "Fees\n\n- One two\n  - deep 🎉\n\na\tb\tc\nd\t\te\n\n  code\n    x  y\n\nLast [1] word.";
  const letters = text.replace(/\s/g, "");
  const place = () => one([below(text.length + 3), below(text.length), -1, 1e9, 0.5, NaN, "3", null, undefined]);
  const kinds = ["paragraph", "heading", "question", "label", "item", "row", "code", "table", 7, undefined];
  const marks = ["code", "link", "emphasis", "strong", "reference", "script", {}];
  const range = () => {
    const [start, end] =
      random() < 0.7 ? [below(text.length), below(text.length)].sort((a, b) => a - b) : [place(), place()];
    return { start, end };
  };
  const junk = () => one([null, 5, "x", [], {}, [[]], true]);
  const block = () => {
    if (random() < 0.05) return junk();
    const { start, end } = range();
    const cells = random() < 0.1 ? junk() : Array.from({ length: below(4) }, () => [place(), place()]);
    const near =
      random() < 0.5
        ? [
            [start, Math.floor((start + end) / 2)],
            [Math.floor((start + end) / 2), end],
          ]
        : cells;
    return {
      kind: one(kinds),
      start,
      end,
      text: place(),
      depth: one([0, 1, 2, 50, 1e9, -1, "x"]),
      cells: near,
      is_header: one([true, false, 1]),
    };
  };
  for (let run = 0; run < 3000; run++) {
    const blocks = Array.from({ length: below(12) }, block);
    if (random() < 0.7) blocks.sort((a, b) => (a?.start ?? 0) - (b?.start ?? 0));
    const layout = {
      blocks: random() < 0.03 ? junk() : blocks,
      marks: random() < 0.03 ? junk() : Array.from({ length: below(8) }, () => ({ kind: one(marks), ...range() })),
    };
    const citation = decodeCitation({
      index: 1,
      excerpt: text,
      quotes: [],
      blocks: random() < 0.02 ? junk() : layout,
    });
    const drawn = [...runsOf(layOut(citation.excerpt, citation.blocks))];
    assert.equal(
      drawn
        .map((run) => run.text)
        .join("")
        .replace(/\s/g, ""),
      letters,
      JSON.stringify(layout),
    );
    for (const { text: shown, start, end } of drawn) assert.equal(shown, text.slice(start, end));
  }
});

test("a huge layout is drawn in bounded time, and never deeper than a browser can draw", () => {
  const text = "a ".repeat(50_000);
  const nested = Array.from({ length: 1000 }, (_, n) => ({ kind: "item", start: 2 * n, end: 2 * n + 1, depth: n }));
  const marks = Array.from({ length: 1000 }, () => ({ kind: "strong", start: 0, end: 2000 }));
  const shown = show(layOut(text, { blocks: nested, marks }));
  /** @type {(text: string) => number} */
  const depthOf = (shown) => {
    let [depth, deepest] = [0, 0];
    for (const sign of shown.replace(/[^()]/g, "")) deepest = Math.max(deepest, (depth += sign === "(" ? 1 : -1));
    return deepest;
  };
  assert.ok(depthOf(shown) < 64);
  const many = Array.from({ length: 50_000 }, (_, n) => ({ kind: "paragraph", start: 2 * n, end: 2 * n + 1 }));
  assert.equal(laidOut(text, many), `paragraph(${text.trim()})`);
});
