// Passages that say how they are laid out, and quotes with what belongs to them.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { openCitationsPage, startCitationsSite, VIEWPORT } from "./pages/citations/page.mjs";
import { citation, LAID_OUT_ANSWER, laidOut, quoteOf } from "./support/answers.mjs";

const { site, page } = await startSuite(startCitationsSite, { viewport: VIEWPORT, reducedMotion: "reduce" });
await openCitationsPage(page, site);

beforeEach(() => page.evaluate(() => widget.clear()));

afterEach(async () => {
  await page.keyboard.press("Escape");
  await page.clock.runFor(1000);
  assert.deepEqual(page.errors.splice(0), []);
  assert.deepEqual(page.requests.splice(0), []);
});

const show = (text, citations) =>
  page.evaluate(([text, citations]) => widget.answer(text, citations), [text, citations]);
const role = (name) => page.locator(`[data-role="${name}"]`);
const card = () => page.locator("[data-role=citation-card][data-open]");
const texts = (locator) => locator.evaluateAll((elements) => elements.map((element) => element.textContent));
const styleOf = (locator, property) =>
  locator.evaluate((element, property) => getComputedStyle(element)[property], property);
/** The parts of a text that are lighter. */
const light = (name) => texts(role(name).locator(".chain"));
async function openSource() {
  await role("source").locator("summary").click();
  return role("excerpt");
}

async function openCard() {
  await page.evaluate(() => /** @type {HTMLElement} */ (widget.shadow.querySelector(".log")).focus());
  await page.keyboard.press("Tab");
  await page.clock.runFor(200);
}

/** A citation of plain text with one quote in pieces. */
function stated(text, pieces = [{ text }], plain = undefined, fields = {}) {
  const quotes = [{ ...quoteOf(text), pieces, plain, ...fields }];
  const blocks = { blocks: [{ kind: "paragraph", start: 0, end: text.length }] };
  return citation({ excerpt: text, blocks, quotes });
}
const NOT_COVERED = stated(
  "Theft",
  [{ text: "Not covered:", role: "lead_in" }, { text: "Theft" }],
  "Not covered: Theft",
);

test("a passage is drawn as it is laid out, and the quote is marked", async () => {
  await show(LAID_OUT_ANSWER, [laidOut()]);
  const excerpt = await openSource();
  assert.equal(await excerpt.locator("> p sup").textContent(), "1");
  assert.deepEqual(await texts(excerpt.locator("> ul > li > p")), ["1. Fire", "Always.", "2. Water"]);
  assert.deepEqual(await texts(excerpt.locator("li li")), ["- at home"]);
  assert.deepEqual(await texts(excerpt.locator("thead th")), ["Damage", "Excluded"]);
  assert.deepEqual(await texts(excerpt.locator("tbody td")), ["Theft", "yes"]);
  assert.equal(await excerpt.locator("td strong").textContent(), "Theft");
  assert.equal(await excerpt.locator("pre").textContent(), "run x\n  y");
  assert.deepEqual(await texts(excerpt.locator("mark")), ["Theft", "yes"]);
  assert.equal(await role("verified-quote").count(), 1);
});

test("markers of items hang in front of their text", async () => {
  await show(LAID_OUT_ANSWER, [laidOut()]);
  const marker = (await openSource()).locator(".item-marker").first();
  assert.equal(await styleOf(marker.locator("xpath=ancestor::ul[1]"), "listStyleType"), "none");
  const [box, item] = [await marker.boundingBox(), await marker.locator("xpath=ancestor::li[1]").boundingBox()];
  assert.ok(box.x >= item.x - 1 && box.width >= 15, JSON.stringify({ box, item }));
});

test("hostile layouts and texts are drawn as text", async () => {
  const excerpt = "<img src=x onerror=alert(1)>\n[a](javascript:alert(1))";
  const blocks = {
    blocks: [
      { kind: "item", start: 5, end: 3 },
      { kind: "row", start: 0, end: 20, cells: [[3, 900]] },
    ],
  };
  const marks = [{ kind: "link", start: 0, end: excerpt.length }];
  await show("Words. [1]", [citation({ excerpt, blocks: { ...blocks, marks }, quotes: [] })]);
  const shown = await openSource();
  assert.equal((await shown.textContent()).replace(/\s/g, ""), excerpt.replace(/\s/g, ""));
  assert.equal(await shown.locator("img, a").count(), 0);
});

test("what belongs to a quote is lighter than its words, in the answer and in the card", async () => {
  await show("Not covered: Theft [1]", [NOT_COVERED]);
  assert.deepEqual(await light("answer"), ["Not covered:"]);
  const [chain, words] = [role("answer").locator(".chain"), role("answer")];
  assert.notEqual(await styleOf(chain, "color"), await styleOf(words, "color"));
  await openCard();
  assert.equal(await card().locator("[data-role=card-statement]").textContent(), "Not covered: Theft");
  assert.deepEqual(await light("card-statement"), ["Not covered:"]);
  assert.equal(await card().locator("mark").innerText(), "Theft");
  assert.equal(await card().locator("[data-role=verified-quote]").count(), 1);
  const id = await role("marker").getAttribute("aria-describedby");
  const description = await page.evaluate((id) => widget.shadow.getElementById(id).textContent, id);
  assert.match(description, /Not covered: Theft/);
});

test("a card without anything that belongs to the quote shows only the passage", async () => {
  await show("Theft [1]", [stated("Theft")]);
  await openCard();
  assert.equal(await card().locator("mark").innerText(), "Theft");
  assert.equal(await role("card-statement").count(), 0);
  assert.deepEqual(await light("answer"), []);
});

test("a quote after one with the same line above it is whole where it stands alone", async () => {
  const fire = stated("Fire", undefined, undefined, { whole: "Not covered: Fire" });
  await show("Not covered: Theft [1] Fire [2]", [NOT_COVERED, { ...fire, index: 2, title: "Fire" }]);
  assert.deepEqual(await light("answer"), ["Not covered:"]);
  await page.evaluate(() => /** @type {HTMLElement} */ (widget.shadow.querySelectorAll(".marker")[1]).focus());
  await page.clock.runFor(200);
  assert.equal(await card().locator("[data-role=card-statement]").textContent(), "Not covered: Fire");
  assert.deepEqual(await light("card-statement"), ["Not covered: "]);
  assert.equal(await card().locator("[data-role=verified-quote]").count(), 1);
  assert.match(await page.evaluate(() => widget.answers[0].markdown()), /— "Not covered: Fire"$/);
});

test("a sentence that streams in parts has its chain lighter when the sources arrive", async () => {
  await page.evaluate(
    (citations) => {
      const answer = widget.add();
      for (const part of ["Other words. [2]\n\nNot cov", "ered:", " Theft", " [", "1]"]) answer.arrive(part);
      answer.showSources(citations);
      answer.showSources(citations);
    },
    [NOT_COVERED, citation({ index: 2 })],
  );
  assert.deepEqual(await light("answer"), ["Not cov", "ered:"]);
  assert.equal(await role("answer").textContent(), "Other words. 2\n\nNot covered: Theft 1");
});

test("a sentence that does not consist of the pieces has no lighter part, and is not verified", async () => {
  for (const text of [
    "Not covered: Theft and fire [1]",
    "Not really covered: Theft [1]",
    "Theft [1]",
    "Covered: Theft [1]",
  ]) {
    await page.evaluate(() => widget.clear());
    await show(text, [NOT_COVERED]);
    assert.deepEqual(await light("answer"), [], text);
    await openSource();
    assert.equal(await role("verified-quote").count(), 0, text);
  }
});

test("chains are lost neither for screen readers nor in copies", async () => {
  await show("Not covered: Theft [1]", [NOT_COVERED]);
  assert.equal(await role("answer").textContent(), "Not covered: Theft 1");
  assert.equal(await role("answer").locator("[aria-hidden]").count(), 0);
  const copies = await page.evaluate(() => [widget.answers[0].plainText(), widget.answers[0].markdown()]);
  assert.equal(copies[0], "Not covered: Theft [Refunds]");
  assert.match(copies[1], /^Not covered: Theft \[\^1\]\n\n\[\^1\]: .* — "Not covered: Theft"$/);
});

test("colours that the system forces show the whole sentence", async () => {
  await page.emulateMedia({ forcedColors: "active" });
  try {
    await show("Not covered: Theft [1]", [NOT_COVERED]);
    const [chain, words] = [role("answer").locator(".chain"), role("answer")];
    assert.equal(await styleOf(chain, "color"), await styleOf(words, "color"));
  } finally {
    await page.emulateMedia({ forcedColors: "none" });
  }
});
