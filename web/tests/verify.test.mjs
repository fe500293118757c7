import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { isVerified } = await importTs(new URL("../src/panel/citations/verify.ts", import.meta.url));

const EXCERPT =
  "# Refunds\n\nRefunds are **not** paid after [30 days](https://example.com/x_y). It costs 1.5 % & more.";
const SOURCE = "Refunds are **not** paid after [30 days](https://example.com/x_y).";
const PLAIN = "Refunds are not paid after 30 days.";
const ANSWER = `As written: ${PLAIN} [1]`;
const AT = EXCERPT.indexOf(SOURCE);
const QUOTE = { start: AT, end: AT + SOURCE.length, text: SOURCE, plain: PLAIN };

const verified = (quote, answer = ANSWER, citation = {}) =>
  isVerified({ excerpt: EXCERPT, ...citation }, quote, answer);

test("a quote whose source is in the passage and whose words are in the answer is verified", () => {
  assert.equal(verified(QUOTE), true);
});

test("a quote is verified where its offsets are wrong but its words are there", () => {
  assert.equal(verified({ ...QUOTE, start: 900, end: 990 }), true);
});

test("a quote without markup needs no other form of its words", () => {
  const quote = { start: 0, end: 9, text: "# Refunds" };
  assert.equal(verified(quote, "# Refunds [1]"), true);
  assert.equal(verified(quote, "Refunds [1]"), false);
});

test("lines that are wrapped differently are the same words", () => {
  const excerpt = "Refunds take\n five days.";
  const quote = { start: 0, end: excerpt.length, text: excerpt, plain: "Refunds take five days." };
  assert.equal(verified(quote, "Refunds take five days. [1]", { excerpt }), true);
});

test("a row of a table and a whole passage are compared as they are written", () => {
  const excerpt = "|a|b|\n|-|-|\n| 5 days | €1.50 |";
  const row = "| 5 days | €1.50 |";
  const quote = { start: excerpt.indexOf(row), end: excerpt.length, text: row };
  assert.equal(verified(quote, `${row} [1]`, { excerpt }), true);
  const list = "1. First.\n2. *Second.*";
  const whole = { start: 0, end: list.length, text: list, plain: "1. First.\n2. Second." };
  assert.equal(verified(whole, "1. First. 2. Second. [1]", { excerpt: list }), true);
});

const HOURS =
  "# Opening hours\n\n| Day | **Opening** hours |\n|-|-|\n| Monday | 9:00–17:30 |\n| Sunday and *public* holidays | closed |\n| Flagship | |";

/** Whether a row of the table is verified as these words. */
const row = (text, plain) => {
  const start = HOURS.indexOf(text);
  const quote = { start, end: start + text.length, text, plain };
  return verified(quote, `Opening hours: ${plain} [1]`, { excerpt: HOURS });
};

test("a row of a table may come with the names of its columns", () => {
  assert.equal(row("| Monday | 9:00–17:30 |", "Day: Monday; Opening hours: 9:00–17:30"), true);
  const sunday = "| Sunday and *public* holidays | closed |";
  assert.equal(row(sunday, "Day: Sunday and public holidays; Opening hours: closed"), true);
  assert.equal(row(sunday, "Sunday and public holidays; Opening hours: closed"), true);
  assert.equal(row("| Flagship | |", "Day: Flagship"), true);
});

for (const [what, plain] of [
  ["other names of columns", "Day: Sunday and public holidays; Open: closed"],
  ["names of columns in another order", "Opening hours: Sunday and public holidays; Day: closed"],
  ["another cell", "Day: Sunday and public holidays; Opening hours: open"],
  ["a cell left out", "Day: Sunday and public holidays"],
  ["the cell of another row", "Day: Sunday and public holidays; Opening hours: 9:00–17:30"],
  ["more words", "Day: Sunday and public holidays; Opening hours: closed, but not really"],
]) {
  test(`a row of a table with ${what} is not verified`, () =>
    assert.equal(row("| Sunday and *public* holidays | closed |", plain), false));
}

test("plain text is compared as it is", () => {
  const excerpt = "Use *args for 2 * 3.";
  const quote = { start: 0, end: excerpt.length, text: excerpt };
  assert.equal(verified(quote, `${excerpt} [1]`, { excerpt, content_type: "text/plain" }), true);
});

for (const [name, quote, answer] of [
  ["is not in the passage", { start: 0, end: 5, text: "Free!" }, "Free! [1]"],
  ["is not in the answer", QUOTE, "Something else. [1]"],
  [
    "has words that its source has not",
    { ...QUOTE, plain: "Refunds are paid after 30 days." },
    "Refunds are paid after 30 days. [1]",
  ],
  ["leaves out a word of its source", { ...QUOTE, plain: "Refunds are not paid." }, "Refunds are not paid. [1]"],
  [
    "shows the address that a link hides",
    { ...QUOTE, plain: "https://example.com/x_y" },
    "https://example.com/x_y [1]",
  ],
  ["is empty", { start: 0, end: 0, text: "" }, ANSWER],
  ["is space", { start: 9, end: 11, text: "\n\n" }, ANSWER],
  ["is punctuation", { start: 2, end: 2, text: "." }, ANSWER],
]) {
  test(`a quote that ${name} is not verified`, () => assert.equal(verified(quote, answer), false));
}

for (const [source, plain] of [
  ["costs **1.5** %", "costs 15 %"],
  ["costs **$5**", "costs €5"],
  ["is *-5* °C", "is 5 °C"],
  ["a **<** b", "a = b"],
  ["**1,000** days", "1.000 days"],
]) {
  test(`"${plain}" is not what "${source}" says`, () => {
    const quote = { start: 0, end: source.length, text: source, plain };
    assert.equal(verified(quote, `${plain} [1]`, { excerpt: source }), false);
    const honest = source.replaceAll("*", "");
    assert.equal(verified({ ...quote, plain: honest }, `${honest} [1]`, { excerpt: source }), true);
  });
}
