import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { kbReference } from "../kb-reference.mjs";
import { addressOf, REPOSITORY, resolveLink } from "../pages.mjs";
import { cell, inline } from "../table.mjs";

test("docs/kb.md is what `kb --help` says; `node docs-site/kb-reference.mjs` writes it", async () => {
  const kb = process.env.KB_BINARY;
  if (!kb) throw new Error("KB_BINARY is not set; run these tests with `cargo xtask test`");
  assert.equal(await readFile(new URL("../../docs/kb.md", import.meta.url), "utf8"), await kbReference(kb));
});

test("a cell is one line, and what looks like a tag or a template is text", () => {
  assert.equal(cell("one | two\n <b>{{x}}</b> `<id>`"), "one \\| two &lt;b>&#123;&#123;x}}&lt;/b> `<id>`");
  assert.equal(inline("a < b"), "a &lt; b");
});

test("a link leads to the page of its file, and to GitHub if the site has no such page", () => {
  const links = {
    "../web/README.md#styling": "/web/index.md#styling",
    "admin.md": "/admin.md",
    "#here": "#here",
    "https://example.com/a.md": "https://example.com/a.md",
    "../kb/README.md#tests": `${REPOSITORY}/blob/main/kb/README.md#tests`,
    "../bench": `${REPOSITORY}/tree/main/bench`,
  };
  for (const [link, expected] of Object.entries(links)) assert.equal(resolveLink("docs/start.md", link), expected);
});

test("pages have short addresses", () => {
  assert.deepEqual(["docs/index.md", "docs/start.md", "web/README.md"].map(addressOf), ["", "start.html", "web/"]);
});
