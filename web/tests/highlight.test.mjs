import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { citedRanges, hasWords } = await importTs(new URL("../src/panel/citations/quotes.ts", import.meta.url));

const EXCERPT = "One. Two. 🎉 Three. Two.";

/** The excerpt with its quotes in angle brackets. */
function show(excerpt, quotes) {
  let shown = "";
  let at = 0;
  for (const { start, end } of citedRanges({ excerpt, quotes })) {
    shown += `${excerpt.slice(at, start)}<${excerpt.slice(start, end)}>`;
    at = end;
  }
  return shown + excerpt.slice(at);
}

test("a quote is highlighted at its offsets", () => {
  assert.equal(show(EXCERPT, [{ start: 20, end: 24, text: "Two." }]), "One. Two. 🎉 Three. <Two.>");
});

test("a quote that the excerpt does not have at its place is not highlighted", () => {
  assert.equal(show(EXCERPT, [{ start: 500, end: 506, text: "Three." }]), EXCERPT);
  assert.equal(show(EXCERPT, [{ start: 13, end: 15, text: "Three." }]), EXCERPT);
  assert.equal(show("One.", [{ start: 0, end: 5, text: "Five." }]), "One.");
});

test("an empty quote has no place", () => {
  assert.equal(hasWords({ excerpt: "One." }, { start: 2, end: 2, text: "" }), false);
  assert.equal(hasWords({ excerpt: "One. " }, { start: 4, end: 5, text: " " }), false);
});

test("overlapping, adjacent and unordered quotes give sorted and merged ranges", () => {
  const quotes = [
    { start: 13, end: 19, text: "Three." },
    { start: 0, end: 9, text: "One. Two." },
    { start: 5, end: 9, text: "Two." },
    { start: 9, end: 10, text: " " },
  ];
  assert.equal(show(EXCERPT, quotes), "<One. Two.> 🎉 <Three.> Two.");
});

test("a quote that contains a number in brackets is highlighted", () => {
  const excerpt = "Intro. Refunds take 5 days.[7][12] End.";
  const quotes = [{ start: 7, end: 34, text: "Refunds take 5 days.[7][12]" }];
  assert.equal(show(excerpt, quotes), "Intro. <Refunds take 5 days.[7][12]> End.");
});
