import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { quoteOf } from "./browser/support/answers.mjs";

const { agreementOf } = await importTs(new URL("../src/panel/citations/sources-view.ts", import.meta.url));

const SENTENCE = "Refunds are paid within 14 days after the parcel has arrived.";

/** A passage of which these words are quoted. */
function passage(index, excerpt, ...quoted) {
  const quotes = quoted.map((text) => quoteOf(excerpt, text));
  return { index, chunk_id: `${index}-${excerpt}`, title: `Document ${index}`, score: 0.5, excerpt, quotes };
}

/** A passage that is one sentence, which is quoted. */
const whole = (index, sentence) => passage(index, sentence, sentence);

/** Number of documents that agree if each is quoted with one of these sentences. */
function agreeing(...sentences) {
  const citations = sentences.map((sentence, place) => whole(place + 1, sentence));
  const answer = sentences.map((sentence, place) => `${sentence} [${place + 1}]`).join(" ");
  return agreementOf(citations, answer).agreeing;
}

test("documents agree that are quoted with the same sentence", () => {
  const citations = [whole(1, SENTENCE), whole(2, SENTENCE), passage(3, "We like parcels.")];
  assert.deepEqual(agreementOf(citations, `${SENTENCE} [1] [2]`), { agreeing: 2, total: 3 });
});

test("case, white space and punctuation may differ", () => {
  assert.equal(agreeing("Refunds are free, always.", "REFUNDS are\nfree: always!"), 2);
  assert.equal(agreeing("返品は30日以内です。", "返品は30日以内です"), 2);
});

test("a document with several agreeing passages counts once", () => {
  const citations = [whole(1, SENTENCE), whole(2, SENTENCE), whole(2, SENTENCE)];
  assert.deepEqual(agreementOf(citations, `${SENTENCE} [1] [2]`), { agreeing: 2, total: 2 });
});

test("the first sentence of the answer counts, regardless of the order of citations", () => {
  const other = "Other words entirely.";
  const citations = [whole(1, other), whole(2, SENTENCE), whole(3, SENTENCE)];
  assert.deepEqual(agreementOf(citations, `${SENTENCE} [2] ${other} [1]`), { agreeing: 2, total: 3 });
  assert.deepEqual(agreementOf(citations, `${other} [1] ${SENTENCE} [2]`), { agreeing: 1, total: 3 });
});

for (const [sentence, other] of [
  ["Dogs are forbidden in the garden.", "Dogs are allowed in the garden."],
  ["Refunds take 5 weeks.", "Refunds take 5 days."],
  ["Towels are included in the price.", "Towels are excluded from the price."],
  ["The Basic plan has 5 users.", "The Team plan has 5 users."],
  ["A lift costs 5 €.", "A lift costs 5 $."],
  ["Water freezes below 5 °C.", "Water freezes below -5 °C."],
  ["It costs 1.5 euros.", "It costs 15 euros."],
  ["We ship to you.", "We ship to us."],
  ["Refunds are paid within five days.", "Refunds are paid within ten days."],
  ["You can return opened items.", "You can't return opened items."],
  ["Berlin to Rome takes 9 hours.", "Rome to Berlin takes 9 hours."],
  ["この商品は返品できます。", "この商品は返品できません。"],
  ["Eine Rückgabe ist möglich.", "Eine Rückgabe ist nicht möglich."],
]) {
  test(`“${sentence}” and “${other}” do not agree`, () => assert.equal(agreeing(sentence, other), 1));
}

test("an unquoted sentence of a passage does not count", () => {
  const citations = [whole(1, SENTENCE), passage(2, `It is not true that: ${SENTENCE} We like tea.`, "We like tea.")];
  assert.deepEqual(agreementOf(citations, `${SENTENCE} [1] We like tea. [2]`), { agreeing: 1, total: 2 });
});

test("what belongs to a quote is part of what it says", () => {
  const item = (index, line) => {
    const quote = { start: 0, end: 5, text: "theft", plain: `${line} theft` };
    return {
      ...whole(index, "theft"),
      quotes: [{ ...quote, pieces: [{ text: line, role: "lead_in" }, { text: "theft" }] }],
    };
  };
  const answer = "We cover: theft [1] We do not cover: theft [2] theft [2]";
  assert.equal(agreementOf([item(1, "We cover:"), item(2, "We do not cover:")], answer).agreeing, 1);
  assert.equal(agreementOf([item(1, "We cover:"), item(2, "We cover:")], answer).agreeing, 2);
  assert.equal(agreementOf([item(1, "We cover:"), whole(2, "theft")], answer).agreeing, 1);
});

test("a quote counts with what the answer leaves out because it has it right before", () => {
  const fire = (index, whole) => ({ ...passage(index, "fire"), quotes: [{ ...quoteOf("fire"), whole }] });
  const answer = "We cover: theft [1] fire [1] fire [2]";
  assert.equal(agreementOf([fire(1, "We cover: fire"), fire(2, "We cover: fire")], answer).agreeing, 2);
  assert.equal(agreementOf([fire(1, "We cover: fire"), fire(2, "We never cover: fire")], answer).agreeing, 1);
});

test("an unverified quote does not count", () => {
  const invented = { ...whole(1, "The passage says another thing."), quotes: [quoteOf(SENTENCE)] };
  assert.equal(agreementOf([invented, whole(2, SENTENCE)], `${SENTENCE} [1] [2]`).agreeing, 1);
  assert.equal(agreementOf([whole(1, SENTENCE), whole(2, SENTENCE)], "Another answer. [1]").agreeing, 0);
});

test("a single document has no agreement", () => {
  assert.equal(agreementOf([whole(1, SENTENCE), whole(1, SENTENCE)], `${SENTENCE} [1]`).agreeing, 1);
  assert.deepEqual(agreementOf([], "Words."), { agreeing: 0, total: 0 });
});
