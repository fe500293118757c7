// The parser of Markdown, which loads with the first passage that needs it. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, citation, found, LAID_OUT_ANSWER, laidOut, json, result, whole } from "./support/answers.mjs";
import { ANSWER, openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, withConversation } = await startWidgetSuite();

const isParser = (path) => path.includes("/passages-");
const MARKED = {
  excerpt: "Refunds are paid within **5 days**.",
  quotes: [
    { start: 0, end: 35, text: "Refunds are paid within **5 days**.", plain: "Refunds are paid within 5 days." },
  ],
};
const withMarkup = () => whole(answer({ citations: [citation(MARKED)] }));
const verified = (reply) => reply.locator("[data-role=verified-quote]");
const strong = (reply) => reply.locator("[data-role=excerpt] strong");
const excerpt = (reply) => reply.locator("[data-role=excerpt]");
const styleOf = (locator, property) =>
  locator.evaluate((element, property) => getComputedStyle(element)[property], property);
const openSource = (reply) => reply.locator("[data-role=source] summary").click();

test("passages that say how they are laid out need no parser", async (t) => {
  site.api.respondWith(whole(answer({ deltas: [LAID_OUT_ANSWER], citations: [laidOut()] })));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  await openSource(reply);
  assert.equal(await verified(reply).count(), 1);
  assert.equal(await strong(reply).innerText(), "Theft");
  assert.deepEqual(await excerpt(reply).locator("th, td").allInnerTexts(), ["Damage", "Excluded", "Theft", "yes"]);
  assert.equal(await styleOf(excerpt(reply), "borderInlineStartStyle"), "solid");
  assert.equal(await reply.locator("[data-role=answer] .chain").innerText(), "Excluded");
  assert.ok(!site.requests.some(isParser));
});

test("the parser loads with the first passage that does not say how it is laid out", async (t) => {
  const { excerpt, blocks } = laidOut();
  const also_found = [found({ excerpt, blocks })];
  site.api.respondWith(whole(answer({ deltas: [LAID_OUT_ANSWER], citations: [laidOut()], also_found })));
  const widget = await open(t);
  await widget.ask(QUESTION);
  assert.ok(!site.requests.some(isParser));
  site.api.respondWith(
    whole(answer({ deltas: [LAID_OUT_ANSWER], citations: [laidOut()], also_found: [found({ excerpt })] })),
  );
  await widget.ask(QUESTION);
  assert.ok(site.requests.some(isParser));
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
  assert.ok(!site.requests.some(isParser));
});

test("an answer waits for the parser, and its quotes are verified with it", async (t) => {
  const { promise: held, resolve: release } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
  site.interfere = async (path) => {
    if (isParser(path)) await held;
    return false;
  };
  site.api.respondWith(withMarkup());
  const widget = await open(t);
  const asked = widget.ask(QUESTION);
  const text = widget.all("answer").first();
  await text.getByText(ANSWER).waitFor();
  assert.equal(await widget.all("source").count(), 0);
  release();
  const reply = await asked;
  await openSource(reply);
  assert.equal(await verified(reply).count(), 1);
  assert.equal(await strong(reply).innerText(), "5 days");
  assert.equal(await styleOf(excerpt(reply), "borderInlineStartStyle"), "solid");
});

test("without the parser, an answer shows its passages as they are written, and unverified", async (t) => {
  site.interfere = (path, response) => isParser(path) && response.writeHead(503).end();
  site.api.respondWith(withMarkup());
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  assert.match(await reply.innerText(), ANSWER);
  await openSource(reply);
  assert.equal(await excerpt(reply).innerText(), MARKED.excerpt);
  assert.equal(await styleOf(excerpt(reply).locator("p"), "whiteSpaceCollapse"), "preserve");
  assert.deepEqual([await verified(reply).count(), await strong(reply).count()], [0, 0]);
});
