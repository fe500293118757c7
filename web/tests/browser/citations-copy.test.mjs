// Copies selections with badges, with Ctrl+C in real Chromium.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { openCitationsPage, passage, startCitationsSite, VIEWPORT } from "./pages/citations/page.mjs";

const RETURNS = passage(1, "Refunds take 5 days.", { title: "Returns", page: 3, url: "https://example.com/r" });
const SHIPPING = passage(2, "Parcels take 2 days.", { title: "Ship*ping" });
const TEXT = "Refunds take 5 days. [1] Parcels take 2 days. [2] The end.";
const RETURNS_NOTE = '[Returns](https://example.com/r), p. 3 — "Refunds take 5 days."';
const SHIPPING_NOTE = 'Ship\\*ping — "Parcels take 2 days."';

const { site, page } = await startSuite(startCitationsSite, { viewport: VIEWPORT, reducedMotion: "reduce" });
await openCitationsPage(page, site, { isFrozen: false });

beforeEach(async () => {
  await page.evaluate(() => widget.clear());
  await show(TEXT, [RETURNS, SHIPPING]);
});

const show = (text, citations) =>
  page.evaluate(([text, citations]) => widget.answer(text, citations), [text, citations]);

/** A text node of the answer with that number. */
const words = (child, number = 0) => ({ selector: ".answer-text", number, child });
/** The text node in the badge with that number. */
const digits = (number) => ({ selector: ".marker", number, child: 0 });

/** Selects a range of characters and gives what Ctrl+C copies. */
async function copy(from, start, to, end) {
  await page.evaluate(
    ([from, start, to, end]) => {
      const find = ({ selector, number, child }) => widget.shadow.querySelectorAll(selector)[number].childNodes[child];
      getSelection().setBaseAndExtent(find(from), start, find(to), end);
    },
    [from, start, to, end],
  );
  return pressCopy();
}

async function pressCopy() {
  await page.evaluate(() => {
    globalThis.copied = undefined;
    const read = ({ clipboardData, defaultPrevented }) => {
      const [plain, markdown] = ["text/plain", "text/markdown"].map((type) => clipboardData.getData(type));
      globalThis.copied = { plain, markdown, isOurs: defaultPrevented };
    };
    document.addEventListener("copy", read, { once: true });
  });
  await page.keyboard.press("Control+C");
  return page.evaluate(() => copied);
}

test("badges in a selection become titles of documents, and footnotes in Markdown", async () => {
  assert.deepEqual(await copy(words(0), 8, words(4), 4), {
    plain: "take 5 days. [Returns] Parcels take 2 days. [Ship*ping] The",
    markdown: `take 5 days. [^1] Parcels take 2 days. [^2] The\n\n[^1]: ${RETURNS_NOTE}\n[^2]: ${SHIPPING_NOTE}`,
    isOurs: true,
  });
});

test("a selection of a generated answer says who wrote it, once and after its words", async () => {
  await page.evaluate(() => widget.clear());
  const supports = [{ start: 0, end: 20, text: "Refunds take 5 days.", sentence: 0 }];
  await page.evaluate(
    ([citation, quoted]) => {
      widget.answer("You wait 5 days. [1] That is all. [1]", [citation], "generated");
      widget.answer("Parcels take 2 days. [2]", [quoted]);
    },
    [{ ...RETURNS, quotes: [], supports }, SHIPPING],
  );
  const wrote = "Written by a language model from the cited sources.";
  assert.deepEqual(await copy(words(0), 4, words(2), 8), {
    plain: `wait 5 days. [Returns] That is\n\n${wrote}`,
    markdown: `wait 5 days. [^1] That is\n\n${wrote}\n\n[^1]: ${RETURNS_NOTE}`,
    isOurs: true,
  });
  const both = await copy(words(2), 6, words(0, 1), 7);
  assert.match(both.plain, /^is all\. \[Returns\]\n\nWritten by [^]*\n\nParcels$/);
  assert.equal(both.plain.split(wrote).length, 2);
  const quoted = await copy(words(0, 1), 0, words(0, 1), 7);
  assert.equal(quoted.plain, "Parcels");
});

test("a selection made with the mouse is copied the same way, badges included", async () => {
  const text = await page.locator(".answer-text").boundingBox();
  await page.mouse.move(text.x + 1, text.y + 12);
  await page.mouse.down();
  await page.mouse.move(text.x + text.width - 2, text.y + 12, { steps: 20 });
  await page.mouse.up();
  assert.equal((await pressCopy()).plain, "Refunds take 5 days. [Returns] Parcels take 2 days. [Ship*ping] The end.");
});

test("a selection that begins in a badge copies the whole badge", async () => {
  assert.equal((await copy(digits(0), 0, words(2), 8)).plain, "[Returns] Parcels");
});

test("a selection that ends in a badge copies the whole badge", async () => {
  const { plain, markdown } = await copy(words(2), 1, digits(1), 1);
  assert.equal(plain, "Parcels take 2 days. [Ship*ping]");
  assert.equal(markdown, `Parcels take 2 days. [^1]\n\n[^1]: ${SHIPPING_NOTE}`);
});

test("a selection of only a badge copies it", async () => {
  assert.equal((await copy(digits(0), 0, digits(0), 1)).plain, "[Returns]");
});

test("a badge that a selection only touches is not copied", async () => {
  assert.equal((await copy(digits(0), 1, words(2), 8)).plain, " Parcels");
  assert.equal((await copy(words(2), 1, digits(1), 0)).plain, "Parcels take 2 days. ");
});

test("a backward selection is copied the same way", async () => {
  assert.equal((await copy(words(2), 8, words(0), 13)).plain, "5 days. [Returns] Parcels");
});

test("a selection over several answers has the text and sources of each and one list of footnotes", async () => {
  await show("Parcels take 2 days. [1] `x*\\[1\\]`", [{ ...SHIPPING, index: 1 }]);
  const { plain, markdown } = await copy(words(4), 5, words(2, 1), 1);
  const list = "2 sources\n\n1 Returns Page 3 Strong evidence\n2 Ship*ping Strong evidence";
  assert.ok(plain.startsWith(`end.\n\n${list}\n\n`), plain);
  assert.match(plain, /\n\nParcels take 2 days\. \[Ship\*ping\] $/);
  assert.match(markdown, /Parcels take 2 days\. \[\^1\]\n\n\[\^1\]: Ship\\\*ping — "Parcels take 2 days\."$/);
});

test("badges without sources and plain brackets are copied as text", async () => {
  await page.evaluate(() => widget.clear());
  await page.evaluate(() => widget.add().append("One. [1] Two \\[7\\]. "));
  assert.equal((await copy(words(0), 0, words(2), 9)).plain, "One. [1] Two [7].");
});

test("a selection outside the answers is left to the browser", async () => {
  await page.evaluate(() => getSelection().selectAllChildren(document.getElementById("before")));
  assert.deepEqual(await pressCopy(), { plain: "", markdown: "", isOurs: false });
});

test("an empty selection copies nothing", async () => {
  await copy(words(0), 3, words(0), 3);
  assert.notEqual((await page.evaluate(() => globalThis.copied))?.isOurs, true);
});

test("a selection in an input is left to the browser", async () => {
  const isOurs = await page.evaluate(() => {
    const box = document.createElement("textarea");
    widget.shadow.querySelector(".answer").append(box);
    getSelection().selectAllChildren(widget.shadow.querySelector(".answer-text"));
    const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    box.dispatchEvent(event);
    return event.defaultPrevented;
  });
  assert.equal(isOurs, false);
});
