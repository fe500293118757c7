// The example page of the package, as a visitor uses it. SCREENSHOT_DIR=docs takes the picture of its README.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serveExample } from "../../embedder-wasm/npm/example/serve.mjs";
import { openBrowser } from "../lib/browser.mjs";

const SCREENSHOTS = process.env.SCREENSHOT_DIR;

let server, url, browser, page;

before(async () => {
  ({ server, url } = await serveExample());
  browser = await openBrowser({ viewport: { width: 900, height: 860 }, deviceScaleFactor: SCREENSHOTS ? 2 : 1 });
  page = browser.page;
});

after(async () => {
  await browser?.close();
  server?.close();
});

const status = () => page.locator("#status");

/** Types letter by letter, each of which asks a new question, and returns the final first result. */
async function best(question) {
  await page.locator("#query").fill("");
  await page.locator("#query").pressSequentially(question, { delay: 5 });
  await page.locator("li[data-scored]").first().waitFor();
  await page.waitForFunction((text) => document.getElementById("results").dataset.question === text, question);
  return page.locator("li").first().textContent();
}

test("the example finds the sentence with the same meaning", async () => {
  await page.goto(url);
  await status().filter({ hasText: "Ready in" }).waitFor();
  assert.match(await status().textContent(), /model downloaded/);
  assert.match(await best("How long does shipping take?"), /three to five working days/);
  assert.match(await best("I forgot how to log in"), /new password/);
  assert.match(await best("Can I send it back and get my money?"), /full refund/);
  if (SCREENSHOTS) await page.locator("main").screenshot({ path: join(SCREENSHOTS, "embedder-example.png") });
});

test("the next visit loads the model from the cache", async () => {
  await page.waitForTimeout(500);
  await page.reload();
  await status().filter({ hasText: "Ready in" }).waitFor();
  assert.match(await status().textContent(), /from the browser's cache/);
  assert.deepEqual(page.errors, []);
});
