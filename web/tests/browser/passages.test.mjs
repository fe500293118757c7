// The parser and the styles of passages, which load with the first question. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, citation, silence, whole } from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open } = await startWidgetSuite();

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

test("the parser loads with the first question, before its answer", async (t) => {
  site.api.respondWith(silence);
  const widget = await open(t);
  await widget.role("input").focus();
  await widget.becomes("ready");
  assert.ok(!site.requests.some(isParser));
  await widget.ask(QUESTION, "pending");
  await widget.until(() => site.requests.some(isParser), "the request");
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
