import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { agreementOf } = await importTs(new URL("../src/panel/citations/agreement.ts", import.meta.url));

const SENTENCE = "Refunds are paid within 14 days after the parcel has arrived.";

/** A passage; its whole text is a quote if `isQuoted`. */
function passage(index, excerpt, isQuoted = false) {
  const quotes = isQuoted ? [{ start: 0, end: excerpt.length, text: excerpt }] : [];
  return { index, chunk_id: `${index}-${excerpt}`, title: `Document ${index}`, score: 0.5, excerpt, quotes };
}

/** Number of documents that agree with the first, which contains `sentence`. */
function agreeing(sentence, ...excerpts) {
  const others = excerpts.map((excerpt, place) => passage(place + 2, excerpt));
  return agreementOf([passage(1, sentence, true), ...others], `${sentence} [1]`).agreeing;
}

test("documents agree regardless of case, accents, markup and word order", () => {
  assert.deepEqual(
    agreementOf(
      [
        passage(1, SENTENCE, true),
        passage(2, "# Money\n\nAfter the PARCEL has *arrived*, réfunds are paid\nwithin 14 days."),
        passage(3, "We like parcels."),
      ],
      `${SENTENCE} [1]`,
    ),
    { agreeing: 2, total: 3 },
  );
});

test("a document with several agreeing passages counts once", () => {
  const citations = [
    passage(1, SENTENCE, true),
    passage(2, "Nothing."),
    passage(2, SENTENCE),
    passage(2, `So: ${SENTENCE}`),
  ];
  assert.deepEqual(agreementOf(citations, `${SENTENCE} [1]`), { agreeing: 2, total: 2 });
});

test("a verified quote of the same words agrees even if it is short", () => {
  const citations = [passage(1, "Yes.", true), passage(2, "Yes.", true), passage(3, "Yes.")];
  assert.deepEqual(agreementOf(citations, "Yes. [1]"), { agreeing: 2, total: 3 });
});

test("the first sentence of the answer counts, regardless of the order of citations", () => {
  const citations = [
    passage(1, "Other words entirely stand here.", true),
    passage(2, SENTENCE, true),
    passage(3, SENTENCE),
  ];
  const answer = `${SENTENCE} [2] Other words entirely stand here. [1]`;
  assert.deepEqual(agreementOf(citations, answer), { agreeing: 2, total: 3 });
  const reversed = `Other words entirely stand here. [1] ${SENTENCE} [2]`;
  assert.deepEqual(agreementOf(citations, reversed), { agreeing: 1, total: 3 });
});

for (const [name, other] of [
  ["another number", SENTENCE.replace("14", "30")],
  ["a number that begins the same", SENTENCE.replace("14", "140")],
  ["a number left out", SENTENCE.replace("within 14 days", "within days")],
  ["its number in another sentence", `${SENTENCE.replace("within 14 days", "soon")} It takes 14 days.`],
  ["a negation", SENTENCE.replace("are paid", "are not paid")],
  ["a negation in short", SENTENCE.replace("are paid", "aren't paid")],
  ["its words over several sentences", "Refunds are paid. Within 14 days. After the parcel. Has arrived."],
  ["its words in another word", "Nonrefunds unpaid within14 days, parcels arrivederci."],
  ["its words in the address of a link", "[14](https://example.com/refunds-paid-within-days-after-parcel-arrived)"],
]) {
  test(`a document with ${name} does not agree`, () => assert.equal(agreeing(SENTENCE, other), 1));
}

test("numbers in words must match", () => {
  const sentence = "Refunds are paid within five days after arrival.";
  assert.equal(agreeing(sentence, sentence.replace("five", "seven")), 1);
  assert.equal(agreeing(sentence, `Dear customers, ${sentence}`), 2);
});

test("thousands separators are ignored and decimals are not", () => {
  const sentence = "The premium subscription costs 1,200 euros yearly.";
  assert.equal(agreeing(sentence, sentence.replace("1,200", "1200")), 2);
  assert.equal(agreeing(sentence, sentence.replace("1,200", "1.2")), 1);
});

test("60 % common words are enough and fewer are not", () => {
  const sentence = "alpha bravo charlie delta foxtrot.";
  assert.equal(agreeing(sentence, "alpha bravo charlie hotel india."), 2);
  assert.equal(agreeing(sentence, "alpha bravo golf hotel india."), 1);
});

test("a sentence of one word is not compared by its words", () => {
  assert.equal(agreeing("Refunds!", "Refunds!"), 1);
});

test("Japanese and Chinese sentences are compared by pairs of characters", () => {
  assert.equal(
    agreeing("返品は商品到着後30日以内に限ります。", "返品は、商品到着後30日以内に限ります。送料は無料です。"),
    2,
  );
  assert.equal(agreeing("返品は商品到着後30日以内に限ります。", "返品は商品到着後14日以内に限ります。"), 1);
  assert.equal(agreeing("この商品は返品できます。", "この商品は返品できません。"), 1);
});

test("an unverified quote does not count", () => {
  const invented = {
    ...passage(1, "The passage says something else."),
    quotes: [{ start: 0, end: 60, text: SENTENCE }],
  };
  assert.equal(agreementOf([invented, passage(2, SENTENCE)], `${SENTENCE} [1]`).agreeing, 0);
  assert.equal(agreementOf([passage(1, SENTENCE, true), passage(2, SENTENCE)], "Another answer. [1]").agreeing, 0);
});

test("a single document has no agreement", () => {
  assert.deepEqual(agreementOf([passage(1, SENTENCE, true), passage(1, SENTENCE)], `${SENTENCE} [1]`), {
    agreeing: 0,
    total: 1,
  });
  assert.deepEqual(agreementOf([], "Words."), { agreeing: 0, total: 0 });
});
