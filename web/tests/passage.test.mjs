// Passages without a layout, the part of a passage that a card shows, and its highlighted ranges.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const load = (path) => importTs(new URL(`../src/panel/citations/passage/${path}`, import.meta.url));
const { layOut } = await load("blocks.ts");
const { cut, merged } = await load("tree.ts");
const { clip, windowAround } = await load("clip.ts");

/** The tree on one line: `tag(…)`, text as it is seen, quoted parts in `«»`. */
function show(nodes, ranges = []) {
  return nodes
    .map((node) => {
      if (node.kind === "branch") return `${node.tag}(${show(node.children, ranges)})`;
      return cut(node, ranges)
        .map(({ text, inside }) => (inside ? `«${text}»` : text))
        .join("");
    })
    .join("");
}

const find = (source, part) => ({ start: source.indexOf(part), end: source.indexOf(part) + part.length });

for (const [name, source, expected] of [
  ["Markdown as it is written", "# a\n*b* [c](https://d.example) <i> &amp;", null],
  ["line breaks, tabs and indents", "Zone\tPrice\nFar\t9 €\n  and more", null],
  [
    "paragraphs at blank lines",
    "One\ntwo.\n\nThree.\n \t\r\n\n  Four.\n",
    "paragraph(One\ntwo.)paragraph(Three.)paragraph(Four.)",
  ],
  ["nothing for white space", " \n\n\t", ""],
]) {
  test(`a passage without a layout shows ${name}`, () =>
    assert.equal(show(layOut(source)), expected ?? `paragraph(${source})`));
}

test("a quote over paragraphs of a passage without a layout is highlighted in each", () => {
  const source = "One. Two.\n\nThree. Four.";
  assert.equal(
    show(layOut(source), [find(source, "Two.\n\nThree.")]),
    "paragraph(One. «Two.»)paragraph(«Three.» Four.)",
  );
});

test("a long text of blank lines and spaces is split in bounded time", () => {
  const start = performance.now();
  assert.equal(layOut(`a${"\n ".repeat(50_000)}b${" ".repeat(100_000)}c`).length, 2);
  assert.ok(performance.now() - start < 500);
});

test("a window shows the words around a quote, with … for omitted text", () => {
  const source = `${"before ".repeat(60)}The quote.${" after".repeat(60)}`;
  const quote = find(source, "The quote.");
  const marks = [{ kind: "strong", ...find(source, "The") }];
  const blocks = [{ kind: "paragraph", start: 0, end: source.length }];
  const shown = show(clip(layOut(source, { blocks, marks }), windowAround(source, quote)), [quote]);
  assert.match(shown, /^paragraph\(… before( before)+ strong\(«The»\)« quote\.»( after)+ …\)$/);
  assert.ok(shown.length < 400, shown);
});

test("the … of omitted text is not highlighted with the first words of a passage", () => {
  const source = "word ".repeat(200);
  const shown = show(clip(layOut(source), { start: 20, end: 40 }), [{ start: 0, end: source.length }]);
  assert.match(shown, /^paragraph\(… «word word .*» …\)$/);
});

test("a window shows a whole short passage", () => {
  const source = "Title\n\nOne. Two. Three.";
  const nodes = layOut(source, { blocks: [{ kind: "heading", start: 0, end: 5 }] });
  assert.deepEqual(clip(nodes, windowAround(source, find(source, "One."))), nodes);
});

test("a window of a long quote shows its beginning", () => {
  const source = `Intro. ${"long ".repeat(400)}`;
  const { start, end } = windowAround(source, { start: 7, end: source.length });
  assert.equal(start, 0);
  assert.ok(end < 700 && source[end] === " ");
});

test("a window never splits a surrogate pair", () => {
  const source = "🎉".repeat(600);
  for (let at = 400; at < 410; at += 2) {
    const { start, end } = windowAround(source, { start: at, end: at + 2 });
    assert.doesNotMatch(source.slice(start, end), /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/);
    const shifted = windowAround(`a${source}`, { start: at + 1, end: at + 3 });
    assert.doesNotMatch(`a${source}`.slice(shifted.start, shifted.end), /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/);
  }
});

test("adjacent and overlapping ranges are merged", () => {
  const ranges = [
    { start: 5, end: 7 },
    { start: 0, end: 2 },
    { start: 2, end: 3 },
    { start: 6, end: 6 },
  ];
  assert.deepEqual(merged(ranges), [
    { start: 0, end: 3 },
    { start: 5, end: 7 },
  ]);
});
