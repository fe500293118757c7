// Real documents: each sentence, list item and table row can be quoted, and a change of it is detected.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { importWithParser } from "../../tests/lib/import-ts.mjs";

const { isVerified } = await importWithParser(new URL("../src/panel/citations/verify.ts", import.meta.url));
const FOLDER = new URL("../../supabase/sample-kb/", import.meta.url);

const cellsOf = (row) => row.split("|").map((cell) => cell.trim());

/** A table row as answers write it. */
function rowAsText(header, row) {
  const [names, [first, ...others]] = [cellsOf(header), cellsOf(row)];
  if (others.length === 1) return `${first}: ${others[0]}`;
  return `${first} – ${others.map((cell, at) => `${names[at + 1]}: ${cell}`).join("; ")}`;
}

/** `[source, words]` of everything that can be quoted. The sample documents have no markup within their lines. */
function quotables(content) {
  const found = [];
  let header;
  for (const line of content.split("\n")) {
    const row = /^\| (.*) \|$/.exec(line)?.[1];
    if (row === undefined) header = undefined;
    if (/^(#|$)/.test(line) || /^[| -]+$/.test(line)) continue;
    if (row !== undefined && header === undefined) header = row;
    else if (row !== undefined) found.push([row, rowAsText(header, row)]);
    else
      for (const sentence of line.replace(/^(-|\d+\.) /, "").split(/(?<=[.!?:]) (?=[A-Z])/))
        found.push([sentence, sentence]);
  }
  return found;
}

for (const name of (await readdir(FOLDER)).filter((each) => each.endsWith(".md"))) {
  test(`every sentence, item and row of ${name} is verified, and none after a change`, async () => {
    const excerpt = await readFile(new URL(name, FOLDER), "utf8");
    const all = quotables(excerpt);
    assert.ok(all.length >= 5, `${all.length} quotes`);
    for (const [text, plain] of all) {
      const start = excerpt.indexOf(text);
      const verified = (words) => {
        const quote = { start, end: start + text.length, text, plain: words };
        return isVerified({ excerpt, quotes: [quote] }, quote, `Fernhollow: ${words} [1]`);
      };
      assert.equal(verified(plain), true, plain);
      const at = Math.floor(plain.length / 2);
      for (const changed of [
        plain.slice(0, at) + plain.slice(at + 1),
        `${plain.slice(0, at)}\u200b${plain.slice(at)}`,
        `${plain.slice(0, at)}ж${plain.slice(at)}`,
        plain.replace(/[.,:;!?–]/, ""),
      ])
        // A trailing space is not a change.
        if (changed.trim() !== plain.trim() && changed.replace(/ +/g, " ") !== plain)
          assert.equal(verified(changed), false, changed);
    }
  });
}
