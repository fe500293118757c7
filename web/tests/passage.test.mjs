import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const load = (path) => importTs(new URL(`../src/panel/citations/passage/${path}`, import.meta.url));
const { parsePassage } = await load("parse.ts");
const { cut, merged, runsOf, visibleText } = await load("tree.ts");
const { clip, windowAround } = await load("clip.ts");
const { decodeNamedCharacterReference } = await load("named-references.ts");

/** The tree on one line: `tag(…)`, text as it is seen, quoted parts in `«»`. */
function show(nodes, ranges = []) {
  return nodes
    .map((node) => {
      if (node.kind === "branch")
        return `${node.tag}${node.href ? `=${node.href}` : ""}(${show(node.children, ranges)})`;
      return cut(node, ranges)
        .map(({ text, inside }) => (inside ? `«${text}»` : text))
        .join("");
    })
    .join("");
}

const parsed = (source, type) => show(parsePassage(source, type));
const text = (source) => [...runsOf(parsePassage(source))].map((run) => run.text).join("");
const find = (source, part) => ({ start: source.indexOf(part), end: source.indexOf(part) + part.length });

for (const [name, source, expected] of [
  ["headings", "# One\n\nTwo\n===\n\n#### Three", "heading(One)heading(Two)heading(Three)"],
  ["paragraphs of several lines", "One \ntwo\r\nthree\n\nfour", "paragraph(One two three)paragraph(four)"],
  ["hard line breaks", "One  \ntwo\\\nthree", "paragraph(One\ntwo\nthree)"],
  ["lists", "- a\n- b\n\n3. c", "list(item(paragraph(a))item(paragraph(b)))orderedList(item(paragraph(c)))"],
  ["quotations", "> a\n> b", "quotation(paragraph(a b))"],
  ["emphasis", "*a* **b** ~~c~~ _d_", "paragraph(emphasis(a) strong(b) deleted(c) emphasis(d))"],
  ["code", "`a*b*` \n```js\nx[1]\n\n  y\n```", "paragraph(code(a*b*))codeBlock(x[1]\n\n  y)"],
  ["tables", "|a|b|\n|-|-|\n|c|*d*|", "table(row(head(a)head(b))row(cell(c)cell(emphasis(d))))"],
  ["escapes and entities", "a\\*b &amp; &eacute;&#x1F600;&hellip;", "paragraph(a*b & é😀…)"],
  [
    "unknown entities as they are written",
    "a &CounterClockwiseContourIntegral; b",
    "paragraph(a &CounterClockwiseContourIntegral; b)",
  ],
  ["images as their text", "a ![the *plan*](http://x/y.png) ![](z)", "paragraph(a the plan )"],
  [
    "HTML as its text",
    "a <b onclick=x>bold</b>\n\n<div>\n<i>block</i> <script>alert(1)</script>\n</div>",
    "paragraph(a bold)blockalert(1)",
  ],
  ["no comments", "a <!-- secret --> b\n\n<!-- x\ny -->", "paragraph(a  b)"],
  ["footnotes as they are written", "a[^1]\n\n[^1]: note", "paragraph(a[^1])paragraph([^1]: note)"],
  ["no thematic breaks", "a\n\n---\n\nb", "paragraph(a)paragraph(b)"],
]) {
  test(`Markdown shows ${name}`, () => assert.equal(parsed(source), expected));
}

for (const [url, href] of [
  ["https://example.com/a", "https://example.com/a"],
  ["HTTP://example.com/", "http://example.com/"],
  ["mailto:a@example.com", "mailto:a@example.com"],
  ["javascript:alert(1)", undefined],
  ["JaVaScRiPt:alert(1)", undefined],
  ["java&#x0A;script:alert(1)", undefined],
  ["data:text/html,x", undefined],
  ["vbscript:x", undefined],
  ["blob:https://example.com/1", undefined],
  ["//example.com/a", undefined],
  ["/relative", undefined],
  ["https://user:secret@example.com/", undefined],
]) {
  test(`a link to ${url} leads ${href ? "there" : "nowhere"}`, () => {
    const expected = href ? `paragraph(link=${href}(a))` : "paragraph(a)";
    assert.equal(parsed(`[a](<${url}>)`), expected);
    assert.equal(parsed(`[a][r]\n\n[r]: <${url}>`), expected);
  });
}

test("an autolink of another scheme is text", () => {
  assert.equal(
    parsed("<javascript:alert(1)> <https://example.com/>"),
    "paragraph(javascript:alert(1) link=https://example.com/(https://example.com/))",
  );
});

test("plain text is not parsed as Markdown, whatever its content type", () => {
  for (const type of ["text/plain", "text/plain; charset=utf-8", "application/pdf", "text/html"])
    assert.equal(parsed("# a\n*b* <i>", type), "plain(# a\n*b* <i>)");
  for (const type of [undefined, "text/markdown", "text/markdown; charset=utf-8"])
    assert.equal(parsed("# a", type), "heading(a)");
});

for (const [name, source, quote, expected] of [
  [
    "over several nodes",
    "A *b **c** d* `e` f.",
    "b **c** d* `e` f",
    "paragraph(A emphasis(«b »strong(«c»)« d») code(«e»)« f».)".replace(") code", ")« »code"),
  ],
  ["with escapes", "x a\\*b\\_c y", "a\\*b\\_c", "paragraph(x «a»«*»«b»«_»«c» y)"],
  ["with entities", "x Q&amp;A y", "Q&amp;A", "paragraph(x «Q»«&»«A» y)"],
  [
    "over two lines of a quotation",
    "> one two\n> three four",
    "two\n> three",
    "quotation(paragraph(one «two »«three» four))",
  ],
  ["over table cells", "|a|b|\n|-|-|\n|c|d|", "c|d", "table(row(head(a)head(b))row(cell(«c»)cell(«d»)))"],
  [
    "in a link",
    "see [the docs](https://example.com/) now",
    "[the docs](https://example.com/)",
    "paragraph(see link=https://example.com/(«the docs») now)",
  ],
  [
    "in fenced code within a list",
    "- a\n  ```\n  x = 1\n  y = 2\n  ```",
    "x = 1\n  y",
    "list(item(paragraph(a)codeBlock(«x = 1»«\n»«y» = 2)))",
  ],
  ["over paragraphs", "One. Two.\n\nThree. Four.", "Two.\n\nThree.", "paragraph(One. «Two.»)paragraph(«Three.» Four.)"],
  ["next to an emoji", "🎉 yes 🎉", "yes", "paragraph(🎉 «yes» 🎉)"],
]) {
  test(`a quote ${name} is highlighted in the visible text`, () => {
    assert.equal(show(parsePassage(source), [find(source, quote)]), expected);
  });
}

test("any highlighted range is the visible text of its source, and no text is lost", () => {
  const random = randomNumbers(11);
  const parts = [
    "word ",
    "two. ",
    "*em* ",
    "**st *x* y** ",
    "`co de` ",
    "a\\*b ",
    "&amp; ",
    "[l](https://a.b) ",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "🎉",
    "# ",
    "<b>h</b> ",
    "  \n",
    "|",
    "1. ",
    "![i](u) ",
    "字",
  ];
  for (let round = 0; round < 1500; round++) {
    const source = Array.from(
      { length: 1 + Math.floor(random() * 14) },
      () => parts[Math.floor(random() * parts.length)],
    ).join("");
    const nodes = parsePassage(source);
    const all = [...runsOf(nodes)];
    const start = Math.floor(random() * source.length);
    const end = start + 1 + Math.floor(random() * (source.length - start));
    const quoted = all.flatMap((run) => cut(run, [{ start, end }]));
    assert.equal(quoted.map((part) => part.text).join(""), all.map((run) => run.text).join(""), JSON.stringify(source));
    assert.equal(
      visibleText(nodes, { start, end }),
      quoted
        .filter((part) => part.inside)
        .map((part) => part.text)
        .join(""),
    );
    for (const run of all) {
      assert.ok(run.start < run.end && run.end <= source.length, JSON.stringify({ source, run }));
      if (run.text.length === run.end - run.start && !/^\s$/.test(run.text))
        assert.equal(
          source.slice(run.start, run.end).replace(/[\n\r]/g, " "),
          run.text.replace(/[\n\r]/g, " "),
          JSON.stringify({ source, run }),
        );
    }
    const starts = all.map((run) => run.start);
    assert.deepEqual(
      starts,
      starts.toSorted((a, b) => a - b),
      JSON.stringify(source),
    );
  }
});

test("words that occur once in a text without markup are highlighted exactly", () => {
  const source = "Refunds are paid within **5 days** of the *return*. Write to us.";
  for (const words of ["Refunds", "5 days", "of the", "Write to us."]) {
    assert.equal(visibleText(parsePassage(source), find(source, words)), words);
  }
});

const SIZE = 65_536;
for (const [name, source] of Object.entries({
  quotations: ">".repeat(10_000),
  "spaced quotations": "> ".repeat(10_000) + "x",
  brackets: "[".repeat(10_000),
  "closed brackets": "[".repeat(10_000) + "]".repeat(10_000),
  links: "[a](".repeat(10_000),
  stars: "*a ".repeat(10_000),
  tags: "<a ".repeat(10_000),
  comments: "<!--".repeat(10_000),
  backticks: Array.from({ length: 300 }, (_, length) => "`".repeat(length + 1)).join(" "),
  lists: "1. ".repeat(5000) + "x",
  bullets: "+ ".repeat(8000) + "x",
  indents: Array.from({ length: 150 }, (_, depth) => `${" ".repeat(2 * depth)}- a`).join("\n"),
  tables: `${"|a".repeat(5000)}\n${"|-".repeat(5000)}\n${"|b".repeat(5000)}`,
  entities: "&amp;".repeat(10_000),
  text: "word ".repeat(SIZE / 5),
})) {
  test(`10,000 ${name} are shown quickly`, () => {
    const start = performance.now();
    const nodes = parsePassage(source.slice(0, SIZE));
    const seen = [...runsOf(nodes)].length;
    const took = performance.now() - start;
    assert.ok(seen > 0);
    assert.ok(took < 1500, `${took} ms`);
    const depth = (node) => (node.kind === "run" ? 0 : 1 + Math.max(0, ...node.children.map(depth)));
    assert.ok(Math.max(...nodes.map(depth)) < 60);
  });
}

test("a passage of the maximum length is parsed as Markdown, and a longer one is plain text", () => {
  const source = `# ${"a".repeat(16_382)}`;
  assert.equal(parsePassage(source)[0].tag, "heading");
  assert.equal(parsePassage(`${source}a`)[0].tag, "plain");
});

test("a window shows the words around a quote, with … for omitted text", () => {
  const source = `${"before ".repeat(60)}**The** quote.${" after".repeat(60)}`;
  const quote = find(source, "**The** quote.");
  const shown = show(clip(parsePassage(source), windowAround(source, quote)), [quote]);
  assert.match(shown, /^paragraph\(… before( before)+ strong\(«The»\)« quote\.»( after)+ …\)$/);
  assert.ok(shown.length < 400, shown);
});

test("a window shows a whole short passage", () => {
  const source = "# Title\n\nOne. *Two.* Three.";
  assert.equal(show(clip(parsePassage(source), windowAround(source, find(source, "One.")))), parsed(source));
});

test("a window keeps the head of a table and whole rows", () => {
  const source = `|key|value|\n|-|-|\n${Array.from({ length: 60 }, (_, n) => `|k${n}|value ${n}|`).join("\n")}`;
  const shown = show(clip(parsePassage(source), windowAround(source, find(source, "|k40|value 40|"))));
  assert.match(shown, /^table\(row\(head\(… key\)head\(value\)\)row\(cell\(k\d+\)cell\(value \d+\)\)/);
  assert.match(shown, /row\(cell\(k40\)cell\(value 40\)\)/);
  assert.doesNotMatch(shown, /k1\b|k59/);
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

test("named references of HTML 4 are decoded and others are not", () => {
  const known = { amp: "&", lt: "<", nbsp: "\u00a0", eacute: "é", yuml: "ÿ", euro: "€", zwj: "\u200d", hearts: "♥" };
  for (const [name, character] of Object.entries(known)) assert.equal(decodeNamedCharacterReference(name), character);
  for (const name of ["", "constructor", "notit", "AMP"]) assert.equal(decodeNamedCharacterReference(name), false);
});

test("deeply nested text is shown", () => {
  const source = `${"*a **b ".repeat(40)}end${"** c*".repeat(40)}`;
  assert.match(text(source), /end/);
  assert.equal(text(`${"> ".repeat(9)}${"- ".repeat(9)}deep`), "deep");
});

/** Numbers from 0 to 1, the same in each run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
