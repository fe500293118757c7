import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { MarkerParser } = await importTs(new URL("../src/element/markers.ts", import.meta.url));

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
};

/** Pieces as strings and numbers, with neighbouring text joined. */
function parse(deltas) {
  const parser = new MarkerParser();
  const pieces = [...deltas.flatMap((delta) => parser.push(delta)), ...parser.finish()];
  const joined = [];
  for (const piece of pieces) {
    if (piece.kind === "marker") joined.push(piece.index);
    else if (typeof joined.at(-1) === "string") joined.push(joined.pop() + piece.text);
    else joined.push(piece.text);
  }
  return joined;
}

for (const [name, { text, pieces }] of Object.entries(ANSWERS)) {
  test(`an answer ${name}, cut in two anywhere, has the same text and markers`, () => {
    for (let cut = 0; cut <= text.length; cut++) {
      assert.deepEqual(parse([text.slice(0, cut), text.slice(cut)]), pieces, `cut at ${cut}`);
    }
  });

  test(`an answer ${name}, cut in three anywhere, has the same text and markers`, () => {
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const deltas = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        assert.deepEqual(parse(deltas), pieces, `cut at ${first} and ${second}`);
      }
    }
  });

  test(`an answer ${name}, in single characters, has the same text and markers`, () => {
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
