// The set-up of a test file: one site and one browser for all its tests.
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { openBrowser } from "../../../../tests/lib/browser.mjs";
import { openWidgetPage } from "./widget-page.mjs";
import { serveWidget } from "./widget-site.mjs";

/** A question for tests in which it does not matter, and what the API answers unless a test says otherwise. */
export const QUESTION = "How do I get my money back?";
export const ANSWER = /Refunds are paid within 5 days\./;

/** Starts both, until the file's last test is over. `open(t, options)` is `openWidgetPage` there; each test begins afresh. */
export async function startSuite() {
  const site = await serveWidget();
  const browser = await openBrowser();
  after(async () => {
    await browser.close();
    await site.close();
  });
  beforeEach(() => site.reset());
  const open = (t, options) => openWidgetPage(t, browser, site, options);
  /** With a clock that the test can put forward. */
  const openWithClock = (t, options) => open(t, { ...options, setUp: (page) => page.clock.install() });
  /** The bodies of the questions so far. */
  const sent = () => site.api.questions().map(({ body }) => body);
  /** The one repeat has to be the same to the byte: the server knows a question by its id and its body. */
  const assertSentTwiceAlike = () => {
    const [first, second, ...others] = sent();
    assert.equal(second, first);
    assert.deepEqual(others, []);
  };
  return { site, browser, open, openWithClock, sent, assertSentTwiceAlike };
}
