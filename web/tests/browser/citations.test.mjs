import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { openBrowser } from "../../../tests/lib/browser.mjs";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { openCitationsPage, passage, quoting, startCitationsSite, VIEWPORT } from "./pages/citations/page.mjs";
import { quoteOf } from "./support/answers.mjs";

const EXCERPT = `Returns\n\nYou may return goods within 30 days. Refunds take 5 days.\n\n${"More words. ".repeat(60)}`;
const at = (words) => ({ start: EXCERPT.indexOf(words), end: EXCERPT.indexOf(words) + words.length });
const LAYOUT = {
  blocks: [
    { kind: "heading", ...at("Returns") },
    { kind: "paragraph", ...at("You may return goods within 30 days. Refunds take 5 days.") },
    { kind: "paragraph", start: EXCERPT.indexOf("More"), end: EXCERPT.length },
  ],
  marks: [
    { kind: "strong", ...at("return") },
    { kind: "link", ...at("30 days") },
  ],
};
const RETURNS = quoting(1, EXCERPT, "Refunds take 5 days.", {
  title: "Returns",
  page: 3,
  section: "Refunds",
  url: "https://example.com/returns",
  blocks: LAYOUT,
});
const SHIPPING = passage(2, "Parcels take 2 days.", { title: "Shipping", strength: "partial", score: 0.4 });
const TEXT = "Refunds take 5 days. [1] Parcels take 2 days. [2]";

const HOSTILE_TEXTS = [
  "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
  "![x](https://evil.example/pixel.png) ![y][r]\n\n[r]: https://evil.example/pixel2.png",
  "<img src=x onerror=alert(1)>\n\n<svg onload=alert(1)>\n\n<iframe src=https://evil.example></iframe>",
  '[a](https://example.com "onmouseover=alert(1)") `<script>alert(1)</script>`',
  "```html\n<script>alert(1)</script>\n```",
  "| <img src=x onerror=alert(1)> | [x](JaVaScRiPt:alert(1)) |\n|-|-|\n| &lt;script&gt;alert(1)&lt;/script&gt; | b |",
];

const { site, page } = await startSuite(startCitationsSite, { viewport: VIEWPORT, reducedMotion: "reduce" });
await openCitationsPage(page, site);

beforeEach(() => page.evaluate(() => widget.clear()));

afterEach(() => {
  assert.deepEqual(page.errors.splice(0), []);
  assert.deepEqual(page.requests.splice(0), []);
});

const show = (text, citations) =>
  page.evaluate(([text, citations]) => widget.answer(text, citations), [text, citations]);
const role = (name) => page.locator(`[data-role="${name}"]`);
const badge = (number) => role("marker").nth(number);
const card = () => page.locator("[data-role=citation-card][data-open]");
const opened = () => page.evaluate(() => widget.opened);
const later = (milliseconds) => page.clock.runFor(milliseconds);
const moveAway = () => page.mouse.move(5, 5);
const focused = () =>
  page.evaluate(() => widget.shadow.activeElement?.closest("[data-role]")?.getAttribute("data-role"));

test("text streams with badges, and half a badge is never visible", async () => {
  const seen = await page.evaluate(() => {
    const answer = widget.add();
    const seen = [];
    for (const character of "One. [1] Two `a` \\[3\\] [12]") {
      answer.append(character);
      seen.push(answer.root.innerText);
    }
    answer.finishText();
    return [...seen, answer.root.innerText];
  });
  for (const text of seen) assert.doesNotMatch(text.replaceAll("[3]", ""), /[[\]\\]/);
  assert.equal(seen.at(-1).replaceAll("\n", ""), "One. 1 Two `a` [3] 12");
});

test("badges are disabled until the sources arrive, which shifts nothing", async () => {
  await page.evaluate((text) => widget.add().append(text), `${TEXT} ${"More of the text. ".repeat(30)} [2]`);
  assert.equal(await badge(0).isDisabled(), true);
  await page.evaluate(() => Promise.all(widget.shadow.getAnimations().map((each) => each.finished)));
  const boxes = () =>
    page.evaluate(() =>
      [...widget.shadow.querySelectorAll(".marker, .answer-text")].map((each) =>
        JSON.stringify(each.getBoundingClientRect()),
      ),
    );
  const before = await boxes();
  await page.evaluate((citations) => widget.answers[0].showSources(citations), [RETURNS, SHIPPING]);
  assert.equal(await badge(0).isEnabled(), true);
  assert.deepEqual(await boxes(), before);
  assert.equal(await badge(0).getAttribute("aria-label"), "Source 1: Returns");
});

test("a marker without a source is plain text in brackets", async () => {
  await show("See [4]. Refunds take 5 days. [1]", [RETURNS]);
  assert.equal(await role("marker").count(), 1);
  assert.match(await role("answer").innerText(), /^See \[4\]\./);
  assert.equal(await page.evaluate(() => widget.answers[0].text), "See [4]. Refunds take 5 days. [1]");
});

test("a card opens after the pointer rests on a badge for 200 ms", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  await badge(0).hover();
  await later(199);
  assert.equal(await card().count(), 0);
  await later(1);
  assert.equal(await card().isVisible(), true);
  assert.equal(await role("card-title").innerText(), "Returns");
  assert.match(await card().innerText(), /Refunds · Page 3/);
  assert.match(await card().innerText(), /Strong evidence/);
  assert.match(await card().innerText(), /0\.71/);
  assert.equal(await card().locator("mark").innerText(), "Refunds take 5 days.");
  // WebKit ends it with a line break.
  const shown = (await role("card-excerpt").innerText()).trim();
  assert.match(shown, /You may return goods within 30 days\./);
  assert.match(shown, /…$/);
  assert.ok(shown.length < 400);
  assert.equal(await card().locator("[data-role=verified-quote]").innerText(), "Verified quote");
  assert.equal(
    await card().locator("[data-role=source-link]").getAttribute("href"),
    "https://example.com/returns#:~:text=Refunds%20take%205%20days",
  );
  await moveAway();
  await later(1000);
});

test("the highlighted words of a card are in view, or at least their beginning", async () => {
  const before = "Many words stand before the quote of this passage. ".repeat(3);
  for (const sentence of [
    "Refunds take 5 days.",
    "Refunds take so many words that they do not fit. ".repeat(9).trim(),
  ]) {
    await page.evaluate(() => widget.clear());
    await show(`${sentence} [1]`, [quoting(1, `${before}\n\n${before}\n\n${sentence}`, sentence)]);
    await badge(0).hover();
    await later(200);
    const [excerpt, mark] = [await role("card-excerpt").boundingBox(), await card().locator("mark").boundingBox()];
    assert.ok(mark.y >= excerpt.y && mark.y < excerpt.y + excerpt.height - 20, JSON.stringify({ excerpt, mark }));
    if (mark.height < 60) assert.ok(mark.y + mark.height <= excerpt.y + excerpt.height, "the end, too");
    await moveAway();
    await later(1000);
  }
});

test("a pointer that passes over a badge opens no card", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  await badge(0).hover();
  await later(150);
  await moveAway();
  await later(1000);
  assert.equal(await card().count(), 0);
});

test("the card stays open while the pointer is on it and closes when the pointer leaves", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  await badge(0).hover();
  await later(200);
  await card().hover();
  await later(5000);
  assert.equal(await card().count(), 1);
  await badge(0).hover();
  await later(5000);
  assert.equal(await card().count(), 1);
  await moveAway();
  await later(200);
  assert.equal(await card().count(), 1);
  await later(100);
  assert.equal(await card().count(), 0);
});

test("only the card of the badge under the pointer is open", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  await badge(0).hover();
  await later(200);
  await badge(1).hover();
  await later(200);
  assert.equal(await card().count(), 1);
  assert.equal(await role("card-title").innerText(), "Shipping");
  await moveAway();
  await later(1000);
});

test("Escape closes only the card and moves neither pointer nor focus", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  await page.evaluate(() => {
    globalThis.escapes = 0;
    addEventListener("keydown", () => escapes++);
    /** @type {HTMLElement} */ (widget.shadow.querySelector(".log")).focus();
  });
  await badge(0).hover();
  await later(200);
  await page.keyboard.press("Escape");
  assert.equal(await card().count(), 0);
  assert.equal(await focused(), "log");
  assert.equal(await page.evaluate(() => escapes), 0);
  await later(1000);
  assert.equal(await card().count(), 0);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => escapes), 1);
  await moveAway();
  await later(1000);
});

test("keyboard focus opens the card, which describes its badge, can be entered, and returns the focus on Escape", async () => {
  await show("Refunds take 5 days. [1]", [RETURNS]);
  await page.evaluate(() => /** @type {HTMLElement} */ (widget.shadow.querySelector(".log")).focus());
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "marker");
  const description = await badge(0).evaluate(
    (badge) => badge.getRootNode().getElementById(badge.getAttribute("aria-describedby")).textContent,
  );
  assert.match(description, /Strong evidence.*Refunds take 5 days\./);
  await later(199);
  assert.equal(await card().count(), 0);
  await later(1);
  assert.equal(await card().isVisible(), true);
  assert.equal(await page.getByRole("dialog", { name: "Returns" }).count(), 1);
  for (
    let presses = 0;
    presses < 12 && !(await page.evaluate(() => widget.shadow.activeElement?.matches(".citation-card *")));
    presses++
  )
    await page.keyboard.press("Tab");
  await later(1000);
  assert.equal(await page.evaluate(() => widget.shadow.activeElement.matches(".citation-card *")), true);
  assert.equal(await card().isVisible(), true);
  await page.keyboard.press("Escape");
  assert.equal(await focused(), "marker");
  await later(1000);
  assert.equal(await card().count(), 0);
  await page.keyboard.press("Shift+Tab");
  assert.equal(await badge(0).getAttribute("aria-describedby"), null);
});

test("the card closes when its badge loses the focus", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  await page.evaluate(() => /** @type {HTMLElement} */ (widget.shadow.querySelector(".log")).focus());
  await page.keyboard.press("Tab");
  await later(200);
  assert.equal(await card().count(), 1);
  await page.keyboard.press("Shift+Tab");
  await later(300);
  assert.equal(await card().count(), 0);
});

test("the card is inside the widget, on the side with room", async () => {
  const words = "Words that fill the lines of this answer. ".repeat(40);
  await show(`[1] ${words} [1] ${words} [1]`, [RETURNS]);
  for (const number of [0, 1, 2]) {
    await badge(number).scrollIntoViewIfNeeded();
    await badge(number).hover();
    await later(200);
    const at = await badge(number).boundingBox();
    const box = await card().boundingBox();
    const panel = await page.locator(".panel").boundingBox();
    assert.ok(box.x >= panel.x && box.x + box.width <= panel.x + panel.width, `${number}`);
    assert.ok(box.y >= panel.y && box.y + box.height <= panel.y + panel.height, `${number}`);
    assert.ok(box.y >= at.y + at.height || box.y + box.height <= at.y, "it does not cover its badge");
    assert.ok(
      Math.min(Math.abs(box.y - at.y - at.height), Math.abs(at.y - box.y - box.height)) < 12,
      "the card is near its badge",
    );
    await moveAway();
    await later(1000);
  }
});

test("a card follows its badge and closes when the badge scrolls out of view", async () => {
  await show(`[1] ${"Words that fill the lines of this answer. ".repeat(80)}`, [RETURNS]);
  await badge(0).scrollIntoViewIfNeeded();
  await badge(0).hover();
  await later(200);
  const scroll = (top) => page.evaluate((top) => (widget.shadow.querySelector(".log").scrollTop = top), top);
  const gap = async () => (await card().boundingBox()).y - (await badge(0).boundingBox()).y;
  const before = await gap();
  await scroll(10);
  await page.waitForFunction(() => widget.shadow.querySelector(".log").scrollTop === 10);
  await page.evaluate(
    () =>
      new Promise(
        (done) =>
          widget.shadow.querySelector(".log").addEventListener("scroll", done, { once: true }) ??
          (widget.shadow.querySelector(".log").scrollTop = 12),
      ),
  );
  assert.ok(Math.abs((await gap()) - before) < 2);
  await scroll(900);
  await page.waitForFunction(() => !widget.shadow.querySelector(".citation-card[data-open]"));
  await moveAway();
  await later(1000);
});

test("clearing the conversation closes the card", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  await badge(0).hover();
  await later(150);
  await page.evaluate(() => widget.clear());
  await later(1000);
  assert.equal(await card().count(), 0);
  await show(TEXT, [RETURNS, SHIPPING]);
  await badge(0).hover({ position: { x: 4, y: 4 } });
  await later(200);
  assert.equal(await card().count(), 1);
  await page.evaluate(() => widget.clear());
  await page.keyboard.press("Escape");
  assert.equal(await card().count(), 0);
  await moveAway();
  await later(1000);
});

test("a click on a badge opens, reveals and focuses its source and fires citation-open", async () => {
  await show(`${TEXT}${" More.".repeat(800)}`, [RETURNS, SHIPPING]);
  await badge(1).click();
  await later(300);
  const source = role("source").nth(1);
  assert.equal(await source.getAttribute("open"), "");
  assert.equal(await page.evaluate(() => widget.shadow.activeElement?.parentElement?.dataset.index), "2");
  assert.deepEqual(await opened(), ["chunk-2"]);
  assert.equal(await source.evaluate((each) => each.getBoundingClientRect().top < innerHeight), true);
  assert.equal(await source.locator("mark").innerText(), "Parcels take 2 days.");
  assert.equal(await card().count(), 0);
});

test("a badge of a document with several passages opens the quoted passage", async () => {
  const other = quoting(1, "Intro. Gifts cannot be returned.", "Gifts cannot be returned.", {
    chunk_id: "gifts",
    page: 7,
    score: 0.8,
    strength: "good",
    title: "Returns",
  });
  await show("Refunds take 5 days. [1] Gifts cannot be returned. [1]", [RETURNS, other]);
  assert.equal(await role("source").count(), 1);
  assert.equal(await role("source-count").innerText(), "2 passages");
  assert.equal(await role("source-place").first().innerText(), "Refunds · Page 3; Page 7");
  assert.equal(await role("strength").first().innerText(), "Strong evidence");
  await badge(1).click();
  assert.deepEqual(await opened(), ["gifts"]);
  assert.equal(await page.locator(".passage[data-current] mark").innerText(), "Gifts cannot be returned.");
  assert.equal(await role("passage").count(), 2);
});

test("a tap opens the source, not a card", async () => {
  const phone = await openBrowser({ hasTouch: true, isMobile: true, viewport: { width: 360, height: 640 } });
  try {
    const { page } = phone;
    await openCitationsPage(page, site);
    await page.evaluate(([text, citations]) => widget.answer(text, citations), [TEXT, [RETURNS, SHIPPING]]);
    const marker = page.locator("[data-role=marker]").first();
    // Even if the finger stays there.
    const { x, y, width, height } = await marker.boundingBox();
    const finger = await page.context().newCDPSession(page);
    const touch = (type, touchPoints) => finger.send("Input.dispatchTouchEvent", { type, touchPoints });
    await touch("touchStart", [{ x: x + width / 2, y: y + height / 2 }]);
    await page.clock.runFor(1000);
    assert.equal(await page.locator("[data-role=citation-card][data-open]").count(), 0);
    await touch("touchCancel", []);
    await marker.tap();
    await page.clock.runFor(1000);
    assert.equal(await page.locator("[data-role=citation-card][data-open]").count(), 0);
    assert.equal(await page.locator("[data-role=source]").first().getAttribute("open"), "");
    assert.deepEqual(await page.evaluate(() => widget.opened), ["chunk-1"]);
    assert.deepEqual(page.errors, []);
  } finally {
    await phone.close();
  }
});

test("list and card do not overflow at 320 pixels", async () => {
  await page.setViewportSize({ width: 320, height: 600 });
  const table = `| a | b |\n|-|-|\n| ${"wide ".repeat(40)} | ${"x".repeat(300)} |`;
  const wide = passage(2, table, { title: "LongTitle".repeat(20), quotes: [] });
  await show("Refunds take 5 days. [1] Wide. [2]", [RETURNS, wide]);
  for (const number of [0, 1]) await badge(number).click();
  const log = page.locator(".log");
  assert.equal(await log.evaluate((each) => each.scrollWidth <= each.clientWidth), true);
  await moveAway();
  await badge(1).hover();
  await later(200);
  const box = await card().boundingBox();
  assert.equal(
    await card().evaluate((each) => each.scrollHeight <= each.clientHeight),
    true,
    "all of the card is seen",
  );
  assert.ok(box.x >= 0 && box.x + box.width <= 320);
  await moveAway();
  await later(1000);
  await page.setViewportSize({ width: 700, height: 700 });
});

test("an opened entry shows its passages as they are laid out, with verified quotes", async () => {
  await show(TEXT, [RETURNS, SHIPPING]);
  assert.equal(await role("excerpt").count(), 0);
  await role("source-title").first().click();
  assert.deepEqual(await opened(), ["chunk-1"]);
  const excerpt = role("excerpt");
  assert.equal(await excerpt.locator(".heading").innerText(), "Returns");
  assert.equal(await excerpt.locator("strong").innerText(), "return");
  assert.equal(await excerpt.locator("a").count(), 0);
  assert.equal(await excerpt.locator("mark").innerText(), "Refunds take 5 days.");
  assert.equal(await role("verified-quote").count(), 1);
  assert.equal(await page.locator("h1, h2").count(), 0);
});

test("a false quote is neither highlighted nor verified", async () => {
  const misquoted = passage(1, "The passage says something else.", {
    quotes: [quoteOf("Everything is free.")],
  });
  await show("Everything is free. [1]", [misquoted]);
  await badge(0).click();
  assert.equal((await role("excerpt").innerText()).trim(), "The passage says something else.");
  assert.equal(await page.locator("mark").count(), 0);
  assert.equal(await role("verified-quote").count(), 0);
});

test("three documents are listed at first, and the button lists and focuses the rest", async () => {
  const many = [1, 2, 3, 4, 5].map((index) => passage(index, `Fact ${index}.`));
  await show("Fact 1. [1] Fact 5. [5]", many);
  assert.equal(await page.locator(".sources-label").innerText(), "5 sources");
  assert.equal(await role("source").count(), 3);
  await page.getByRole("button", { name: "Show more sources" }).click();
  assert.equal(await role("source").count(), 5);
  assert.equal(await page.evaluate(() => widget.shadow.activeElement.parentElement.dataset.index), "4");
  assert.equal(await role("more-sources").isVisible(), false);
});

test("a badge of a document that is not listed yet lists it", async () => {
  const many = [1, 2, 3, 4, 5].map((index) => passage(index, `Fact ${index}.`));
  await show("Fact 1. [1] Fact 5. [5]", many);
  await badge(1).click();
  assert.equal(await role("source").nth(4).getAttribute("open"), "");
  assert.deepEqual(await opened(), ["chunk-5"]);
});

test("three documents are listed without a button", async () => {
  await show(
    "Fact 1. [1]",
    [1, 2, 3].map((index) => passage(index, `Fact ${index}.`)),
  );
  assert.equal(await role("more-sources").isVisible(), false);
});

test("agreeing documents are counted, and a single one is not", async () => {
  const same = (index) => passage(index, "Refunds are paid within five days.");
  await show("Refunds are paid within five days. [1]", [same(1), same(2), passage(3, "Other words.")]);
  assert.equal(await role("agreement").innerText(), "2 of 3 sources agree");
  await page.evaluate(() => widget.clear());
  await show("Refunds are paid within five days. [1]", [same(1), passage(2, "Refunds are paid within nine days.")]);
  assert.equal(await role("agreement").count(), 0);
});

test("an unavailable document keeps its quotes and has no links", async () => {
  await show("Refunds take 5 days. [1]", [{ ...RETURNS, download_url: "https://example.com/d", available: false }]);
  await badge(0).click();
  assert.equal(await role("source-gone").innerText(), "Document no longer available");
  assert.equal(await page.locator("mark").innerText(), "Refunds take 5 days.");
  assert.equal(await role("source-link").count(), 0);
  assert.equal(await role("source-download").count(), 0);
  await moveAway();
  await badge(0).hover();
  await later(200);
  assert.equal(await card().locator("[data-role=source-gone]").count(), 1);
  await moveAway();
  await later(1000);
});

test("a document without a title is called unknown", async () => {
  await show("Refunds take 5 days. [1]", [{ ...RETURNS, title: "" }]);
  assert.equal(await role("source-title").innerText(), "Unknown document");
  assert.equal(await badge(0).getAttribute("aria-label"), "Source 1: Unknown document");
});

test("a download runs once, keeps the focus and shows its failure", async () => {
  await show("Refunds take 5 days. [1]", [{ ...RETURNS, download_url: "https://example.com/d" }]);
  await badge(0).click();
  const download = page.getByRole("button", { name: "Download original" });
  await download.click();
  await download.click({ force: true });
  assert.equal(await page.evaluate(() => widget.downloads.length), 1);
  assert.equal(await download.getAttribute("aria-busy"), "true");
  assert.equal(await focused(), "source-download");
  await page.evaluate(() => widget.downloads[0].reject(new Error("no")));
  await page.getByText("The document could not be downloaded.").waitFor();
  assert.equal(await download.getAttribute("aria-busy"), null);
  await download.click();
  assert.equal(await role("download-status").innerText(), "");
  await page.evaluate(() => widget.downloads[1].resolve());
  await page.waitForFunction(() => !widget.shadow.querySelector("[aria-busy]"));
  assert.equal(await role("download-status").innerText(), "");
});

test("an answer without citations has no list, and the export is below the list", async () => {
  await show("Words [1].", []);
  assert.equal(await role("sources").count(), 0);
  assert.equal(await role("answer").innerText(), "Words [1].");
  await show(TEXT, [RETURNS, SHIPPING]);
  assert.equal(await role("references").innerText(), "2 references");
});

test("an answer has its own text direction and the card that of the widget", async () => {
  await page.evaluate(() => {
    widget.translator.use("ar", { sourceNamed: "{count}: {title}" });
    widget.root.dir = "rtl";
  });
  await show("تُدفع المبالغ خلال خمسة أيام. [1]", [passage(1, "تُدفع المبالغ خلال خمسة أيام.")]);
  assert.equal(await role("answer").evaluate((each) => getComputedStyle(each).direction), "rtl");
  await badge(0).hover();
  await later(200);
  const at = await badge(0).boundingBox();
  const box = await card().boundingBox();
  assert.ok(box.x < at.x && box.x + box.width >= at.x + at.width);
  await page.evaluate(() => {
    widget.useEnglish();
    widget.root.dir = "ltr";
  });
  await moveAway();
  await later(1000);
});

for (const [what, start, end] of [
  ["override", "\u202e", "\u202c"],
  ["embedding", "\u202b", "\u202c"],
  ["isolate", "\u2067", "\u2069"],
  ["override without an end", "\u202e", ""],
]) {
  test(`an ${what} reorders no text of an answer or a passage and is not verified`, async () => {
    const spoofed = `Pay ${start}100 euros${end} to account 12.`;
    const citation = quoting(1, `Our rule: ${spoofed}`, spoofed, { title: `${start}Rules`, section: `${start}Money` });
    await show(`${spoofed} [1] ${spoofed}`, [citation]);
    await badge(0).click();
    const texts = await page.evaluate(() => {
      const walk = document.createTreeWalker(widget.shadow, NodeFilter.SHOW_TEXT);
      const texts = [];
      while (walk.nextNode()) {
        const { data } = /** @type {Text} */ (walk.currentNode);
        const places = [...data].map((_, at) => {
          const range = document.createRange();
          range.setStart(walk.currentNode, at);
          range.setEnd(walk.currentNode, at + 1);
          return range.getBoundingClientRect();
        });
        const isInOrder = places.every(
          ({ left, top }, at) => at === 0 || top > places[at - 1].top || left >= places[at - 1].left,
        );
        texts.push({ data, isInOrder });
      }
      return texts;
    });
    assert.deepEqual(
      texts.filter(({ data, isInOrder }) => !isInOrder || /[\u202a-\u202e\u2066-\u2069]/.test(data)),
      [],
    );
    assert.equal(texts.filter(({ data }) => data.includes("Pay 100 euros to account 12.")).length, 3);
    assert.equal(await role("excerpt").locator("mark").innerText(), "Pay 100 euros to account 12.");
    assert.equal(await role("verified-quote").count(), 0);
    assert.doesNotMatch(await page.evaluate(() => widget.answers[0].plainText()), /\p{Cf}/u);
    assert.doesNotMatch(await page.evaluate(() => widget.answers[0].markdown()), /\p{Cf}/u);
  });
}

test("words with bidi controls only in the answer are shown in order and verified as shown", async () => {
  const citation = quoting(1, "Pay 100 euros to account 12.", "Pay 100 euros to account 12.");
  await show("\u202ePay \u2067100 euros\u2069 to account 12. [1]", [citation]);
  assert.match(await role("answer").innerText(), /^Pay 100 euros to account 12\./);
  await badge(0).click();
  assert.equal(await role("verified-quote").count(), 1);
});

test("hostile passages, titles, sections and URLs run and load nothing", async () => {
  // The whole corpus of payloads is in security.test.mjs.
  const some = HOSTILE_TEXTS;
  const citations = some.map((payload, place) =>
    passage(place + 1, `${payload}\n\n${payload}`, {
      title: payload,
      section: payload,
      url: payload,
      download_url: payload,
      quotes: [quoteOf(payload)],
    }),
  );
  const found = await page.evaluate(
    ([text, citations]) => {
      widget.clear();
      widget.answer(text, citations);
      const { shadow } = widget;
      /** @type {HTMLElement} */ (shadow.querySelector("[data-role=more-sources]")).click();
      for (const summary of shadow.querySelectorAll("summary")) summary.click();
      const bad = [...shadow.querySelectorAll("*")].filter(
        (each) =>
          each.matches(
            "script, style, iframe, img, object, embed, form, base, meta, link, video, audio, [srcdoc], [style]",
          ) ||
          [...each.attributes].some(({ name }) => name.startsWith("on")) ||
          (each.hasAttribute("href") && !/^(https?|mailto):/.test(each.getAttribute("href"))),
      );
      return {
        bad: bad.map((each) => each.outerHTML),
        excerpts: shadow.querySelectorAll("[data-role=excerpt]").length,
      };
    },
    [some.map((payload, place) => `${payload} [${place + 1}]`).join("\n"), citations],
  );
  assert.deepEqual(found.bad, []);
  assert.equal(found.excerpts, some.length);
});
