// The set-up of a test file about the whole widget.
import assert from "node:assert/strict";
import { beforeEach } from "node:test";
import { startSuite } from "../../../../../tests/lib/suite.mjs";
import { openWidgetPage } from "./page.mjs";
import { startWidgetSite } from "./site.mjs";

/** The default question, and the API's default answer. */
export const QUESTION = "How do I get my money back?";
export const ANSWER = /Refunds are paid within 5 days\./;

/** Starts site and browser, and resets the site before each test. `open(t, options)` is `openWidgetPage`. */
export async function startWidgetSuite() {
  const { site, browser } = await startSuite(startWidgetSite);
  beforeEach(() => site.reset());
  const open = (t, options) => openWidgetPage(t, browser, site, options);
  /** Opens a page with a clock that the test can advance. */
  const openWithClock = (t, options) => open(t, { ...options, setUp: (page) => page.clock.install() });
  /** The bodies of the questions that were sent. */
  const sent = () => site.api.questions().map(({ body }) => body);
  /** A retry must be identical byte for byte: the server identifies a question by its id and its body. */
  const assertSentTwiceAlike = () => {
    const [first, second, ...others] = sent();
    assert.equal(second, first);
    assert.deepEqual(others, []);
  };
  return { site, browser, open, openWithClock, sent, assertSentTwiceAlike };
}
