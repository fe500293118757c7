// The set-up of a test file: one site and one browser for all its tests.
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
  return { site, browser, open: (t, options) => openWidgetPage(t, browser, site, options) };
}
