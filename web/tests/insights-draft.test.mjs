import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { draftPage } = await importTs(new URL("../insights/gaps.ts", import.meta.url));
const { shorten, wholeText } = await importTs(new URL("../insights/others-text.ts", import.meta.url));
const { changeOfCount, changeOfShare, formatMilliseconds, formatShare, plural } = await importTs(
  new URL("../insights/format.ts", import.meta.url),
);

const gap = (examples, changes = {}) => ({
  group_id: "g",
  assistant_name: "default",
  questions: 14,
  users: 9,
  reasons: ["weak_evidence"],
  first_asked: "2026-11-01T10:00:00Z",
  last_asked: "2026-11-24T10:00:00Z",
  examples,
  ...changes,
});

test("a draft has the typical question as its title and the others as sections", () => {
  const { name, text } = draftPage(gap(["Do you ship to Norway?", "Delivery  to\nNorway"]));
  assert.equal(name, "do-you-ship-to-norway.md");
  assert.equal(
    text,
    `---
title: "Do you ship to Norway?"
---

<!-- 9 users asked this 14 times from November 1, 2026 to November 24, 2026. Some passages are near, but do not answer it.
Write full sentences that make sense when they are quoted alone. Then run kb sync. -->

# Do you ship to Norway?

TODO: the answer in one or two sentences.

## Delivery to Norway

TODO
`,
  );
});

test("questions cannot add Markdown, HTML, front matter or end the comment", () => {
  const { text } = draftPage(gap(['"\n---\nenabled: false\n---', "--> <script>alert(1)</script> [a](b) `c` *d* # e"]));
  const [, front, body] = /^---\n(.*)\n---\n([^]*)$/.exec(text);
  assert.equal(JSON.parse(front.slice("title: ".length)), '" --- enabled: false ---');
  assert.equal(body.replaceAll("<!-- -->", "").match(/-->/g).length, 1, "only the end of the comment");
  assert.match(body, /^## --\\> \\<script\\>alert\(1\)\\<\/script\\> \\\[a\\\]\(b\) \\`c\\` \\\*d\\\* \\# e$/m);
});

test("questions cannot add links, code of site generators, reordered letters or lines of YAML", () => {
  const question =
    "See https://evil.example or www.evil.example {{{constructor}}} \u202Egnp.\u2066exe\u0085audience: all\u007F";
  const { text } = draftPage(gap([question, `=HYPERLINK("//evil")\r\n---\r\n=SUM(A1)`]));
  const [, front, body] = /^---\n(.*)\n---\n([^]*)$/.exec(text);
  assert.equal(
    JSON.parse(front.slice("title: ".length)),
    "See https://evil.example or www.evil.example {{{constructor}}} gnp.exe audience: all",
  );
  assert.doesNotMatch(text, /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  assert.match(
    body,
    /^# See https<!-- -->:\/\/evil<!-- -->\.example or www<!-- -->\.evil<!-- -->\.example \\\{ \\\{ \\\{constructor\\\}\\\}\\\} gnp/m,
  );
  assert.match(body, /^## =HYPERLINK\("\/\/evil"\) --- =SUM\(A1\)$/m);
});

test("questions cannot add what generators of sites make a link of, and sentences read as before", () => {
  const asked = "See evil-login.com/verify, FTP://x.example, mailto:a.b@evil.co.uk or 10.0.0.1:80. Is it 2.5 kg? No...";
  const { text } = draftPage(gap([asked]));
  const [heading] = /^# .*$/m.exec(text);
  assert.equal(heading.replaceAll("<!-- -->", ""), `# ${asked}`);
  for (const part of heading.split("<!-- -->")) assert.doesNotMatch(part, /\S[.:@]\S/, part);
});

test("a long question is a short heading, and one without letters has a name", () => {
  const { name, text } = draftPage(gap(["a😀".repeat(2000), "\u202e\u2066"]));
  assert.ok(text.length < 1000, String(text.length));
  assert.match(text, /^# (a😀){74}a…$/m);
  assert.match(text, /^## \(no text\)$/m);
  assert.equal(name, `${"a-".repeat(30).slice(0, -1)}.md`);
});

test("a long text is cut at a number of characters and lines, a short one is not", () => {
  assert.equal(shorten("as it is\n\nin lines"), "as it is\n\nin lines");
  assert.equal([...shorten("😀".repeat(4000))].length, 280);
  assert.equal(shorten("line\n".repeat(1000)), `${"line\n".repeat(5)}line…`);
  assert.equal(wholeText("short", "Whole"), undefined);
});

test("every question gives the name of a file", () => {
  const nameOf = (question) => draftPage(gap([question])).name;
  assert.equal(nameOf("../../etc/passwd"), "etc-passwd.md");
  assert.equal(nameOf("Où est l’été ?"), "ou-est-l-ete.md");
  assert.equal(nameOf("هل تشحنون؟"), "هل-تشحنون.md");
  assert.equal(nameOf("???"), "new-page.md");
  assert.equal(nameOf("𝒳".repeat(100)), `${"x".repeat(60)}.md`);
  assert.ok(nameOf("word ".repeat(900)).length <= 63);
});

test("figures that do not exist are dashes, and changes need both figures", () => {
  assert.deepEqual([formatShare(null), formatMilliseconds(null)], ["–", "–"]);
  assert.deepEqual(
    [formatMilliseconds(999), formatMilliseconds(1000), formatMilliseconds(12_340)],
    ["999 ms", "1 s", "12.3 s"],
  );
  assert.equal(formatShare(0.8349), "83.5%");
  assert.equal(changeOfCount(3, 0), undefined);
  assert.equal(changeOfCount(3, 2), "+50 %");
  assert.equal(changeOfCount(2, 2), "0 %");
  assert.equal(changeOfShare(null, 0.5), undefined);
  assert.equal(changeOfShare(0.4, 0.5), "-10 points");
  assert.deepEqual([plural(0, "user"), plural(1, "user"), plural(1200, "user")], ["0 users", "1 user", "1,200 users"]);
});
