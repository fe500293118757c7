// How often visitors look at citations, counted for the insights. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { tokenFor } from "./pages/widget/page.mjs";

const { site, open, openWithClock } = await startWidgetSuite();

const SEND_AFTER_MS = 10_000;
const counts = () => site.api.citationUses.map(({ body }) => JSON.parse(body));
const untilSent = async (number) => {
  while (site.api.citationUses.length < number) await new Promise((resolve) => setTimeout(resolve, 20));
};

test("counts cards, opened citations and copies, and sends them together without text", async (t) => {
  const widget = await openWithClock(t);
  await widget.ask(QUESTION);
  const { page } = widget;
  await widget.role("marker").hover();
  await page.clock.runFor(300);
  await widget.role("citation-card").waitFor();
  await widget.role("marker").click();
  await widget.all("copy").first().click();
  await page.clock.runFor(SEND_AFTER_MS / 2);
  assert.deepEqual(counts(), []);
  await page.clock.runFor(SEND_AFTER_MS);
  await untilSent(1);
  assert.deepEqual(counts(), [{ hovered: 1, opened: 1, copied: 1 }]);
  const [{ headers }] = site.api.citationUses;
  assert.equal(headers.authorization, `Bearer ${tokenFor("visitor")}`);

  await page.clock.runFor(3 * SEND_AFTER_MS);
  assert.equal(counts().length, 1, "nothing is sent while nothing is used");
});

test("a second answer does not count twice, and what was counted is sent when the page is left", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.ask(QUESTION);
  await widget.all("marker").last().click();
  await widget.page.reload();
  await untilSent(1);
  const [sent, ...others] = counts();
  assert.deepEqual([sent.opened, sent.copied, others.length], [1, 0, 0]);
});

test("listens to the end of the page only while there is something to send, because a listener keeps a removed widget", async (t) => {
  const init = () => {
    globalThis["listening"] = new Set();
    const { addEventListener, removeEventListener } = globalThis;
    globalThis.addEventListener = (/** @type {any[]} */ ...given) => {
      if (given[0] === "pagehide") globalThis["listening"].add(given[1]);
      return Reflect.apply(addEventListener, globalThis, given);
    };
    globalThis.removeEventListener = (/** @type {any[]} */ ...given) => {
      if (given[0] === "pagehide") globalThis["listening"].delete(given[1]);
      return Reflect.apply(removeEventListener, globalThis, given);
    };
  };
  const widget = await open(t, { init, setUp: (page) => page.clock.install() });
  const listeners = () => widget.page.evaluate(() => globalThis["listening"].size);
  await widget.ask(QUESTION);
  await widget.page.clock.runFor(300);
  assert.equal(await listeners(), 0);
  await widget.all("marker").last().click();
  await widget.until(async () => (await listeners()) === 1, "a listener");
  await widget.page.clock.runFor(SEND_AFTER_MS);
  await untilSent(1);
  assert.equal(await listeners(), 0);
});
