// How the sentences of an answer appear. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, stepwise, whole } from "./support/answers.mjs";
import { openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, withConversation } = await startWidgetSuite();

const SENTENCES = ["Refunds are paid within 5 days. [1]", " Returns are free. [1]", " Gifts can be exchanged. [1]"];
/** Records the sentences whose animation begins. */
const setUp = (page) =>
  page.addInitScript(() => {
    const shown = (globalThis["shown"] = []);
    document.addEventListener("DOMContentLoaded", () => {
      const { shadowRoot } = document.querySelector("evidence-chat");
      shadowRoot.addEventListener("animationstart", (/** @type {any} */ { target }) => {
        if (target.matches(".answer-text > span")) shown.push(target.textContent);
      });
    });
  });
const shown = (widget) => widget.page.evaluate(() => globalThis["shown"]);
const spans = (widget) =>
  widget.role("answer").evaluate((text) =>
    [...text.querySelectorAll("span")].map((span) => ({
      text: span.textContent,
      isAnimated: getComputedStyle(span).animationName !== "none",
    })),
  );

test("sentences that come at once appear one after the other; all are in the page, and the first one at once", async (t) => {
  site.api.respondWith(whole(answer({ deltas: SENTENCES })));
  const widget = await open(t, { setUp });
  await widget.ask(QUESTION);
  const [first, second, third] = await spans(widget);
  assert.deepEqual([first.isAnimated, second.isAnimated, third.isAnimated], [false, true, true]);
  const delays = await widget
    .role("answer")
    .evaluate((text) => [...text.children].map((span) => Number.parseFloat(span.style.animationDelay)));
  assert.ok(delays[0] === 0 && delays[1] > 0 && delays[2] > delays[1] && delays[2] <= 540, delays.join());
  assert.equal(
    await widget.role("answer").innerText(),
    "Refunds are paid within 5 days. 1 Returns are free. 1 Gifts can be exchanged. 1",
  );
  await widget.until(async () => (await shown(widget)).length === 2, "the animations");
  assert.deepEqual(await shown(widget), [" Returns are free. 1", " Gifts can be exchanged. 1"]);
  // Screen readers hear the complete answer, once.
  assert.match(await widget.role("announcer").innerText(), /Refunds are paid .* Gifts can be exchanged\./s);
});

test("sentences that come one by one do not wait for each other, and many pieces do not add up", async (t) => {
  const steps = stepwise(answer({ deltas: SENTENCES }));
  site.api.respondWith(steps, whole(answer({ deltas: Array.from({ length: 200 }, (_, n) => `word${n} `) })));
  const widget = await open(t);
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  const delay = (at) =>
    widget.role("answer").evaluate((text, n) => Number.parseFloat(text.children[n].style.animationDelay), at);
  steps.step(2);
  await widget.role("answer").getByText("Refunds are paid").waitFor();
  await widget.page.waitForTimeout(400);
  steps.step(1);
  await widget.role("answer").getByText("Returns are free").waitFor();
  assert.equal(await delay(1), 0);
  steps.step(10);
  await widget.reply("done");
  await widget.ask(QUESTION);
  assert.ok((await delay(199)) <= 540);
});

test("nothing is animated for visitors who prefer reduced motion, and in the history", async (t) => {
  site.api.respondWith(whole(answer({ deltas: SENTENCES })));
  const calm = await open(t, { setUp: (page) => page.emulateMedia({ reducedMotion: "reduce" }) });
  await calm.ask(QUESTION);
  assert.deepEqual(
    (await spans(calm)).filter(({ isAnimated }) => isAnimated),
    [],
  );
  withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: SENTENCES.join("") },
  ]);
  const widget = await open(t);
  await openConversation(widget);
  await widget.role("answer").waitFor();
  assert.deepEqual(await spans(widget), []);
});
