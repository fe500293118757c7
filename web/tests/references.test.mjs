import assert from "node:assert/strict";
import { brotliCompressSync } from "node:zlib";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { build } from "esbuild";
import { importTs } from "../../tests/lib/import-ts.mjs";

const ENTRY = new URL("../src/references/index.ts", import.meta.url);
const { formatReferences, sourcesOf } = await importTs(ENTRY);

const STYLES = ["apa", "mla", "chicago"];
const FORMATS = [...STYLES, "bibtex", "ris", "csl-json"];
/** Made once with citeproc-js 2.4.63 and the CSL styles of APA 7, MLA 9 and Chicago 17 (author-date). */
const GOLDENS = JSON.parse(await readFile(new URL("references-goldens.json", import.meta.url), "utf8"));

const accessed = new Date(2026, 10, 5);
const page = { title: "How refunds work: a guide", url: "https://shop.example/refunds?a=1&b=2", accessed };
const document = { title: "Handbook", page: [5, 3, 3], accessed };

const citation = (fields) => ({
  index: 1,
  chunk_id: "c",
  document_id: "d",
  title: "T",
  score: 1,
  quotes: [],
  ...fields,
});
const keysOf = (bibtex) => [...bibtex.matchAll(/^@misc\{(.*),$/gm)].map(([, key]) => key);

const url = "https://shop.example/refunds?a=1";
const guide = { title: "How refunds work: a guide", url, accessed };
const handbook = { title: "Handbook of the shop", accessed };
const FORMS = {
  web: guide,
  webSite: { ...guide, siteName: "Shop help" },
  doc: handbook,
  docSite: { ...handbook, siteName: "Shop help" },
  docPage: { ...handbook, page: [3] },
  docPages: { ...handbook, page: [5, 3] },
  docPagesSite: { ...handbook, page: [5, 3], siteName: "Shop help" },
  pagesUrl: { ...handbook, page: [3, 5], url },
  pagesUrlSite: { ...handbook, page: [3], url, siteName: "Shop help" },
  docSection: { ...handbook, section: "Returns" },
};

for (const [style, languages] of Object.entries(GOLDENS.forms)) {
  for (const [language, expected] of Object.entries(languages)) {
    test(`${style} in ${language} writes every form of a document as citeproc does`, () => {
      const written = Object.entries(FORMS).map(([form, source]) => [
        form,
        formatReferences([source], style, language),
      ]);
      assert.deepEqual(Object.fromEntries(written), expected);
    });
  }
}

for (const [style, languages] of Object.entries(GOLDENS.dates)) {
  for (const [language, expected] of Object.entries(languages)) {
    test(`${style} in ${language} writes the date of every month as citeproc does`, () => {
      const inMonth = (_, month) => ({ title: "T", url, accessed: new Date(2026, month, 1) });
      const written = Array.from(expected, inMonth).map((source) => formatReferences([source], style, language));
      assert.deepEqual(written, expected);
    });
  }
}

for (const [title, { plain, quoted }] of Object.entries(GOLDENS.titles)) {
  test(`the title ${JSON.stringify(title)} gets the capitals and quotes of citeproc`, () => {
    const format = (style) => formatReferences([{ title, accessed }], style, "en");
    assert.equal(format("mla"), `${plain} Accessed 5 Nov. 2026.`);
    assert.equal(format("chicago"), `${quoted} n.d. Accessed November 5, 2026.`);
  });
}

test("title case keeps file names, addresses and markup", () => {
  for (const [title, expected] of [
    ["read-me file.md", "Read-Me file.md"],
    ["ask help@shop.example", "Ask help@shop.example"],
    ["the <b>bold</b> word", "The <b>bold</b> Word"],
    ["a / b", "A / B"],
  ])
    assert.equal(formatReferences([{ title, accessed }], "mla", "en"), `${expected}. Accessed 5 Nov. 2026.`);
});

test("each style writes a web page without author in its own way", () => {
  const format = (style) => formatReferences([{ ...page, siteName: "Shop" }], style, "en");
  assert.equal(
    format("apa"),
    "How refunds work: a guide. (n.d.). Shop. Retrieved November 5, 2026, from https://shop.example/refunds?a=1&b=2",
  );
  assert.equal(
    format("mla"),
    "“How Refunds Work: A Guide.” Shop, https://shop.example/refunds?a=1&b=2. Accessed 5 Nov. 2026.",
  );
  assert.equal(
    format("chicago"),
    "“How Refunds Work: A Guide.” n.d. Shop. Accessed November 5, 2026. https://shop.example/refunds?a=1&b=2.",
  );
});

test("BibTeX has the URL in the fields of old and new styles", () => {
  assert.match(
    formatReferences([page], "bibtex", "en"),
    /^@misc\{how_refunds_work_\w{4},\n {2}note = \{\[Online; accessed 2026-11-05\]\},\n {2}title = \{How refunds work: a guide\},\n {2}url = \{https:\/\/shop\.example\/refunds\?a=1&b=2\},\n {2}howpublished = \{\\url\{https:\/\/shop\.example\/refunds\?a=1&b=2\}\},\n\}$/,
  );
});

test("pages are sorted and unique", () => {
  assert.equal(formatReferences([document], "apa", "en"), "Handbook (pp. 3, 5). (n.d.).");
  assert.equal(formatReferences([document], "mla", "en"), "Handbook. pp. 3, 5. Accessed 5 Nov. 2026.");
  assert.match(formatReferences([document], "bibtex", "en"), /^ {2}pages = \{3, 5\},$/m);
});

test("the styles follow the reader's language and fall back to English", () => {
  const accessedIn = (language) => formatReferences([document], "mla", language).slice("Handbook. ".length);
  assert.equal(accessedIn("de"), "S. 3, 5. Zugegriffen 5. November 2026.");
  assert.equal(accessedIn("de-AT"), accessedIn("de"));
  assert.equal(accessedIn("es"), "pp. 3, 5. Accedido 5 de noviembre de 2026.");
  assert.match(accessedIn("fr"), /5 novembre 2026/);
  for (const language of ["ja", "ar", "tlh", "", "__proto__"]) assert.equal(accessedIn(language), accessedIn("en"));
});

test("references are paragraphs, sorted in a style and in the given order in BibTeX", () => {
  const sources = ["Zebra", "Apple"].map((title) => ({ title, accessed }));
  for (const style of STYLES) {
    const entries = formatReferences(sources, style, "en").split("\n\n");
    assert.deepEqual(
      entries.map((entry) => entry.match(/\w+/)[0]),
      ["Apple", "Zebra"],
    );
  }
  const keys = keysOf(formatReferences(sources, "bibtex", "en"));
  assert.match(keys.join(" "), /^zebra_\w+ apple_\w+$/);
});

test("no references give an empty text", () => {
  for (const style of FORMATS) assert.equal(formatReferences([], style, "en"), "");
});

test("markup in a title stays text", () => {
  const titles = [
    "<i>i</i> <b>b</b> <sup>2</sup> <sub>3</sub> <sc>c</sc>",
    '<span class="nocase">x</span> <span style="font-variant:small-caps;">y</span>',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a < b > c </i> <i",
    "&lt;i&gt; &amp; &#60;",
    "\uFDD0i\uFDD1 <i>",
  ];
  // The style changes quotation marks and capitals.
  const plain = (text) => text.toLowerCase().replace(/["'“”‘’\uFDD0\uFDD1]/g, "");
  for (const style of STYLES) {
    for (const title of titles) {
      const text = formatReferences([{ title, accessed }], style, "en");
      assert.ok(plain(text).includes(plain(title)), `${style}: ${title} → ${text}`);
    }
  }
});

test("BibTeX escapes commands and braces in a title", () => {
  const title = String.raw`{\input{x}} 100% & $5_^~#1 <i>`;
  const bibtex = formatReferences([{ title, section: "a & b", accessed }], "bibtex", "en");
  const field = bibtex.match(/^ {2}title = \{(.*)\},$/m)[1];
  assert.equal(
    field,
    String.raw`\textbraceleft{}\textbackslash{}input\textbraceleft{}x\textbraceright{}\textbraceright{} 100\% \& \$5\_\textasciicircum{}\textasciitilde{}\#1 \textless{}i\textgreater{}`,
  );
  assert.match(bibtex, /^ {2}chapter = \{a \\& b\},$/m);
});

test("BibTeX always has balanced braces", () => {
  for (const hostile of ["{", "}", "\\{", "}}}, @misc{x,", "Upper {Case} Words", 'http://x.example/?a={&b="}\\']) {
    const bibtex = formatReferences([{ title: hostile, url: hostile, siteName: hostile, accessed }], "bibtex", "en");
    let depth = 0;
    for (const brace of bibtex.match(/[{}]/g)) {
      depth += brace === "{" ? 1 : -1;
      assert.ok(depth >= 0, bibtex);
    }
    assert.equal(depth, 0, bibtex);
    assert.equal(keysOf(bibtex).length, 1, bibtex);
  }
});

test("letters of every script are kept", () => {
  for (const title of ["返品ポリシー", "سياسة الإرجاع", "Über naïve Çédille", "👩‍👩‍👧 family"]) {
    for (const style of FORMATS) {
      const text = formatReferences([{ title, accessed }], style, "de");
      assert.ok(text.toLowerCase().replace(/[{}]/g, "").includes(title.toLowerCase()), `${style}: ${text}`);
    }
  }
});

test("keys are unique and do not depend on other documents", () => {
  const twin = { title: page.title, url: "https://other.example/", accessed };
  const japanese = { title: "返品", accessed };
  const [first, second, third, again] = keysOf(formatReferences([page, twin, japanese, page], "bibtex", "en"));
  assert.equal(new Set([first, second, third, again]).size, 4);
  assert.deepEqual(keysOf(formatReferences([japanese, twin, page], "bibtex", "de")), [third, second, first]);
  assert.match(third, /^source_\w{4}$/);
});

test("URLs other than http and https are omitted", () => {
  for (const url of ["javascript:alert(1)", "data:text/html,x", "/relative", "https://user:password@x.example/"]) {
    for (const style of FORMATS) {
      const text = formatReferences([{ title: "T", url, accessed }], style, "en");
      assert.ok(!text.includes(url), text);
    }
  }
});

test("a title is one line of a bounded length", () => {
  const text = formatReferences([{ title: `a\r\n\tb\u0000c\n\n${"😀".repeat(10_000)}`, accessed }], "apa", "en");
  assert.match(text, /^a b c 😀+…/u);
  assert.ok(text.length < 520);
  assert.ok(text.isWellFormed());
});

test("empty titles and lone surrogates are handled", () => {
  for (const title of ["", " ", "\ud800", "?", "'", '"', "«»"]) {
    for (const style of FORMATS) {
      assert.ok(formatReferences([{ title, url: "https://x.example/", accessed }], style, "en").includes("x.example"));
    }
  }
});

test("citations become one source for each document, with all its pages", () => {
  const sources = sourcesOf(
    [
      citation({ document_id: "b", title: "B", page: 7, section: "One" }),
      citation({ document_id: "a", title: "A", url: "https://a.example/", section: "Only" }),
      citation({ document_id: "b", title: "B", page: 2, section: "Two", url: "https://b.example/" }),
      citation({ document_id: "a", title: "A", section: "Only" }),
    ],
    accessed,
  );
  assert.deepEqual(sources, [
    { title: "B", page: [7, 2], accessed, url: "https://b.example/" },
    { title: "A", page: [], accessed, url: "https://a.example/", section: "Only" },
  ]);
  assert.deepEqual(sourcesOf([], accessed), []);
});

test("BibTeX keeps the capitals of a title that styles would lower", () => {
  const titleOf = (title) =>
    formatReferences([{ title, accessed }], "bibtex", "en").match(/^ {2}title = \{(.*)\},$/m)[1];
  assert.equal(titleOf("iPhone and eBay guide"), "{iPhone} and {eBay} guide");
  assert.equal(titleOf("Use of the API: A guide"), "Use of the {API}: {A} guide");
});

test("RIS has a line for each field and an end line", () => {
  assert.equal(
    formatReferences([{ ...page, siteName: "Shop", section: "Limits" }, document], "ris", "en"),
    [
      "TY  - ELEC",
      "TI  - How refunds work: a guide",
      "SE  - Limits",
      "PB  - Shop",
      "UR  - https://shop.example/refunds?a=1&b=2",
      "Y2  - 2026/11/05",
      "ER  - ",
      "",
      "TY  - GEN",
      "TI  - Handbook",
      "SP  - 3, 5",
      "Y2  - 2026/11/05",
      "ER  - ",
    ].join("\n"),
  );
});

test("RIS takes no second field from a title", () => {
  const text = formatReferences([{ title: "T\r\nER  - \nTY  - JOUR", accessed }], "ris", "en");
  assert.deepEqual(
    text.split("\n").map((line) => line.slice(0, 2)),
    ["TY", "TI", "Y2", "ER"],
  );
});

test("CSL-JSON has an item for each document", () => {
  const date = { "date-parts": [[2026, 11, 5]] };
  const [first, second] = JSON.parse(
    formatReferences(
      [
        { ...page, siteName: "Shop" },
        { ...document, siteName: "Shop" },
      ],
      "csl-json",
      "en",
    ),
  );
  assert.match(first.id, /^how_refunds_work_\w{4}$/);
  assert.deepEqual(first, {
    id: first.id,
    type: "webpage",
    title: page.title,
    accessed: date,
    URL: page.url,
    "container-title": "Shop",
  });
  assert.deepEqual(second, {
    id: second.id,
    type: "document",
    title: "Handbook",
    accessed: date,
    page: "3, 5",
    publisher: "Shop",
  });
});

test("the bundle is small and has no network code", async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(ENTRY)],
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    write: false,
  });
  const { text, contents } = outputFiles[0];
  assert.ok(brotliCompressSync(contents).length < 4 * 1024);
  assert.doesNotMatch(text, /\bfetch\(|XMLHttpRequest|WebSocket/);
});
