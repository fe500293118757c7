// The set-up of a test file: one site and one browser for all its tests.
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { openBrowser } from "../../../../tests/lib/browser.mjs";
import { openWidgetPage } from "./widget-page.mjs";
import { serveWidget } from "./widget-site.mjs";

/** The default question, and the API's default answer. */
export const QUESTION = "How do I get my money back?";
export const ANSWER = /Refunds are paid within 5 days\./;

/** Starts both for all tests of a file, and resets them before each test. `open(t, options)` is `openWidgetPage`. */
export async function startSuite() {
  const site = await serveWidget();
  const browser = await openBrowser();
  after(async () => {
    await browser.close();
    await site.close();
  });
  beforeEach(() => site.reset());
  const open = (t, options) => openWidgetPage(t, browser, site, options);
  /** Opens a page with a clock that the test can advance. */
  const openWithClock = (t, options) => open(t, { ...options, setUp: (page) => page.clock.install() });
  /** The bodies of the questions so far. */
  const sent = () => site.api.questions().map(({ body }) => body);
  /** A retry must be identical byte for byte: the server identifies a question by its id and its body. */
  const assertSentTwiceAlike = () => {
    const [first, second, ...others] = sent();
    assert.equal(second, first);
    assert.deepEqual(others, []);
  };
  return { site, browser, open, openWithClock, sent, assertSentTwiceAlike };
}
