import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { MarkerParser, sentencesOf } = await importTs(new URL("../src/panel/citations/markers.ts", import.meta.url));

const ANSWERS = {
  "with markers": {
    text: "First [1]. Second[2][13], a list[a], [], [[3] and [1234] end [4",
    pieces: ["First ", 1, ". Second", 2, 13, ", a list[a], [], [", 3, " and [1234] end [4"],
  },
  "with escaped markers": {
    text: String.raw`As in \[7\]\[12\] and \[12345\]. [1] C:\dir, \\[7\], \[a\], \[], \[3] and \[\[4\]\] [2]`,
    pieces: [
      "As in [7][12] and [12345]. ",
      1,
      String.raw` C:\dir, \[7], \[a\], \[], ` + "\\",
      3,
      String.raw` and \[[4]\] `,
      2,
    ],
  },
  "that ends in half a marker": { text: "End [1] [1", pieces: ["End ", 1, " [1"] },
  "that ends in half an escape": { text: "End [1] \\[7\\", pieces: ["End ", 1, " \\[7\\"] },
  "that ends in a backslash": { text: "End\\", pieces: ["End\\"] },
  "with backticks": {
    text: "Use `list\\[1\\]` here. [1] Press ` once. [2]\n```sh\na\\[1\\]\n [3]",
    pieces: ["Use `list[1]` here. ", 1, " Press ` once. ", 2, "\n```sh\na[1]\n ", 3],
  },
};

/** Pieces as strings and numbers, with neighbouring texts joined. */
function parse(deltas) {
  const parser = new MarkerParser();
  const joined = [];
  for (const piece of [...deltas.flatMap((delta) => parser.push(delta)), ...parser.finish()]) {
    if (piece.kind === "text" && joined.at(-1)?.kind === "text") joined.at(-1).text += piece.text;
    else joined.push({ ...piece });
  }
  return joined.map(({ text, index }) => text ?? index);
}

for (const [name, { text, pieces }] of Object.entries(ANSWERS)) {
  test(`an answer ${name} has the same pieces when it is cut in two anywhere`, () => {
    for (let cut = 0; cut <= text.length; cut++) {
      assert.deepEqual(parse([text.slice(0, cut), text.slice(cut)]), pieces, `cut at ${cut}`);
    }
  });

  test(`an answer ${name} has the same pieces when it is cut in three anywhere`, () => {
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const deltas = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        assert.deepEqual(parse(deltas), pieces, `cut at ${first} and ${second}`);
      }
    }
  });

  test(`an answer ${name} has the same pieces in single characters`, () => {
    assert.deepEqual(parse([...text]), pieces);
  });
}

test("no part of a marker is ever shown as text", () => {
  const text = "See [1] and [22].";
  const parser = new MarkerParser();
  let shown = "";
  for (const character of text) {
    for (const piece of parser.push(character)) shown += piece.kind === "text" ? piece.text : "";
    assert.doesNotMatch(shown, /[[\]\d]/);
  }
  assert.equal(shown, "See  and .");
});

test("no backslash of an escape is ever shown as text", () => {
  const parser = new MarkerParser();
  let shown = "";
  for (const character of String.raw`See \[1\] and \[22\].`) {
    for (const piece of parser.push(character)) shown += piece.text;
    assert.doesNotMatch(shown, /\\|\[$|\[\d+$/);
  }
  assert.equal(shown, "See [1] and [22].");
});

test("random text has the same pieces regardless of cuts", () => {
  const random = randomNumbers(7);
  const alphabet = [
    "`",
    "\n",
    "[1]",
    "[23",
    "\\[45",
    "\\]",
    "[",
    "]",
    "\\",
    "\\[2\\]",
    "3",
    " ",
    "word",
    "x".repeat(90),
    ".",
  ];
  const pick = (from) => from[Math.floor(random() * from.length)];
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: 1 + Math.floor(random() * 25) }, () => pick(alphabet)).join("");
    const deltas = [];
    for (let at = 0; at < text.length;) {
      const length = 1 + Math.floor(random() * pick([1, 4, 150]));
      deltas.push(text.slice(at, at + length));
      at += length;
    }
    const whole = parse([text]);
    assert.deepEqual(parse(deltas), whole, JSON.stringify(deltas));
    assert.deepEqual(parse([...text]), whole, JSON.stringify(text));
    const shown = whole.map((piece) => (typeof piece === "number" ? `[${piece}]` : piece)).join("");
    const letters = (words) => words.replaceAll("\\", "");
    assert.equal(letters(shown), letters(text), "no text is lost");
  }
});

test("text that cannot become a marker is shown at once", () => {
  const parser = new MarkerParser();
  const shown = (/** @type {string} */ text) => parser.push(text).map((piece) => piece.text);
  assert.deepEqual(shown("Press ` and [a"), ["Press ` and [a"]);
  assert.deepEqual(shown("] [12345"), ["] [12345"]);
  assert.deepEqual(shown(` \\[${"1".repeat(201)}`), [` \\[${"1".repeat(201)}`]);
  assert.deepEqual(shown(" \\\\["), [" \\"]);
});

for (const [what, sentences] of /** @type {[string, string[]][]} */ ([
  ["none", []],
  ["one", ["One. [1]"]],
  ["several, some with several markers", ["One. [1]", " Two. [2] [13]", " Three. [1]"]],
  ["the items of a list", ["- One. [1]", "\n- Two. [2] [1]", "\n- Three. [100]"]],
  ["text that looks like markers", [String.raw`As \[3\] and a[1] and [x] say. [1]`, " Two. [2]"]],
  ["an unfinished one at the end", ["One. [1]", " Two"]],
  ["code in backticks", ["Run `a. [1]", " Or `b`. [2]"]],
])) {
  test(`a stored answer is split into its sentences: ${what}`, () => {
    assert.deepEqual(sentencesOf(sentences.join("")), sentences);
  });
}

/** Numbers from 0 to 1, the same in each run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
