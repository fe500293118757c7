// The text of a document is what a reader of the page sees: its words are those of `innerText` in a browser.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { openBrowser } from "../lib/browser.mjs";
import { createRandom } from "../lib/random.mjs";

const PAGES = 400;
const SEED = 20;

test(`the text of ${PAGES} generated pages has the words of innerText, in order`, async () => {
  const random = createRandom(SEED);
  const pages = Array.from({ length: PAGES }, () => page(random));
  const read = await texts(pages);
  const { page: tab, close } = await openBrowser();
  let count = 0;
  try {
    for (const [index, html] of pages.entries()) {
      await tab.setContent(html);
      const seen = await tab.evaluate(() => document.querySelector("main").innerText);
      assert.deepEqual(words(read[index]), words(seen), html);
      count += words(seen).length;
    }
  } finally {
    await close();
  }
  assert.ok(count > 10 * PAGES, `${count} words`);
});

/** The texts that `extract` reads. */
async function texts(pages) {
  const folder = await mkdtemp(join(tmpdir(), "evidence-chat-pages-"));
  try {
    const files = pages.map((_, index) => join(folder, `${index}.html`));
    await Promise.all(files.map((file, index) => writeFile(file, pages[index])));
    const options = { maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)(process.env.STATEMENTS_BINARY, ["--text", ...files], options);
    return stdout.split("\f\n").slice(0, -1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Words without the markers of items, which innerText leaves out, and without the zero-width spaces of empty lines. */
function words(text) {
  const lines = text.split("\n").map((line) => line.replace(/^\s*(?:-|\d+\.|[a-z]+\.) /u, ""));
  return lines.join("\n").split(/\s+/u).filter(Boolean);
}

function page(random) {
  const blocks = Array.from({ length: 1 + below(random, 6) }, () => block(random, 0));
  return `<!doctype html><title>x</title><style>.gone { display: none }</style><main><p>Begin</p>${blocks.join(gap(random))}</main>`;
}

function block(random, depth) {
  const kinds = [
    () => `<p>${inline(random, 0)}</p>`,
    () => `<div>${inline(random, 0)}</div>`,
    () => `<h${2 + below(random, 4)}>${inline(random, 1)}</h2>`,
    () => `<pre>${word(random)}\n  ${word(random)} ${word(random)}</pre>`,
    () => `${word(random)} ${inline(random, 0)}<hr>`,
    () => `<p hidden>${word(random)}</p>`,
    () => `<div class="gone">${inline(random, 1)}</div>`,
    () => `<script>var ${word(random)} = 1</script>`,
    () => `<!-- ${word(random)} -->`,
    () => table(random),
    () => `<dl><dt>${inline(random, 1)}</dt><dd>${inline(random, 1)}</dd></dl>`,
    () =>
      `<div style="display:${pick(random, ["flex", "grid"])}"><b>${inline(random, 2)}</b><b>${inline(random, 2)}</b></div>`,
    () => `<p>${word(random)}:</p><img src=photo><select></select>${word(random)}`,
    () => `<h3><div>${inline(random, 2)}</div></h3>`,
    () =>
      `<div role=table><div role=row><div role=cell>${word(random)}</div><div role=cell>${inline(random, 2)}</div></div></div>`,
  ];
  const nested = [
    () => list(random, depth),
    () => `<blockquote>${block(random, depth + 1)}</blockquote>`,
    () => `<section><h3>${inline(random, 1)}</h3>${block(random, depth + 1)}</section>`,
    () => `<details open><summary>${inline(random, 1)}</summary>${block(random, depth + 1)}</details>`,
    () => `<div class="callout"><h4 class="title">${inline(random, 1)}</h4>${block(random, depth + 1)}</div>`,
    () => `<fieldset><legend>${inline(random, 1)}</legend>${block(random, depth + 1)}</fieldset>`,
    () => `<figure>${block(random, depth + 1)}<figcaption>${inline(random, 1)}</figcaption></figure>`,
  ];
  return pick(random, depth < 3 ? [...kinds, ...nested, ...nested] : kinds)();
}

function list(random, depth) {
  const name = pick(random, ["ul", "ol", "menu", "ol reversed"]);
  const items = Array.from({ length: 1 + below(random, 3) }, () => {
    const inner = below(random, 3) === 0 ? block(random, depth + 1) : "";
    return `<li>${inline(random, 1)}${inner}</li>`;
  });
  return `<${name}>${items.join(gap(random))}</${name.split(" ")[0]}>`;
}

function table(random) {
  const columns = 1 + below(random, 3);
  const row = (name) => {
    const cells = Array.from({ length: columns }, () => `<${name}>${inline(random, 1)}</${name}>`);
    return `<tr>${cells.join(gap(random))}</tr>`;
  };
  const rows = Array.from({ length: 1 + below(random, 3) }, () => row("td"));
  return `<table>${below(random, 2) ? row("th") : ""}${rows.join(gap(random))}</table>`;
}

function inline(random, depth) {
  const kinds = [
    () => word(random),
    () => `${word(random)}${pick(random, [" ", "\n\t ", "&nbsp;", ""])}${word(random)}`,
    () => `${word(random)}<br>${word(random)}`,
    () => `${word(random)}&amp;${word(random)} &lt;${word(random)}&gt; &#x20AC;`,
    () => `<span style="display:none">${word(random)}</span>`,
    () => `<!-- ${word(random)} -->`,
  ];
  const nested = ["b", "i", "a href=x", "code", "span", "mark", "span style=display:block"].map(
    (tag) => () => `<${tag}>${inline(random, depth + 1)}</${tag.split(" ")[0]}>`,
  );
  const parts = Array.from({ length: 1 + below(random, 3) }, () =>
    pick(random, depth < 3 ? [...kinds, ...nested] : kinds)(),
  );
  const text = word(random) + pick(random, ["", " "]) + parts.join(pick(random, ["", " "]));
  // A style that no reader of the file knows usually sets such neighbours apart.
  return text.replace(/<\/span>(?=<span)|(?=<a )/g, "$& ");
}

function word(random) {
  return `${pick(random, ["alpha", "beta", "9", "17", "Größe", "字"])}${below(random, 100)}`;
}

function gap(random) {
  return pick(random, ["", " ", "\n  "]);
}

/** A whole number from 0 to below the limit. */
function below(random, limit) {
  return Math.min(limit - 1, Math.floor(random.between(0, limit)));
}

function pick(random, list) {
  return list[below(random, list.length)];
}
