// The link of a source opens its page at the cited words, in a real browser and on a page as sites show it.
import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { listen } from "../../../tests/lib/listen.mjs";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { openCitationsPage, passage, startCitationsSite, VIEWPORT } from "./pages/citations/page.mjs";
import { quoteOf } from "./support/answers.mjs";

const FILLER = "<p>Filler that no citation means, with 30 days and Near in it.</p>".repeat(60);

/** The passages as `kb` stores them, and the page that they come from. `id` is the element that holds the words. */
const CASES = [
  {
    name: "a sentence with links and emphasis",
    html: '<p id="target">You may <b>return</b> all <a href="/">complete goods</a> to us. More.</p>',
    excerpt: "You may return all complete goods to us. More.",
    quotes: ["You may return all complete goods to us."],
    marks: { strong: "return", link: "complete goods" },
  },
  {
    name: "a sentence with curly quotes, dashes and several spaces on the page",
    html: '<p id="target">The  customer’s “own”\n   parcel — with one-way label, paid &amp; sent – is free.</p>',
    excerpt: 'The customer\'s "own" parcel — with one-way label, paid & sent – is free.',
    quotes: ['The customer\'s "own" parcel — with one-way label, paid & sent – is free.'],
  },
  {
    name: "a long sentence over a footnote and an image",
    html: '<p id="target">A refund<sup>1</sup> takes five days after <img alt="our" src="data:,"> check of everything that came back, and never longer than ten days.</p>',
    excerpt: "A refund1 takes five days after check of everything that came back, and never longer than ten days.",
    quotes: ["A refund1 takes five days after check of everything that came back, and never longer than ten days."],
    marks: { reference: "1" },
  },
  {
    name: "short words that occur several times, by the words before them",
    html: '<p id="target">The period for opened boxes is 30 days. Then it ends.</p>',
    excerpt: "The period for opened boxes is 30 days. Then it ends.",
    quotes: ["30 days"],
  },
  {
    name: "short words, by the words after them",
    html: '<p id="target">30 days, and it ends at midnight.</p>',
    excerpt: "30 days, and it ends at midnight.",
    quotes: ["30 days"],
  },
  {
    name: "a short paragraph, by the end of the paragraph before",
    html: '<p>We ship every working day.</p>\n\n<p id="target">Near</p><p>More.</p>',
    excerpt: "We ship every working day.\n\nNear\n\nMore.",
    quotes: ["Near"],
  },
  {
    name: "a row of a table",
    html: '<table><tr><th>Zone</th><th>Price</th></tr><tr><td>Far</td><td>9 €</td></tr><tr id="target"><td>Near</td><td>3 €</td></tr></table>',
    excerpt: "Zone\tPrice\nFar\t9 €\nNear\t3 €",
    quotes: ["Near\t3 €"],
  },
  {
    name: "items of a list",
    html: '<ul><li id="target">Goods that were opened by mistake</li><li>Goods that were used at home</li></ul>',
    excerpt: "- Goods that were opened by mistake\n- Goods that were used at home",
    quotes: ["- Goods that were opened by mistake\n- Goods that were used at home"],
    kind: "item",
  },
  {
    name: "lines of code",
    html: '<pre id="target"><code>npm install everything\nnpm run anything</code></pre>',
    excerpt: "npm install everything\nnpm run anything",
    quotes: ["npm install everything\nnpm run anything"],
  },
  {
    name: "Japanese words",
    html: '<p id="target" lang="ja">返品は三十日以内に可能です。それ以外は無理です。</p>',
    excerpt: "返品は三十日以内に可能です。それ以外は無理です。",
    quotes: ["返品は三十日以内に可能です。"],
  },
  {
    name: "Arabic words",
    html: '<p id="target" lang="ar" dir="rtl">يمكن إرجاع البضائع خلال ثلاثين يوما من الاستلام.</p>',
    excerpt: "يمكن إرجاع البضائع خلال ثلاثين يوما من الاستلام.",
    quotes: ["يمكن إرجاع البضائع خلال ثلاثين يوما من الاستلام."],
  },
];

const documents = await listen((request, response) => {
  const number = Number(request.url?.slice(1));
  const { html = "<p>No such words.</p>" } = CASES[number] ?? {};
  response
    .writeHead(200, { "content-type": "text/html; charset=utf-8" })
    .end(`<!doctype html><meta charset="utf-8"><title>Page</title><h2 id="top">Top</h2>${FILLER}${html}${FILLER}`);
});
after(() => documents.close());
const { site, page } = await startSuite(startCitationsSite, { viewport: VIEWPORT, reducedMotion: "reduce" });
await openCitationsPage(page, site, { isFrozen: false });

beforeEach(() => page.evaluate(() => widget.clear()));
afterEach(() => assert.deepEqual(page.errors.splice(0), []));

/** The range of words in a text. */
const at = (text, words) => ({ start: text.indexOf(words), end: text.indexOf(words) + words.length });

/** A layout with a block for each line, and marks. */
function laidOut(excerpt, kind, marks) {
  const blocks = excerpt.split("\n").map((line) => {
    const range = at(excerpt, line);
    return kind === "item" ? { kind, ...range, text: range.start + 2, depth: 0 } : { kind, ...range };
  });
  return { blocks, marks: Object.entries(marks).map(([kind, words]) => ({ kind, ...at(excerpt, words) })) };
}

/** Shows an answer with this source, opens the source, and follows its link as a visitor does. */
async function follow(excerpt, quotes, url, blocks = undefined) {
  const found = quotes.map((text) => quoteOf(excerpt, text));
  const source = passage(1, excerpt, { quotes: found, url, blocks });
  await page.evaluate(([text, source]) => widget.answer(text, [source]), ["An answer. [1]", source]);
  await page.locator("[data-role=source] > summary").click();
  const [opened] = await Promise.all([
    page.context().waitForEvent("page"),
    page.locator("[data-role=source] [data-role=source-link]").click(),
  ]);
  await opened.waitForLoadState();
  return opened;
}

/** Whether an element is in the viewport of a page, within two seconds. */
const isInView = (opened, id) =>
  opened
    .waitForFunction(
      (id) => {
        const { top, bottom } = document.getElementById(id).getBoundingClientRect();
        return scrollY > 0 && top >= 0 && bottom <= innerHeight;
      },
      id,
      { timeout: 2000 },
    )
    .then(
      () => true,
      () => false,
    );

for (const [number, { name, excerpt, quotes, kind = "paragraph", marks }] of CASES.entries()) {
  test(`a click on a source scrolls its page to ${name}`, async () => {
    const blocks = marks || kind === "item" ? laidOut(excerpt, kind, marks ?? {}) : undefined;
    const opened = await follow(excerpt, quotes, `${documents.origin}/${number}`, blocks);
    assert.ok(await isInView(opened, "target"), await page.locator("[data-role=source-link]").getAttribute("href"));
    assert.equal(await opened.evaluate(() => location.hash), "", "the page's own scripts do not see it");
    await opened.close();
  });
}

test("a page that lost the words opens at the heading of the link", async () => {
  const opened = await follow("Some words that are gone.", ["Some words that are gone."], `${documents.origin}/99#top`);
  assert.equal(await opened.evaluate(() => location.hash), "#top");
  assert.equal(await opened.evaluate(() => scrollY < 50), true);
  await opened.close();
});

test("the card of a badge links to the words of its own quote", async () => {
  const excerpt = "The first sentence is here. The second sentence is there.";
  const [first, second] = ["The first sentence is here.", "The second sentence is there."];
  const quotes = [first, second].map((text) => quoteOf(excerpt, text));
  const source = passage(1, excerpt, { quotes, url: "https://example.com/" });
  await page.evaluate(([text, source]) => widget.answer(text, [source]), [`${first} [1] ${second} [1]`, source]);
  await page.locator("[data-role=marker]").nth(1).hover();
  const link = page.locator("[data-role=citation-card][data-open] [data-role=source-link]");
  assert.equal(await link.getAttribute("href"), "https://example.com/#:~:text=The%20second%20sentence%20is%20there");
});
