// The hint that badges can be opened, which comes with a visitor's first answer. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, whole } from "./support/answers.mjs";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, openWithClock } = await startWidgetSuite();

const hint = (widget) => widget.role("badge-hint");
/** Each page of the browser shares its storage; a new visitor has none. */
const forget = (page) => page.evaluate(() => localStorage.removeItem("evidence-chat:hint"));
const hidden = { state: "hidden" };

test("the hint comes with the first answer, and goes when a source is opened; the next page shows none", async (t) => {
  const widget = await open(t);
  await forget(widget.page);
  await widget.ask(QUESTION);
  await hint(widget).waitFor();
  assert.match(await hint(widget).innerText(), /open it to see the words/);
  await widget.element.locator("[part~=marker]").first().click();
  await hint(widget).waitFor(hidden);

  await widget.page.reload();
  await widget.ask(QUESTION);
  await sleep(500);
  assert.equal(await hint(widget).count(), 0);
});

test("the hint goes after ten seconds, and does not come back", async (t) => {
  const widget = await openWithClock(t);
  await forget(widget.page);
  await widget.ask(QUESTION);
  await hint(widget).waitFor();
  await widget.page.clock.runFor(9_000);
  assert.equal(await hint(widget).count(), 1);
  await widget.page.clock.runFor(2_000);
  await hint(widget).waitFor(hidden);
  await widget.ask("And for a gift?");
  assert.equal(await hint(widget).count(), 0);
});

test("the hint waits for an answer that has badges", async (t) => {
  const widget = await open(t);
  await forget(widget.page);
  site.api.respondWith(whole(answer({ text: ["Without a source."], citations: [] })), whole(answer()));
  await widget.ask(QUESTION);
  await sleep(300);
  assert.equal(await hint(widget).count(), 0);
  await widget.ask(QUESTION);
  await hint(widget).waitFor();
});

test("the hint does not come where the browser cannot remember it", async (t) => {
  const init = () =>
    Object.defineProperty(globalThis, "localStorage", {
      get() {
        throw new DOMException("blocked", "SecurityError");
      },
    });
  const widget = await open(t, { init });
  await widget.ask(QUESTION);
  await sleep(300);
  assert.equal(await hint(widget).count(), 0);
});
