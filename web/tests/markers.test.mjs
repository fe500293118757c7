import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../embedder-wasm/npm/tests/import-ts.mjs";

const { MarkerParser } = await importTs(new URL("../src/element/markers.ts", import.meta.url));

const ANSWER = "First [1]. Second[2][13], a list[a], [], [[3] and [1234] end [4";
const PIECES = ["First ", 1, ". Second", 2, 13, ", a list[a], [], [", 3, " and [1234] end [4"];

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

test("an answer cut in two anywhere has the same text and markers", () => {
  for (let cut = 0; cut <= ANSWER.length; cut++) {
    assert.deepEqual(parse([ANSWER.slice(0, cut), ANSWER.slice(cut)]), PIECES, `cut at ${cut}`);
  }
});

test("an answer in single characters has the same text and markers", () => {
  assert.deepEqual(parse([...ANSWER]), PIECES);
});

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
