import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { urlOfWords } = await importTs(new URL("../src/panel/citations/cited-place.ts", import.meta.url));

const PAGE = "https://example.com/returns";

/** A citation of these parts of a passage. */
const citing = (excerpt, words, fields = {}) => ({
  url: PAGE,
  excerpt,
  quotes: words.map((text) => ({ start: excerpt.indexOf(text), end: excerpt.indexOf(text) + text.length, text })),
  ...fields,
});
const urlOf = (excerpt, words, fields) => {
  const citation = citing(excerpt, words, fields);
  return urlOfWords(citation, [citation], true);
};
const fragmentOf = (excerpt, words, fields) => urlOf(excerpt, words, fields).slice(PAGE.length);

const LONG = "You may return goods within thirty days if they are complete, unused and in the box that they came in.";

/** `[name, passage, cited words, text directives]` */
const LINKS = /** @type {[string, string, string[], string][]} */ ([
  [
    "a sentence",
    "One. Refunds take five working days. Two.",
    ["Refunds take five working days."],
    "text=Refunds%20take%20five%20working%20days",
  ],
  [
    "a long sentence by its beginning and end",
    LONG,
    [LONG],
    "text=You%20may%20return%20goods%20within,box%20that%20they%20came%20in",
  ],
  [
    "the separators of a directive, encoded",
    "Use A-1, B & C in one-way mode.",
    ["Use A-1, B & C in one-way mode."],
    "text=Use%20A%2D1%2C%20B%20%26%20C%20in%20one%2Dway%20mode",
  ],
  [
    "short words by the words before them",
    "The period is 30 days. More.",
    ["30 days."],
    "text=The%20period%20is-,30%20days.",
  ],
  [
    "short words at the beginning by the words after them",
    "30 days, then it ends.\n\nMore.",
    ["30 days"],
    "text=30%20days,-%2C%20then%20it%20ends",
  ],
  [
    "short words in brackets with their brackets",
    "Parcels take (3 days).",
    ["(3 days)"],
    "text=Parcels%20take-,(3%20days)",
  ],
  [
    "a short paragraph by the end of the paragraph before",
    "We ship every day.\n\nUp to Monday.",
    ["Up to Monday."],
    "text=ship%20every%20day.-,Up%20to%20Monday.",
  ],
  [
    "a table row by its first and last cell",
    "Zone\tDays\tPrice\nNear\t1\t3 €\nFar\t4\t9 €",
    ["Far\t4\t9 €"],
    "text=3%20%E2%82%AC-,Far,9",
  ],
  [
    "two lines",
    "Goods that you opened by mistake\nGoods that you used at home",
    ["Goods that you opened by mistake\nGoods that you used at home"],
    "text=Goods%20that%20you%20opened%20by,that%20you%20used%20at%20home",
  ],
  [
    "two sentences apart",
    "One is the first sentence. Two comes between them. Three is the last sentence.",
    ["One is the first sentence.", "Three is the last sentence."],
    "text=One%20is%20the%20first%20sentence&text=Three%20is%20the%20last%20sentence",
  ],
  [
    "Japanese words",
    "返品は三十日以内に可能です。",
    ["返品は三十日以内に可能です。"],
    `text=${encodeURIComponent("返品は三十日以内に可能です")}`,
  ],
]);
for (const [name, excerpt, words, fragment] of LINKS) {
  test(`a link leads to ${name}`, () => assert.equal(fragmentOf(excerpt, words), `#:~:${fragment}`));
}

test("a link leads to a sentence around the number of a footnote, whose word belongs to it on the page", () => {
  const excerpt = "All refunds12 always take five working days.";
  const at = excerpt.indexOf("12");
  const blocks = {
    blocks: [{ kind: "paragraph", start: 0, end: excerpt.length }],
    marks: [{ kind: "reference", start: at, end: at + 2 }],
  };
  assert.equal(fragmentOf(excerpt, [excerpt], { blocks }), "#:~:text=All,always%20take%20five%20working%20days");
});

test("a link leads to items and rows without the marks between them", () => {
  const excerpt = "- Goods that you opened by mistake\n- Goods that you used at home\nFar\t4\t9 €";
  const item = (/** @type {string} */ words) => {
    const start = excerpt.indexOf(words);
    return { kind: "item", start, end: start + words.length, text: start + 2, depth: 0 };
  };
  const row = excerpt.indexOf("Far");
  const cells = [
    [row, row + 3],
    [row + 4, row + 5],
    [row + 6, row + 9],
  ];
  const [first, second] = excerpt.split("\n").map(item);
  const blocks = { blocks: [first, second, { kind: "row", start: row, end: excerpt.length, cells }] };
  assert.equal(
    fragmentOf(excerpt, [excerpt.slice(0, row - 1)], { blocks }),
    "#:~:text=Goods%20that%20you%20opened%20by,that%20you%20used%20at%20home",
  );
  assert.equal(fragmentOf(excerpt, [excerpt.slice(row)], { blocks }), "#:~:text=used%20at%20home-,Far,9");
});

test("a link leads to lines of a plain text", () => {
  const excerpt = "Above are the rules.\nRefunds take five days in general.\nGoods come back within a week.\nEnd";
  const words = ["Refunds take five days in general.\nGoods come back within a week.", "End"];
  const named = "text=Refunds%20take%20five%20days%20in,come%20back%20within%20a%20week&text=within%20a%20week.-,End";
  assert.equal(fragmentOf(excerpt, words.slice(0, 1)), `#:~:${named.split("&")[0]}`);
  assert.equal(fragmentOf(excerpt, words.slice(1)), `#:~:${named.split("&")[1]}`);
});

const UNCHANGED = /** @type {[string, string, string[]][]} */ ([
  ["no words", "One. --- Two.", ["---"]],
  ["a lone surrogate", "One \ud83d two three four five.", ["One \ud83d two three four five."]],
  ["a word of 300 letters", `${"a".repeat(300)} b c d`, [`${"a".repeat(300)} b c d`]],
  ["words that the passage lacks", "One two three four.", []],
]);
for (const [name, excerpt, words] of UNCHANGED) {
  test(`a link stays as it is for ${name}`, () => assert.equal(urlOf(excerpt, words), PAGE));
}

test("a link stays as it is if the browser knows no text fragments", () => {
  const citation = citing("One two three four.", ["One two three four."]);
  assert.equal(urlOfWords(citation, [citation], false), PAGE);
});

test("a link keeps its fragment, and a text fragment of its own", () => {
  const [excerpt, words] = ["One two three four.", ["One two three four."]];
  const named = "text=One%20two%20three%20four";
  assert.equal(urlOf(excerpt, words, { url: `${PAGE}#refunds` }), `${PAGE}#refunds:~:${named}`);
  assert.equal(urlOf(excerpt, words, { url: `${PAGE}#/route?a=1` }), `${PAGE}#/route?a=1:~:${named}`);
  assert.equal(urlOf(excerpt, words, { url: `${PAGE}#` }), `${PAGE}#:~:${named}`);
  assert.equal(urlOf(excerpt, words, { url: `${PAGE}#:~:text=own` }), `${PAGE}#:~:text=own`);
});

test("a link to a PDF opens its page", () => {
  const [excerpt, words] = ["One two three four.", ["One two three four."]];
  assert.equal(urlOf(excerpt, words, { url: `${PAGE}.PDF?v=1`, page: 3 }), `${PAGE}.PDF?v=1#page=3`);
  assert.equal(urlOf(excerpt, words, { content_type: "application/pdf", page: 12 }), `${PAGE}#page=12`);
  assert.equal(urlOf(excerpt, words, { url: `${PAGE}.pdf` }), `${PAGE}.pdf`);
  assert.equal(urlOf(excerpt, words, { url: `${PAGE}.pdf#chapter`, page: 3 }), `${PAGE}.pdf#chapter`);
  assert.equal(
    urlOfWords({ url: `${PAGE}.pdf`, page: 4 }, [], true),
    `${PAGE}.pdf#page=4`,
    "a passage that is not cited",
  );
});

test("a link names at most four places, and each only once", () => {
  const sentences = [1, 2, 3, 4, 5, 6].map((each) => `Sentence number ${each} is here. Filler ${each}.`);
  const quotes = sentences.map((each) => each.replace(/ Filler.*/, ""));
  const citation = citing(sentences.join(" "), quotes);
  const url = urlOfWords(citation, [citation, citation], true);
  assert.deepEqual(url.match(/number%20\d/g), ["number%201", "number%202", "number%203", "number%204"]);
});

test("every directive of random text decodes to words of the text, in their order", () => {
  const WORDS = [
    "a",
    "re-use",
    "R&D",
    "1,000",
    "%2D",
    "naïve",
    "日本語",
    "𝒳",
    "«so»",
    "#:~:text=",
    "don’t",
    "–",
    "e.g.",
    "ﬁ",
    "😀",
    "שלום",
  ];
  let state = 1;
  const random = (below) => (state = (state * 48271) % 2147483647) % below;
  const some = (count) => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(" ");
  let named = 0;
  for (let round = 0; round < 2000; round++) {
    const parts = [some(random(8)), some(1 + random(20)), some(random(8))];
    const excerpt = parts.join(random(2) === 0 ? " " : "\n");
    const start = parts[0].length + 1;
    const quote = { start, end: start + parts[1].length, text: parts[1] };
    const citation = { url: PAGE, excerpt, quotes: [quote] };
    const url = urlOfWords(citation, [citation], true);
    if (url === PAGE) continue;
    named++;
    const directive = /^#:~:text=([^&]+)$/.exec(url.slice(PAGE.length))?.[1];
    assert.ok(directive, url);
    assert.match(directive, /^(?:[^,-]+-,)?[^,-]+(?:,[^,-]+)?(?:,-[^,-]+)?$/);
    let at = 0;
    for (const term of directive.split(",")) {
      const text = decodeURIComponent(term.replace(/^-|-$/g, ""));
      assert.ok(text === text.trim() && text !== "", url);
      const found = excerpt.indexOf(text, at);
      assert.ok(found >= at, `${text} of ${url} in ${JSON.stringify(excerpt)}`);
      at = found + text.length;
    }
  }
  assert.ok(named > 1500, `${named} links`);
});
