import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { cell, inline } from "../assemble/cell.mjs";
import { drawCharts } from "../assemble/charts.mjs";
import { databasePage } from "../assemble/database.mjs";
import { llmsFiles } from "../assemble/llms.mjs";
import { parse, replaceLinks, summaryOf } from "../assemble/markdown.mjs";
import { Search } from "../.vitepress/theme/chat/search.mjs";
import { kbReference } from "../kb-reference.mjs";

test("docs/kb.md is what `kb --help` says; `node docs-site/kb-reference.mjs` writes it", async () => {
  const kb = process.env.KB_BINARY;
  if (!kb) throw new Error("KB_BINARY is not set; run these tests with `cargo xtask test`");
  assert.equal(await readFile(new URL("../../docs/kb.md", import.meta.url), "utf8"), await kbReference(kb));
});

describe("Markdown", () => {
  test("only the address of a link is replaced, also if its text is the same", () => {
    const text = "See [a.md](a.md), ![a.md](a.md) and `[a.md](a.md)`.";
    const replaced = replaceLinks(text, parse(text).links, ({ kind }) => `/${kind}`);
    assert.equal(replaced, "See [a.md](/link), ![a.md](/image) and `[a.md](a.md)`.");
  });

  test("a cell is one line, and what looks like a tag or a template is text", () => {
    assert.equal(cell("one | two\n <b>{{x}}</b> `<id>`"), "one \\| two &lt;b>&#123;&#123;x}}&lt;/b> `<id>`");
    assert.equal(inline("a < b"), "a &lt; b");
  });
});

test("comments of tables and columns become a page, with the quotes that SQL doubles", () => {
  const sql = [
    "comment on table public.notes is 'What people ''wrote''. '\n  'In two pieces.';",
    "comment on column public.notes.id is 'A | b.';",
    "comment on table internal.secrets is 'Not for users.';",
  ].join("\n");
  const page = databasePage([sql]);
  assert.match(page, /### notes\n\nWhat people 'wrote'. In two pieces.\n/);
  assert.match(page, /\| `id` \| A \\\| b. \|/);
  assert.doesNotMatch(page, /secrets/);
});

test("a figure that is missing in the benchmarks is an error, not an empty chart", () => {
  assert.throws(() => drawCharts("# B\n\n## Answers\n\n| a | 1 % | 2 % |\n\nThe first sentence"), /no figure for/);
});

test("llms.txt lists the pages with their first sentence, and each page is Markdown whose links work elsewhere", () => {
  const styling =
    "# Styling %{#styling}%\n\nSet three variables. Or more.\n\nSee [parts](/embed/reference#parts), ![a](/media/a.png).\n";
  const files = llmsFiles(
    new Map([
      ["embed/styling", styling],
      ["start", "# Start\n"],
    ]),
    "https://x.test/docs/",
  );
  assert.deepEqual([...files.keys()], ["start.md", "embed/styling.md", "llms.txt", "llms-full.txt"]);
  assert.equal(
    files.get("embed/styling.md"),
    "# Styling\n\nSet three variables. Or more.\n\nSee [parts](https://x.test/docs/embed/reference#parts), ![a](https://x.test/docs/media/a.png).\n",
  );
  const list = files.get("llms.txt") ?? "";
  assert.match(list, /^# Evidence Chat\n\n> /);
  assert.match(list, /^## Start\n\n- \[Five minutes\]\(https:\/\/x\.test\/docs\/start\.md\)$/m);
  assert.match(
    list,
    /^- \[Styling, languages\]\(https:\/\/x\.test\/docs\/embed\/styling\.md\): Set three variables\.$/m,
  );
  assert.doesNotMatch(list, /^## Protect/m);
  assert.match(
    files.get("llms-full.txt") ?? "",
    /<!-- https:\/\/x\.test\/docs\/embed\/styling\.html -->\n\n# Styling\n/,
  );
});

test("a summary is the first whole sentence of a paragraph, as plain text", () => {
  assert.equal(summaryOf("# A\n\nUse `kb 0.1` and\n**more**. Then stop."), "Use kb 0.1 and more.");
  assert.equal(summaryOf("# A\n\n| a |\n|---|\n| b. |\n\nFor example:\n\nUse it. Now."), "Use it.");
  assert.equal(summaryOf("# A. B.\n\nno end"), "");
});

describe("the stand-in's search", () => {
  /** @returns {import("../.vitepress/theme/chat/search.mjs").Passage} */
  const passage = (title, text) => ({ title, section: "", path: title, text, sentences: [[0, text.length]] });
  const search = new Search([
    passage("Refunds", "Refunds are paid within five days."),
    passage("Delivery", "A parcel arrives within two days."),
    passage("Gift cards", "Gift cards never expire."),
  ]);

  test("it finds a sentence by other forms of its words", () => {
    const { answer } = search.find("When is a refund paid?");
    assert.deepEqual(
      answer.map(({ passage: { title } }) => title),
      ["Refunds"],
    );
  });

  test("it finds nothing for words that no passage has, for stop words alone and for nothing", () => {
    for (const question of ["Who wrote Hamlet?", "what is the", "", "???"])
      assert.deepEqual(search.find(question).answer, []);
  });
});
