import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const load = (path) => importTs(new URL(`../src/${path}`, import.meta.url));
const { asMarkdown, asPlainText } = await load("panel/citations/copy.ts");
const { supportedTarget, targetOf } = await load("panel/citations/markers.ts");

const translator = { t: (key) => `(${key})` };
const text = (words) => ({ kind: "text", text: words });
const source = (citation = {}, quote = undefined) => ({
  kind: "source",
  target: {
    citation: { index: 1, title: "Returns", excerpt: "Take five days. Or six.", quotes: [], ...citation },
    quote,
  },
});
const QUOTE = { start: 0, end: 15, text: "Take five days." };

const plain = (...pieces) => asPlainText(pieces, translator);
const markdown = (...pieces) => asMarkdown(pieces, translator);

test("plain text has the title of the document for each badge", () => {
  assert.equal(plain(text("Five days. "), source(), text(" More.")), "Five days. [Returns] More.");
});

test("plain text separates a badge from the text before it", () => {
  assert.equal(plain(text("days"), source(), source({ title: "B" })), "days [Returns] [B]");
  assert.equal(plain(source(), text(".")), "[Returns].");
});

test("a title of several lines becomes one line, and a missing title unknown", () => {
  assert.equal(plain(source({ title: " A\n  B\t" })), "[A B]");
  assert.equal(plain(source({ title: " " })), "[(unknownDocument)]");
  assert.equal(plain(source({ title: "Unknown document" })), "[(unknownDocument)]");
});

test("Markdown has a footnote with title, link, section, page and quote for each badge", () => {
  const full = source({ url: "https://example.com/a", section: "Refunds", page: 3 }, QUOTE);
  assert.equal(
    markdown(text("Take five days. "), full),
    'Take five days. [^1]\n\n[^1]: [Returns](https://example.com/a), Refunds, p. 3 — "Take five days."',
  );
  assert.equal(markdown(text("A "), source()), "A [^1]\n\n[^1]: Returns");
});

test("equal quotes of one passage share a footnote, in the order of the text", () => {
  const other = source({ title: "Other" });
  assert.equal(
    markdown(text("A "), other, text(" B "), source(), text(" C "), other),
    "A [^1] B [^2] C [^1]\n\n[^1]: Other\n[^2]: Returns",
  );
});

test("another quote of the same passage gets another footnote", () => {
  const copied = markdown(source({}, QUOTE), source({}, { start: 16, end: 23, text: "Or six." }));
  assert.equal(copied, '[^1][^2]\n\n[^1]: Returns — "Take five days."\n[^2]: Returns — "Or six."');
});

test("a footnote has the quote as the answer shows it, and no quote that its passage lacks", () => {
  const excerpt = "Theft\tyes";
  const quote = { start: 0, end: excerpt.length, text: excerpt, plain: "Theft – Excluded: yes" };
  assert.match(markdown(source({ excerpt }, quote)), /— "Theft – Excluded: yes"$/);
  assert.equal(markdown(source({}, { start: 0, end: 4, text: "Lies" })), "[^1]\n\n[^1]: Returns");
});

for (const url of [
  "javascript:alert(1)",
  "data:text/html,x",
  "https://me:secret@example.com/",
  "nonsense",
  "mailto:a@b.c",
]) {
  test(`Markdown has no link for ${url}`, () => assert.equal(markdown(source({ url })), "[^1]\n\n[^1]: Returns"));
}

test("titles, sections, quotes and URLs are escaped in Markdown", () => {
  const hostile = "a](javascript:x) [b]: c\n# d ![e](f) <img src=x> `g` *h* \\";
  const excerpt = `${hostile} end`;
  const copied = markdown(
    source(
      { title: hostile, section: hostile, excerpt, url: "https://example.com/a)b(c" },
      { start: 0, end: hostile.length, text: hostile },
    ),
  );
  const lines = copied.split("\n");
  assert.equal(lines.length, 3);
  const escaped = "a\\](javascript:x) \\[b\\]: c # d !\\[e\\](f) \\<img src=x\\> \\`g\\` \\*h\\* \\\\";
  assert.equal(lines[2], `[^1]: [${escaped}](https://example.com/a%29b%28c), ${escaped} — "${escaped}"`);
});

test("an unavailable document has no link", () => {
  const gone = source({ url: "https://example.com/", available: false, section: "S" });
  assert.equal(markdown(gone), "[^1]\n\n[^1]: Returns, S");
});

test("the text of an answer is escaped in Markdown", () => {
  assert.equal(
    markdown(text("a*b_c [x] <b>\n# d\n- e\n1. f\n2) g 3. &lt; & so `x*[1]`")),
    "a\\*b\\_c \\[x\\] \\<b\\>\n\\# d\n\\- e\n1\\. f\n2\\) g 3. \\&lt; & so \\`x\\*\\[1\\]\\`",
  );
  assert.equal(plain(text("a*b `x`")), "a*b `x`");
});

const passage = (index, title, ...quotes) => ({
  index,
  title,
  quotes: quotes.map((words) => ({ text: words, pieces: [{ text: words }] })),
});

test("a marker points at the passage whose words precede it", () => {
  const citations = [passage(1, "a", "One."), passage(1, "b", "Two.", "Three."), passage(2, "c", "Two.")];
  assert.equal(targetOf(citations, 1, "Three. ").citation.title, "b");
  assert.equal(targetOf(citations, 1, "Three. ").quote.text, "Three.");
  assert.equal(targetOf(citations, 1, "b: Three. ").quote.text, "Three.", "after the name of its place");
  assert.equal(targetOf([passage(1, "a", "tea", "green tea")], 1, " green tea ").quote.text, "green tea");
  assert.equal(targetOf(citations, 2, "Two. ").citation.title, "c");
  assert.equal(targetOf(citations, 3, "Two."), undefined);
  assert.deepEqual(targetOf([passage(4, "d")], 4, "x"), { citation: passage(4, "d") });
});

test("a marker after words that are no quote points at no quote, wherever the answer has quotes", () => {
  const citations = [passage(1, "a", "Refunds take 5 days.")];
  for (const words of [
    "The fee is 0 €.",
    "Refunds take 5 days. For business customers it is 90 days. ",
    "The fee is 0 €. Refunds take 5 days. ",
    "Not true: Refunds take 5 days. ",
    "",
  ]) {
    assert.deepEqual(targetOf(citations, 1, words), { citation: citations[0] }, words);
  }
});

const support = (sentence, text, excerpt = "Take five days. Or six.") => {
  const start = excerpt.indexOf(text);
  return { start, end: start + text.length, text, sentence };
};
const supporting = (index, title, ...supports) => ({
  ...passage(index, title),
  excerpt: "Take five days. Or six.",
  supports,
});

test("a marker of a generated answer points at the passages that support its sentence", () => {
  const five = support(0, "Take five days.");
  const six = support(1, "Or six.");
  const citations = [
    supporting(1, "a", five, six),
    supporting(1, "b", { ...six, sentence: 2 }),
    supporting(2, "c", five),
  ];
  const { citation, supports, others } = supportedTarget(citations, 1, 0);
  assert.deepEqual([citation.title, supports, others], ["a", [five], []]);
  assert.deepEqual(supportedTarget(citations, 1, 1).supports, [six]);
  assert.equal(supportedTarget(citations, 1, 2).citation.title, "b");
  assert.equal(supportedTarget(citations, 2, 0).citation.title, "c");
  assert.deepEqual(
    supportedTarget(citations, 2, 7),
    { citation: citations[2] },
    "no words rather than those of another",
  );
  assert.equal(supportedTarget(citations, 3, 0), undefined);
});

test("several passages of a document that support a sentence have one marker", () => {
  const five = support(0, "Take five days.");
  const target = supportedTarget([supporting(1, "a", five), supporting(1, "b", five)], 1, 0);
  assert.deepEqual(
    target.others.map(({ citation }) => citation.title),
    ["b"],
  );
});

test("a footnote has the source words of a generated sentence, with bars between cells", () => {
  const excerpt = "Take five days. Often less. Or six.\nFar\t9 €";
  const [five, less, six, row] = ["Take five days.", "Often less.", "Or six.", "Far\t9 €"].map((words) =>
    support(0, words, excerpt),
  );
  const written = (...supports) => {
    const citation = { index: 1, title: "Returns", excerpt, quotes: [], supports };
    return markdown({ kind: "source", target: { citation, supports } });
  };
  assert.equal(written(five), '[^1]\n\n[^1]: Returns — "Take five days."');
  assert.equal(written(five, six), '[^1]\n\n[^1]: Returns — "Take five days. … Or six."');
  assert.equal(written(five, less), '[^1]\n\n[^1]: Returns — "Take five days. Often less."');
  assert.equal(written(row), '[^1]\n\n[^1]: Returns — "Far \\| 9 €"');
  assert.equal(written({ ...five, text: "Lies." }), "[^1]\n\n[^1]: Returns");
});
