// The set-up of a browser test file: one site and one browser for all its tests.
import { after } from "node:test";
import { BROWSER, openBrowser } from "./browser.mjs";

/** Chromium without windows starts in half the processor time. Tests of the whole product take the browser that visitors have. */
const SHELL = BROWSER === "chromium" ? process.env.CHROMIUM_SHELL_PATH : undefined;

/**
 * Starts a site and a browser, and stops both after the last test of the file.
 * @template Site
 * @param {() => Promise<Site & { close(): Promise<void> }>} startSite
 * @param {import("playwright-core").BrowserContextOptions & { args?: string[] }} [browserOptions]
 */
export async function startSuite(startSite, browserOptions) {
  const site = await startSite();
  let browser;
  // Registered first, so that the site also stops if the browser does not start.
  after(async () => {
    await browser?.close();
    await site.close();
  });
  browser = await openBrowser(SHELL ? { executablePath: SHELL, ...browserOptions } : browserOptions);
  return { site, browser, page: browser.page };
}
