// The set-up of a browser test file: one site and one browser for all its tests.
import { after } from "node:test";
import { openBrowser } from "./browser.mjs";

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
  browser = await openBrowser(browserOptions);
  return { site, browser, page: browser.page };
}
