// A visitor's first answer from the real demo, in Firefox and in WebKit, or in the one that TEST_BROWSER names.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openBrowser } from "../lib/browser.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { isModelCached } from "../lib/model-cache.mjs";
import { Widget } from "../lib/widget.mjs";

const QUESTION = "Can I get my money back after two weeks?";
const NAMES = { firefox: "Firefox", webkit: "WebKit" };

const { demo } = await startDemoSuite();

for (const id of process.env.TEST_BROWSER ? [process.env.TEST_BROWSER] : Object.keys(NAMES)) {
  describe(NAMES[id], () => {
    let browser, page, widget;

    before(async () => {
      browser = await openBrowser({}, id);
      page = browser.page;
      page.setDefaultTimeout(30_000);
      widget = new Widget(page);
    });

    after(() => browser?.close());

    const card = () => widget.host.locator("[data-role=citation-card][data-open]");
    const badge = () => widget.lastReply.locator("[data-role=marker]").first();
    const focused = () =>
      widget.host.evaluate(
        ({ shadowRoot }) => shadowRoot.activeElement?.dataset.role ?? shadowRoot.activeElement?.localName,
      );

    test("a visitor signs in, asks with the keyboard and gets a cited answer", async () => {
      await page.goto(demo.info.page_url);
      await page.locator("#auth-submit").click();
      await page.locator("body[data-view=chat]").waitFor();
      await widget.askFor(QUESTION);
      assert.match(await widget.lastReply.locator("[data-role=answer]").innerText(), /30 days/);
      assert.ok((await widget.lastReply.locator("[data-role=source]").count()) > 0);
      assert.equal(await focused(), "input", "the next question can be typed at once");
    });

    test("a badge opens a card with its quote for the pointer, and Escape closes it", async () => {
      await badge().hover();
      await card().waitFor();
      const quote = await card().locator("mark").first().innerText();
      assert.ok((await widget.lastReply.locator("[data-role=answer]").innerText()).includes(quote), quote);
      await page.keyboard.press("Escape");
      await card().waitFor({ state: "detached" });
      await page.mouse.move(1, 1);
    });

    test("the keyboard reaches the badge, its card and its source", async () => {
      await widget.find("input").focus();
      for (let presses = 0; (await focused()) !== "marker"; presses++) {
        assert.ok(presses < 20, "Tab does not return to the badge");
        await page.keyboard.press("Shift+Tab");
      }
      await card().waitFor();
      await page.keyboard.press("Enter");
      assert.equal(await focused(), "summary");
      await widget.lastReply.locator("details[open] [data-role=verified-quote]").first().waitFor();
    });

    test("the next visit answers with the model from the cache", async () => {
      while (!(await isModelCached(page))) await page.waitForTimeout(50);
      await page.reload();
      await page.locator("body[data-view=chat]").waitFor();
      await widget.askFor(QUESTION);
      assert.deepEqual(page.errors, []);
    });
  });
}
