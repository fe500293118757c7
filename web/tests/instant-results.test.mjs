// The pace of instant results, and the words that they mark.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const SOURCES = new URL("../src/panel/search/", import.meta.url);
const { pauseAfter, queryOf } = await importTs(new URL("instant-results.ts", SOURCES));
const { matchingWords } = await importTs(new URL("result-list.ts", SOURCES));

test("a fast device waits 40 ms after a key, and a slow one so long that embedding takes a fifth of the time", () => {
  for (const ms of [0, 2, 50]) assert.equal(pauseAfter(ms), 40);
  assert.equal(pauseAfter(50.1), 200);
  assert.equal(pauseAfter(150), 600);
  assert.equal(pauseAfter(10_000), 1500);
});

test("white space and punctuation around a text do not make another query", () => {
  for (const text of ["refunds", "  refunds", "refunds?", "«refunds» ", "refunds … "])
    assert.equal(queryOf(text), "refunds");
  assert.equal(queryOf("how  do\nI?"), "how do I");
  assert.equal(queryOf("What is § 5.2?"), "What is § 5.2");
});

test("a word that has just begun is not searched, unless it is finished or written in capitals", () => {
  for (const text of ["my money b", "my money ba", "my money "]) assert.equal(queryOf(text), "my money");
  for (const text of ["my money bac", "my old TV", "form 5"]) assert.equal(queryOf(text), text);
  for (const text of ["my old pc?", "my old pc "]) assert.equal(queryOf(text), "my old pc");
});

test("a text of fewer than three letters or digits is no query, unless its script has short words", () => {
  for (const text of ["", " ", "re", "a?!…", "¿ho", "🙂🙂🙂"]) assert.equal(queryOf(text), undefined, text);
  for (const text of ["ref", "a b C", "404", "返品", "환불", "رد مال"]) assert.equal(queryOf(text), text);
});

const marked = (sentence, query) =>
  matchingWords(sentence, query)
    .filter(({ isMatch }) => isMatch)
    .map(({ text }) => text);

test("words are marked while they are typed, inflected, and in other cases and accents", () => {
  const sentence = "Refunds are paid to your Café card within 5 days.";
  assert.deepEqual(marked(sentence, "refund"), ["Refunds"]);
  assert.deepEqual(marked(sentence, "REFUNDING car"), ["Refunds", "card"]);
  assert.deepEqual(marked(sentence, "cafe"), ["Café"]);
  assert.deepEqual(marked(sentence, "to 5 da"), [], "short words are in every sentence");
  assert.deepEqual(marked(sentence, "reference"), []);
  assert.deepEqual(marked(sentence, ""), []);
});

test("a browser without Intl.Segmenter marks the same words where words are spaced", (t) => {
  const { Segmenter } = Intl;
  const sentence = "Don’t worry: re\u0301fund, café-card, 5.2 days (mañana), deuxième";
  const queries = ["don’t", "refund", "card", "5.2", "manana", "deuxieme", "worry"];
  const withSegmenter = queries.map((query) => marked(sentence, query));
  t.after(() => Object.assign(Intl, { Segmenter }));
  Reflect.deleteProperty(Intl, "Segmenter");
  assert.deepEqual(
    queries.map((query) => marked(sentence, query)),
    withSegmenter,
  );
  assert.deepEqual(withSegmenter.flat().length, queries.length);
});

test("the pieces of a sentence are the whole sentence", () => {
  for (const sentence of ["Refunds are paid.", "refunds", "", "👩‍👧 refunds\u0301!", "返品は5日以内です。"]) {
    const pieces = matchingWords(sentence, "refunds 返品");
    assert.equal(pieces.map(({ text }) => text).join(""), sentence);
  }
});
