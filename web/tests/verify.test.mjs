// Quotes and source words, compared with passage and answer character by character. Quotes in pieces: pieces.test.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { quoteOf } from "./browser/support/answers.mjs";

const { isSourceSentence, isVerified } = await importTs(new URL("../src/panel/citations/verify.ts", import.meta.url));

const EXCERPT = "Refunds\n\nRefunds are not paid after 30 days. It costs 1.5 % & more.";
const TEXT = "Refunds are not paid after 30 days.";
const ANSWER = `As written: ${TEXT} [1]`;
const START = EXCERPT.indexOf(TEXT);
const QUOTE = quoteOf(EXCERPT, TEXT);

const verified = (quote, answer = ANSWER, excerpt = EXCERPT) =>
  isVerified({ excerpt, title: "As written" }, quote, answer);

test("a quote is verified if the passage has its words at its place and a sentence of the answer is these words", () => {
  assert.equal(verified(QUOTE), true);
  assert.equal(verified(QUOTE, `${TEXT} [1]`), true);
  assert.equal(verified(QUOTE, `Something else. [2] ${TEXT} [1]`), true);
});

test("differently wrapped lines are equal", () => {
  const excerpt = "Refunds take\n five days.";
  assert.equal(verified(quoteOf(excerpt), "Refunds take five days. [1]", excerpt), true);
});

/** @type {[name: string, quote: ReturnType<typeof quoteOf> & { plain?: string }, answer: string][]} */
const NOT_VERIFIED = [
  ["is not in the passage", quoteOf("Free!"), "Free! [1]"],
  ["is elsewhere in the passage", { ...QUOTE, start: START - 1, end: QUOTE.end - 1 }, ANSWER],
  ["is outside of the passage", { ...QUOTE, start: 900, end: 990 }, ANSWER],
  ["is not in the answer", QUOTE, "Something else. [1]"],
  ["is shown with other words", { ...QUOTE, plain: "Refunds are paid." }, "Refunds are paid. [1]"],
  ["is shown without a word", { ...QUOTE, plain: "Refunds are not paid." }, "Refunds are not paid. [1]"],
  ["is empty", quoteOf(EXCERPT, ""), ANSWER],
  ["is space", quoteOf(EXCERPT, "\n\n"), ANSWER],
  ["is punctuation", quoteOf(EXCERPT, "."), ". [1]"],
];
for (const [name, quote, answer] of NOT_VERIFIED) {
  test(`a quote that ${name} is not verified`, () => assert.equal(verified(quote, answer), false));
}

/** Whether words of a passage are verified where the answer shows them so. */
const shows = (text, shown) => verified(quoteOf(text), `As written: ${shown} [1]`, text);

for (const [what, source, shown] of [
  ["a lost plus sign", "Call +1 555 0100", "Call 1 555 0100"],
  ["a lost point", "costs 1.5 %", "costs 15 %"],
  ["another currency", "costs $5", "costs €5"],
  ["a lost minus sign", "is -5 °C", "is 5 °C"],
  ["another separator", "1,000 days", "1.000 days"],
  ["a lost power", "10^6 units", "106 units"],
  ["a lost unequal sign", "works if x ≠ 0", "works if x 0"],
  ["a lost sign of comparison", "orders > 50 €", "orders 50 €"],
  ["a lost tilde", "~5 days", "5 days"],
  ["lost stars", "Use *args for 2 * 3", "Use args for 2 * 3"],
  ["moved spaces", "He is notable to us", "He is not able to us"],
  ["lost spaces", "He is not able to us", "He is notable to us"],
  ["a lost tab", "Theft\tyes", "Theftyes"],
  ["other punctuation", "Is it free? Yes.", "Is it free. Yes?"],
  ["lost quotation marks", "He said “free”.", "He said free."],
  ["a right-to-left override", "Pay 100 to account 12.", "Pay \u202e100\u202c to account 12."],
  ["an isolate", "Pay 100 to account 12.", "Pay \u2067100\u2069 to account 12."],
  ["a right-to-left mark", "Pay 100 to account 12.", "Pay 100\u200f to account 12."],
  ["soft hyphens and zero-width spaces", "Never share it.", "Ne\u00adver\u200b share it."],
  ["a zero-width joiner within a word", "Never share it.", "Ne\u200dver share it."],
  ["another letter", "It is now free.", "It is not free."],
  ["another case", "US citizens", "us citizens"],
  ["a homoglyph", "paypal", "pаypal"],
  ["another form of a letter", "é", "e\u0301"],
]) {
  test(`words with ${what} are not verified`, () => {
    assert.equal(shows(source, source), true);
    assert.equal(shows(source, shown), false);
  });
}

for (const [what, text] of [
  ["overrides", "Pay \u202e100\u202c to account 12."],
  ["soft hyphens", "Ne\u00adver share it."],
  ["zero-width spaces", "Never\u200b share it."],
  ["joiners within a word", "Ne\u200dver share it."],
]) {
  test(`words with ${what} are not verified, even if the passage has them`, () =>
    assert.equal(shows(text, text), false));
}

for (const [what, text] of [
  ["Persian", "می\u200cخواهم بازگردانم."],
  ["Hindi", "क्\u200dष और वापसी।"],
  ["emoji", "Ask 👩\u200d👧 or ❤️\u200d🔥 today."],
]) {
  test(`words with the joiners of ${what} are verified`, () => assert.equal(shows(text, text), true));
}

for (const text of [
  "# Not a heading",
  "a **b** _c_ `d` [e](https://f.example) ![g](h)",
  "<b>bold</b> &amp; \\* a < b > c",
  "| a | b |",
  "Größe: 字 مرحبا.",
]) {
  test(`${text} is compared as it is written`, () => {
    assert.equal(shows(text, text), true);
    assert.equal(shows(text, text.replace(/[#*<\\|ß]/, "")), false);
  });
}

for (const [what, words, answer] of [
  ["at the end of a longer word", "paid in 5 days", "Refunds are unpaid in 5 days [1]"],
  ["at the beginning of a longer word", "Refunds are paid", "Refunds are paidless [1]"],
  ["in a longer sentence", "paid in 5 days", "Refunds are never paid in 5 days [1]"],
  ["behind a sign", "5 °C", "It is -5 °C [1]"],
  ["before a sign", "It costs 1", "It costs 1.50 [1]"],
]) {
  test(`words that the answer has only ${what} are not verified`, () => {
    assert.equal(verified(quoteOf(words), answer, words), false);
    assert.equal(verified(quoteOf(words), `${answer}\n\n${words} [1]`, words), true);
  });
}

/** Whether words are verified as the source of a generated sentence. */
const isSource = (text, { excerpt = EXCERPT, start = excerpt.indexOf(text) } = {}) =>
  isSourceSentence({ excerpt }, { start, end: start + text.length, text, sentence: 0 });

test("a source sentence is verified by its passage alone, whatever words the answer has", () => {
  assert.equal(isSource(TEXT), true);
  assert.equal(isSource("It costs 1.5 % & more."), true);
});

test("a source sentence is verified only at its place", () => {
  for (const start of [START - 1, START + 1, 900]) assert.equal(isSource(TEXT, { start }), false);
});

for (const [what, text] of [
  ["is not in the passage", "Refunds are always paid after 30 days."],
  ["is empty", ""],
  ["is space", "\n\n"],
  ["is punctuation", "."],
]) {
  test(`a source sentence that ${what} is not verified`, () => assert.equal(isSource(text), false));
}

for (const [what, text] of [
  ["overrides", "Pay \u202e100\u202c to account 12."],
  ["zero-width spaces", "Never\u200b share it."],
]) {
  test(`a source sentence with ${what} is not verified`, () => assert.equal(isSource(text, { excerpt: text }), false));
}
