import assert from "node:assert/strict";
import { test } from "node:test";
import { importWithParser } from "../../tests/lib/import-ts.mjs";

const { isSourceSentence, isVerified } = await importWithParser(
  new URL("../src/panel/citations/verify.ts", import.meta.url),
);

const EXCERPT =
  "# Refunds\n\nRefunds are **not** paid after [30 days](https://example.com/x_y). It costs 1.5 % & more.";
const SOURCE = "Refunds are **not** paid after [30 days](https://example.com/x_y).";
const PLAIN = "Refunds are not paid after 30 days.";
const ANSWER = `As written: ${PLAIN} [1]`;
const AT = EXCERPT.indexOf(SOURCE);
const QUOTE = { start: AT, end: AT + SOURCE.length, text: SOURCE, plain: PLAIN };

const verified = (quote, answer = ANSWER, citation = {}) =>
  isVerified({ excerpt: EXCERPT, ...citation }, quote, answer);

test("a quote is verified if the passage has its source and the answer its words", () => {
  assert.equal(verified(QUOTE), true);
});

test("a quote with wrong offsets is verified by its words", () => {
  assert.equal(verified({ ...QUOTE, start: 900, end: 990 }), true);
});

test("a heading is compared without its invisible marks", () => {
  const quote = { start: 0, end: 9, text: "# Refunds" };
  assert.equal(verified(quote, "# Refunds [1]"), false);
  assert.equal(verified({ ...quote, plain: "Refunds" }, "Refunds [1]"), true);
});

test("differently wrapped lines are equal", () => {
  const excerpt = "Refunds take\n five days.";
  const quote = { start: 0, end: excerpt.length, text: excerpt, plain: "Refunds take five days." };
  assert.equal(verified(quote, "Refunds take five days. [1]", { excerpt }), true);
});

test("a table row that does not fit its header is compared as it is written", () => {
  const excerpt = "|a|b|c|\n|-|-|-|\n| 5 days | *€1.50* |";
  const text = "5 days | *€1.50*";
  const quote = { start: excerpt.indexOf(text), end: excerpt.length - 2, text, plain: "5 days | €1.50" };
  assert.equal(verified(quote, "5 days | €1.50 [1]", { excerpt }), true);
  assert.equal(verified({ ...quote, plain: "5 days €1.50" }, "5 days €1.50 [1]", { excerpt }), false);
});

for (const [what, excerpt, plain] of [
  ["a list", "1. First.\n2. *Second.*", "1. First.\n2. Second."],
  ["a section", "# Fees\n\nThey are **low**.\n\n- tea\n- hats", "# Fees\n\nThey are low.\n\n- tea\n- hats"],
  ["a quotation", "> It *is*\n> so.", "> It is\n> so."],
  ["a table", "| a | b |\n|---|---|\n| *c* | d |", "| a | b |\n|---|---|\n| c | d |"],
  ["a text with rules", "Fees\n====\n\nLow.\n\n---\n\n*High.*", "Fees\n====\n\nLow.\n\n---\n\nHigh."],
]) {
  const quote = { start: 0, end: excerpt.length, text: excerpt, plain };
  test(`a whole passage with ${what} is not verified with the invisible marks of its lines`, () => {
    assert.equal(verified(quote, `${plain} [1]`, { excerpt }), false);
  });
  test(`a whole passage with ${what} is not verified with marks that its lines lack`, () => {
    const changed = `+ ${plain}`;
    assert.equal(verified({ ...quote, plain: changed }, `${changed} [1]`, { excerpt }), false);
  });
}

const HOURS =
  "# Opening hours\n\n| Day | **Opening** hours | Note |\n|-|-|-|\n| Monday | 9:00–17:30 | |\n| Sunday and *public* holidays | closed | all year |";
const PRICES = "| Size | Price |\n|-|-|\n| *Large* | 9 € |\n| Small | |";

/** Whether a table row is verified with these words. */
const row = (excerpt, text, plain) => {
  const start = excerpt.indexOf(text);
  assert.notEqual(start, -1);
  const quote = { start, end: start + text.length, text, plain };
  return verified(quote, `Opening hours: ${plain} [1]`, { excerpt });
};

const SUNDAY = "Sunday and *public* holidays | closed | all year";

test("a table row is verified with the names of its columns", () => {
  assert.equal(row(HOURS, SUNDAY, "Sunday and public holidays – Opening hours: closed; Note: all year"), true);
  assert.equal(row(HOURS, "Monday | 9:00–17:30 |", "Monday – Opening hours: 9:00–17:30"), true);
  assert.equal(row(PRICES, "*Large* | 9 €", "Large: 9 €"), true);
  assert.equal(row(PRICES, "Small |", "Small: "), true);
});

for (const [what, plain] of [
  ["other names of columns", "Sunday and public holidays – Open: closed; Note: all year"],
  ["names of columns in another order", "Sunday and public holidays – Note: closed; Opening hours: all year"],
  ["another cell", "Sunday and public holidays – Opening hours: open; Note: all year"],
  ["a cell left out", "Sunday and public holidays – Opening hours: closed"],
  ["the cell of another row", "Sunday and public holidays – Opening hours: 9:00–17:30; Note: all year"],
  ["more words", "Sunday and public holidays – Opening hours: closed; Note: all year, but not really"],
  ["other signs between its cells", "Sunday and public holidays - Opening hours: closed; Note: all year"],
  ["no signs between its cells", "Sunday and public holidays closed all year"],
]) {
  test(`a row of a table with ${what} is not verified`, () => assert.equal(row(HOURS, SUNDAY, plain), false));
}

test("two table rows are not verified as one", () => {
  const text = HOURS.slice(HOURS.indexOf("Monday"));
  assert.equal(row(HOURS, text, "Monday – Opening hours: 9:00–17:30; Note: all year"), false);
});

test("plain text is compared unchanged", () => {
  const excerpt = "Use *args for 2 * 3.";
  const quote = { start: 0, end: excerpt.length, text: excerpt };
  assert.equal(verified(quote, `${excerpt} [1]`, { excerpt, content_type: "text/plain" }), true);
});

/** @type {[name: string, quote: { start: number, end: number, text: string, plain?: string }, answer: string][]} */
const NOT_VERIFIED = [
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
];
for (const [name, quote, answer] of NOT_VERIFIED) {
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

/** Whether a passage is verified with these words, which the answer contains. */
const shows = (excerpt, plain) => {
  const quote = { start: 0, end: excerpt.length, text: excerpt, plain };
  return verified(quote, `As written: ${plain} [1]`, { excerpt });
};

for (const [what, source, plain] of [
  ["a lost plus sign", "Call +1 555 0100", "Call 1 555 0100"],
  ["a lost power", "10^6 units", "106 units"],
  ["a lost unequal sign", "works if x ≠ 0", "works if x 0"],
  ["a lost sign of comparison", "orders > 50 €", "orders 50 €"],
  ["a lost tilde", "~5 days", "5 days"],
  ["moved spaces", "He is notable to us", "He is not able to us"],
  ["lost spaces", "He is not able to us", "He is notable to us"],
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
    assert.equal(shows(source, plain), false);
  });
}

for (const [what, text] of [
  ["overrides", "Pay \u202e100\u202c to account 12."],
  ["soft hyphens", "Ne\u00adver share it."],
  ["zero-width spaces", "Never\u200b share it."],
  ["joiners within a word", "Ne\u200dver share it."],
]) {
  test(`words with ${what} are not verified, even if the passage has them`, () =>
    assert.equal(verified({ start: 0, end: text.length, text }, `${text} [1]`, { excerpt: text }), false));
}

for (const [what, text] of [
  ["Persian", "می\u200cخواهم بازگردانم."],
  ["Hindi", "क्\u200dष और वापसी।"],
  ["emoji", "Ask 👩\u200d👧 or ❤️\u200d🔥 today."],
]) {
  test(`words with the joiners of ${what} are verified`, () => assert.equal(shows(text, text), true));
}

for (const [what, source, plain] of [
  ["emphasis", "Take **5 _days_**, ~~9~~ at *most*.", "Take 5 days, 9 at most."],
  ["the end of what is emphasised elsewhere", "Two.**", "Two."],
  ["a link", 'See [our *help*](https://e.org/a_(b) "x").', "See our help."],
  ["an address", "Mail <help@e.org> or <https://e.org>.", "Mail help@e.org or https://e.org."],
  ["code", "Run `npm i *` and ``a ` b``.", "Run npm i * and a ` b."],
  ["entities", "Fish &amp; chips &lt;&nbsp;5 &gt; 4 &quot;&#39;", "Fish & chips < 5 > 4 \"'"],
  ["escapes", "2 \\* 3 \\[1\\] \\_x\\_", "2 * 3 [1] _x_"],
  ["an image", "![A red *shoe*](shoe.png) costs 8 €.", "A red shoe costs 8 €."],
  ["HTML", 'Fast<br/>and <b class="x">bold</b><!-- not this -->.', "Fastand bold."],
  ["a wrapped line", "Wrapped\n  twice,\r\nand  once.", "Wrapped twice, and once."],
  ["a wrapped quotation", "> Wrapped\n> twice.", "Wrapped twice."],
  ["a hard line break", "One  \ntwo.", "One two."],
  ["fenced code", "```sh\na *b*\n\nc\n```", "a *b*\n\nc"],
  ["signs that are no markup", "2 * 3 = 6, a < b, x_y, ~5, AT&T", "2 * 3 = 6, a < b, x_y, ~5, AT&T"],
  ["letters of other scripts", "Größe: **字** مرحبا.", "Größe: 字 مرحبا."],
]) {
  test(`${what} is verified by its visible text`, () => {
    const text = source.replace(/^> /, "");
    const start = source.length - text.length;
    const excerpt = what.startsWith("the end") ? `**One. ${source}` : source;
    const at = excerpt.length - text.length;
    assert.equal(
      verified({ start: Math.max(start, at), end: excerpt.length, text, plain }, `${plain} [1]`, { excerpt }),
      true,
    );
  });
}

test("a list item is verified after the line that introduces its list and after the name of its section", () => {
  const excerpt = "You may **not** return:\n\n- food\n- worn *socks*";
  const citation = { excerpt };
  const answer = "Returns: You may not return: worn socks [1]";
  const line = { start: 0, end: 23, text: "You may **not** return:", plain: "You may not return:" };
  const text = "worn *socks*";
  const item = { start: excerpt.indexOf(text), end: excerpt.length, text, plain: "worn socks" };
  assert.equal(verified(line, answer, citation), true);
  assert.equal(verified(item, answer, citation), true);
});

for (const [what, words, answer] of [
  ["at the end of a longer word", "paid in 5 days", "Refunds are unpaid in 5 days [1]"],
  ["at the beginning of a longer word", "Refunds are paid", "Refunds are paidless [1]"],
  ["behind a sign", "5 °C", "It is -5 °C [1]"],
  ["before a sign", "It costs 1", "It costs 1.50 [1]"],
]) {
  test(`words that the answer has only ${what} are not verified`, () => {
    const quote = { start: 0, end: words.length, text: words };
    assert.equal(verified(quote, answer, { excerpt: words }), false);
    assert.equal(verified(quote, `${answer}\n\n${words} [1]`, { excerpt: words }), true);
  });
}

/** Whether words are verified as the source of a generated sentence. */
const isSource = (text, { excerpt = EXCERPT, start = excerpt.indexOf(text), ...fields } = {}) =>
  isSourceSentence({ excerpt }, { start, end: start + text.length, text, sentence: 0, ...fields });

test("a source sentence is verified by its passage alone, whatever words the answer has", () => {
  assert.equal(isSource(SOURCE), true);
  assert.equal(isSource("It costs 1.5 % & more."), true);
});

test("a source sentence with wrong offsets is verified by its words", () => {
  assert.equal(isSource(SOURCE, { start: 900 }), true);
});

for (const [what, text] of [
  ["is not in the passage", "Refunds are **always** paid after [30 days](https://example.com/x_y)."],
  ["is in the passage only without its markup", "Refunds are not paid after 30 days."],
  ["is empty", ""],
  ["is space", "\n\n"],
  ["is punctuation", "."],
  ["is the mark of a heading", "#"],
  ["is a part of a link's address", "example.com/x_y"],
]) {
  test(`a source sentence that ${what} is not verified`, () => assert.equal(isSource(text), false));
}

for (const [what, text] of [
  ["overrides", "Pay \u202e100\u202c to account 12."],
  ["zero-width spaces", "Never\u200b share it."],
]) {
  test(`a source sentence with ${what} is not verified`, () => assert.equal(isSource(text, { excerpt: text }), false));
}
