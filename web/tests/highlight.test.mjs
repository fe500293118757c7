import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { highlightQuotes } = await importTs(new URL("../src/element/highlight.ts", import.meta.url));

const EXCERPT = "One. Two. 🎉 Three. Two.";
const show = (runs) => runs.map(({ text, quoted }) => (quoted ? `<${text}>` : text)).join("");

test("a quote is marked where its offsets say", () => {
  assert.equal(show(highlightQuotes(EXCERPT, [{ start: 20, end: 24, text: "Two." }])), "One. Two. 🎉 Three. <Two.>");
});

test("a quote whose offsets count from elsewhere is found by its words", () => {
  assert.equal(
    show(highlightQuotes(EXCERPT, [{ start: 500, end: 506, text: "Three." }])),
    "One. Two. 🎉 <Three.> Two.",
  );
});

test("a quote that is not in the excerpt is shown after it", () => {
  assert.equal(show(highlightQuotes("One.", [{ start: 0, end: 5, text: "Five." }])), "One.<Five.>");
});

test("overlapping and unordered quotes keep the excerpt whole", () => {
  const quotes = [
    { start: 13, end: 19, text: "Three." },
    { start: 0, end: 9, text: "One. Two." },
    { start: 5, end: 9, text: "Two." },
  ];
  const runs = highlightQuotes(EXCERPT, quotes);
  assert.equal(runs.map(({ text }) => text).join(""), EXCERPT);
  assert.equal(show(runs), "<One. Two.> 🎉 <Three.> Two.");
});

test("a quote with a number in brackets of its own is marked as it stands in the excerpt", () => {
  const excerpt = "Intro. Refunds take 5 days.[7][12] End.";
  const quotes = [{ start: 7, end: 34, text: "Refunds take 5 days.[7][12]" }];
  assert.equal(show(highlightQuotes(excerpt, quotes)), "Intro. <Refunds take 5 days.[7][12]> End.");
});
