// Passages in each place that shows them: answers, stored ones, also-found passages and instant results. Real Chromium and embedder,
// simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, citation, found, json, LAID_OUT_ANSWER, laidOut, quoteOf, result, whole } from "./support/answers.mjs";
import { openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, withConversation } = await startWidgetSuite();

const verified = (reply) => reply.locator("[data-role=verified-quote]");
const excerpt = (reply) => reply.locator("[data-role=excerpt]");
const styleOf = (locator, property) =>
  locator.evaluate((element, property) => getComputedStyle(element)[property], property);
const openSource = (reply) => reply.locator("[data-role=source] summary").click();

test("an answer shows its passage as it is laid out", async (t) => {
  site.api.respondWith(whole(answer({ deltas: [LAID_OUT_ANSWER], citations: [laidOut()] })));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  await openSource(reply);
  assert.equal(await verified(reply).count(), 1);
  assert.equal(await excerpt(reply).locator("strong").innerText(), "Theft");
  assert.deepEqual(await excerpt(reply).locator("th, td").allInnerTexts(), ["Damage", "Excluded", "Theft", "yes"]);
  assert.equal(await styleOf(excerpt(reply), "borderInlineStartStyle"), "solid");
  assert.equal(await reply.locator("[data-role=answer] .chain").innerText(), "Excluded");
});

test("stored answers, also-found passages and instant results show passages as they are laid out", async (t) => {
  const { index: _, ...passage } = laidOut({ url: undefined });
  withConversation([{ role: "assistant", content: LAID_OUT_ANSWER, citations: [laidOut({ available: true })] }]);
  site.api.search = json(200, { results: [result(passage)] });
  site.api.respondWith(
    whole(answer({ deltas: [LAID_OUT_ANSWER], citations: [laidOut()], also_found: [found(passage)] })),
  );
  const widget = await open(t);
  await openConversation(widget);
  const restored = await widget.reply("done");
  await openSource(restored);
  assert.equal(await excerpt(restored).locator("table").count(), 1);
  assert.equal(await verified(restored).count(), 1);
  assert.equal(await restored.locator("[data-role=answer] .chain").innerText(), "Excluded");

  const reply = await widget.ask(QUESTION);
  await reply.locator("[data-role=also-found] > summary").click();
  await reply.locator("[data-role=found] summary").click();
  assert.equal(await reply.locator("[data-role=found] table").count(), 1);

  await widget.role("input").pressSequentially("When are refunds paid");
  await widget.all("result").first().click();
  assert.equal(await widget.role("result-passage").locator("table").count(), 1);
  assert.equal(await widget.role("result-passage").locator("mark").first().innerText(), "Theft");
});

test("a passage without a layout is shown as it is written, and its quote is verified", async (t) => {
  const text = "# Fees *and* more\n  one\ttwo\n\nRefunds are paid within 5 days.";
  const quotes = [quoteOf(text, "Refunds are paid within 5 days.")];
  site.api.respondWith(whole(answer({ citations: [citation({ excerpt: text, quotes })] })));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  await openSource(reply);
  const paragraphs = excerpt(reply).locator("p");
  assert.deepEqual(await paragraphs.allTextContents(), text.split("\n\n"));
  assert.equal(await styleOf(paragraphs.first(), "whiteSpaceCollapse"), "preserve");
  assert.equal(await excerpt(reply).locator("mark").innerText(), "Refunds are paid within 5 days.");
  assert.equal(await verified(reply).count(), 1);
});
