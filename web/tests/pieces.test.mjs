import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { isVerified } = await importTs(new URL("../src/panel/citations/verify.ts", import.meta.url));
const { findStatement } = await importTs(new URL("../src/panel/citations/pieces.ts", import.meta.url));

/** @typedef {{ text: string, role?: string }} Piece */

/**
 * A statement of a passage: its words there, its pieces, and how the answer shows them.
 * @param {string} text
 * @param {Piece[]} pieces
 * @param {string} plain
 */
function statement(text, pieces, plain) {
  const excerpt = `Before it.\n\n${text}\n\nAfter it.`;
  return {
    citation: { index: 1, title: "Title", section: "The place [1] › Inner", excerpt },
    quote: { start: 12, end: 12 + text.length, text, pieces, plain },
  };
}

const own = (/** @type {string} */ text) => ({ text });
const chain = (/** @type {string} */ role, /** @type {string} */ text) => ({ text, role });

/** @type {Record<string, ReturnType<typeof statement>>} */
const STATEMENTS = {
  "an item below its line": statement("Theft", [chain("lead_in", "Not covered:"), own("Theft")], "Not covered: Theft"),
  "a nested item": statement(
    "worn\nhats",
    [chain("lead_in", "You may return:"), chain("parent", "hats, but not:"), own("worn\nhats")],
    "You may return: hats, but not: worn hats",
  ),
  "a row": statement(
    "Single sign-on\tyes\t",
    [own("Single sign-on"), chain("column", "Enterprise"), own("yes"), chain("column", "Pro")],
    "Single sign-on – Enterprise: yes; Pro: –",
  ),
  "a row with empty cells between others": statement(
    "Chat\t\t\t5 €",
    [own("Chat"), chain("column", "Basic"), chain("column", "Pro"), chain("column", "Max"), own("5 €")],
    "Chat – Basic: –; Pro: –; Max: 5 €",
  ),
  "a row whose cells have several values": statement(
    "S\nM\t5\n10 €",
    [own("S"), own("M"), chain("column", "Price"), own("5"), own("10 €")],
    "S; M – Price: 5; 10 €",
  ),
  "a row without names of columns": statement("Price\t9 €", [own("Price"), own("9 €")], "Price: 9 €"),
  "an answer below its question": statement(
    "No, they are final.",
    [chain("question", "Can I return sale items?"), own("No, they are final.")],
    "Can I return sale items? No, they are final.",
  ),
  "a sentence with its condition": statement(
    "Delivery is free.*",
    [own("Delivery is free.*"), chain("condition", "* Only above 900 euros.")],
    "Delivery is free.* * Only above 900 euros.",
  ),
  "code below its warning": statement(
    "db reset\n  --force",
    [chain("lead_in", "Never do this:"), own("db reset\n  --force")],
    "Never do this:\n\ndb reset\n  --force",
  ),
  "a sentence in another script": statement(
    "返品は30日以内です。",
    [chain("heading", "セール品"), own("返品は30日以内です。")],
    "セール品: 返品は30日以内です。",
  ),
};

const all = Object.entries(STATEMENTS);

for (const [name, { citation, quote }] of all) {
  test(`${name} is verified in its answer`, () => {
    assert.equal(isVerified(citation, quote, `${quote.plain} [1]`), true);
    assert.equal(isVerified(citation, quote, `${quote.plain}\n[1]`), true);
    for (const place of [
      "",
      "Title: ",
      "The place [1]: ",
      "The place [1] › Inner: ",
      "Inner: ",
      "Title – The place [1]:\n\n",
    ])
      assert.equal(isVerified(citation, quote, `Other words. [2]\n\n${place}${quote.plain} [1] More. [2]`), true);
  });

  test(`${name} is not verified in a sentence with another beginning or end`, () => {
    for (const answer of [
      `Not ${quote.plain} [1]`,
      `Not${quote.plain} [1]`,
      `Only here: ${quote.plain} [1]`,
      `Not the place [1]: ${quote.plain} [1]`,
      `The place [1] › Other: ${quote.plain} [1]`,
      `${quote.plain} or not [1]`,
      `${quote.plain}s [1]`,
      `${quote.plain}`,
      "",
    ])
      assert.equal(isVerified(citation, quote, answer), false, answer);
  });

  test(`${name} is not verified if a piece of it differs from the answer or the passage`, () => {
    const { pieces } = quote;
    for (const [place, piece] of pieces.entries()) {
      const others = (/** @type {Piece[]} */ ...instead) => [
        ...pieces.slice(0, place),
        ...instead,
        ...pieces.slice(place + 1),
      ];
      for (const [what, changed] of /** @type {[string, Piece[]][]} */ ([
        ["changed", others({ ...piece, text: `${piece.text}x` })],
        ["shortened", others({ ...piece, text: piece.text.replace(/[\p{L}\p{N}](?=[^\p{L}\p{N}]*$)/u, "") })],
        ["dropped", others()],
        ["blank", others({ ...piece, text: " " })],
        ["added", others(piece, own("invented"))],
        ["added to the chain", others(piece, chain("exception", "invented"))],
        ["said twice", others(piece, piece)],
        ["with a hidden character", others({ ...piece, text: `${piece.text}\u200b` })],
      ])) {
        const isSaid = isVerified(citation, { ...quote, pieces: changed }, `${quote.plain} [1]`);
        assert.equal(isSaid, false, `${what}: ${JSON.stringify(changed)}`);
      }
    }
  });

  test(`${name} is not verified if its card says something else`, () => {
    const answer = `${quote.plain} [1]`;
    assert.equal(isVerified(citation, { ...quote, whole: `Above: ${quote.plain}` }, answer), true);
    for (const other of [
      { plain: `${quote.plain} Or not.` },
      { plain: `Not ${quote.plain}` },
      { plain: "Another." },
      { whole: `${quote.plain} Or not.` },
      { whole: "Another." },
      { whole: `Above:\u200b ${quote.plain}` },
    ])
      assert.equal(isVerified(citation, { ...quote, ...other }, answer), false, JSON.stringify(other));
  });

  test(`${name} is not verified if its pieces are swapped`, () => {
    const { pieces } = quote;
    for (let place = 1; place < pieces.length; place++) {
      const swapped = [...pieces];
      [swapped[place - 1], swapped[place]] = /** @type {[Piece, Piece]} */ ([pieces[place], pieces[place - 1]]);
      assert.equal(isVerified(citation, { ...quote, pieces: swapped }, `${quote.plain} [1]`), false);
      // Also if the answer swaps them, too.
      if (quote.pieces.every(({ role }) => !role))
        assert.equal(
          isVerified(citation, { ...quote, pieces: swapped }, `${swapped.map(({ text }) => text).join(": ")} [1]`),
          false,
        );
    }
  });

  test(`${name} is not verified if the answer has other words, numbers or signs between its pieces`, () => {
    const ranges = findStatement(`${quote.plain} [1]`, quote.pieces, citation);
    for (const [place, { end }] of ranges.slice(0, -1).entries()) {
      const next = ranges[place + 1].start;
      for (const between of [
        " not ",
        " not: ",
        ": 5 ",
        "; -",
        " – –",
        " % ",
        " € ",
        " / ",
        " [1] ",
        " = ",
        "; (no) ",
        "",
        "-",
      ]) {
        const answer = `${quote.plain.slice(0, end)}${between}${quote.plain.slice(next)} [1]`;
        assert.equal(isVerified(citation, quote, answer), false, answer);
      }
    }
  });
}

test("a quote is not verified with words that its text has, but its pieces lack", () => {
  const { citation, quote } = statement(
    "Theft is not covered.",
    [own("Theft is"), own("covered.")],
    "Theft is covered.",
  );
  assert.equal(isVerified(citation, quote, "Theft is covered. [1]"), false);
});

test("words of the passage are not cut in two", () => {
  const { citation, quote } = statement("It is notable.", [own("It is not"), own("able.")], "It is not able.");
  assert.equal(isVerified(citation, quote, "It is not able. [1]"), false);
});

test("a quote in pieces is verified only at its place in the passage", () => {
  for (const [name, { citation, quote }] of all) {
    const moved = { ...quote, start: quote.start + 1, end: quote.end + 1 };
    assert.equal(isVerified(citation, moved, `${quote.plain} [1]`), false, name);
    assert.equal(isVerified({ ...citation, excerpt: "Other." }, quote, `${quote.plain} [1]`), false, name);
  }
});

const PLACE = { title: "Title" };

test("hostile pieces and answers are compared in bounded time", () => {
  const text = "– ".repeat(20_000);
  const pieces = Array.from({ length: 500 }, () => own("–"));
  assert.equal(findStatement(`${text}x [1]`, [...pieces, own("y")], PLACE), undefined);
  assert.equal(findStatement(`${" ".repeat(50_000)}x`, [own("x"), own("(a+)+$")], PLACE), undefined);
  assert.equal(findStatement("", [], PLACE), undefined);
});
