// The widget without the features that the oldest supported browsers lack. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, citation, found, json, quoteOf, refusal, result, whole } from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open } = await startWidgetSuite();

/** Runs in the page: deletes what Chrome 103, Firefox 114 or Safari 16.4 lack, except `checkVisibility`, which WebKit's driver uses. */
function deleteFeatures() {
  /** @type {[object, ...string[]][]} */
  const features = [
    [AbortSignal, "any"],
    [Array, "fromAsync"],
    [Array.prototype, "toReversed", "toSorted", "toSpliced", "with"],
    [HTMLElement.prototype, "hidePopover", "popover", "showPopover", "togglePopover"],
    [Intl, "DurationFormat", "Segmenter"],
    [Map, "groupBy"],
    [Object, "groupBy"],
    [Promise, "try", "withResolvers"],
    [Response, "json"],
    [Selection.prototype, "getComposedRanges"],
    [Set.prototype, "difference", "intersection", "isSubsetOf", "isSupersetOf", "union"],
    [String.prototype, "isWellFormed", "toWellFormed"],
    [URL, "canParse", "parse"],
    [globalThis, "requestIdleCallback", "scheduler"],
  ];
  for (const [object, ...names] of features) for (const name of names) Reflect.deleteProperty(object, name);
}

const openOld = (t) => open(t, { init: deleteFeatures });

test("an answer has its sources, cards and links", async (t) => {
  const quote = "Refunds are paid within 5 days.";
  const filler = "This sentence is about nothing in particular. ".repeat(20);
  const excerpt = `${filler}\n\n${quote} ${filler}`;
  const cited = citation({ excerpt, quotes: [quoteOf(excerpt, quote)] });
  site.api.respondWith(whole(answer({ citations: [cited], also_found: [found({ url: "https://shop.example/" })] })));
  const widget = await openOld(t);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  const source = widget.all("source").first();
  await source.locator("[data-role=source-title]").click();
  assert.equal(await source.locator("mark").innerText(), quote);
  const link = source.locator("[data-role=source-link]");
  assert.match(await link.getAttribute("href"), /^https:\/\/shop\.example\/refunds#:~:text=Refunds%20are%20paid/);
  const card = await widget.openCard(widget.element.locator("[part~=marker]").first());
  assert.match(await card.innerText(), /… .*Refunds are paid within 5 days\..* …/s);
});

test("a refusal links to the nearest passages", async (t) => {
  site.api.respondWith(whole(refusal({ nearest: [found({ url: "https://shop.example/deliveries" })] })));
  const widget = await openOld(t);
  await widget.ask(QUESTION, "refused");
  assert.equal(await widget.role("nearest").locator("a").getAttribute("href"), "https://shop.example/deliveries");
});

test("instant results show, with the words of the question marked", async (t) => {
  site.api.search = json(200, { results: [result()] });
  const widget = await openOld(t);
  await widget.role("input").focus();
  await widget.becomes("ready");
  await widget.role("input").pressSequentially("when are refunds paid");
  await widget.until(async () => (await widget.role("result").locator("mark").count()) === 3, "marked words");
  assert.deepEqual(await widget.role("result").locator("mark").allInnerTexts(), ["Refunds", "are", "paid"]);
});

for (const theme of ["light", "dark"]) {
  test(`questions have a background without color-mix, which Chrome 103 to 110 lack, in the theme ${theme}`, async (t) => {
    const widget = await open(t, {
      attributes: { theme },
      setUp: (page) =>
        page.route("**/widget/*.js", async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, body: (await response.text()).replaceAll("color-mix(", "no-color-mix(") });
        }),
    });
    await widget.ask(QUESTION);
    const background = await widget.role("user").evaluate((question) => getComputedStyle(question).backgroundColor);
    assert.notEqual(background, "rgba(0, 0, 0, 0)");
  });
}
