// Instant results: what fits a question while it is typed, by keyboard, by touch, and with an API that is slow, fails or lies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { failure, json, quoteOf, result } from "./support/answers.mjs";
import { tokenFor } from "./pages/widget/page.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, sent } = await startWidgetSuite();

const RESULTS = [
  result(),
  result({ title: "Deliveries", section: "Deliveries › Abroad", url: "https://shop.example/deliveries?a=1#top" }),
  result({ title: "Printed", section: undefined, page: undefined, url: undefined }),
];

const finding = (...results) => (site.api.search = json(200, { results }));
const queries = () => site.api.searches.map(({ body }) => JSON.parse(body).query);

/** Opens a page whose model is loaded, with the focus in the question box. */
async function openReady(t, options) {
  const widget = await open(t, options);
  if (options?.attributes?.mode === "floating") await widget.role("launcher").click();
  await widget.role("input").focus();
  // A floating widget has no box of its own.
  await widget.page.locator('evidence-chat[data-state="ready"]').waitFor({ state: "attached" });
  return widget;
}

const type = (widget, text, delay = 0) => widget.role("input").pressSequentially(text, { delay });
const isOpen = (widget) => widget.role("results").isVisible();
const closed = (widget) => widget.until(async () => !(await isOpen(widget)), "the list is closed");
const selected = (widget) =>
  widget
    .all("result")
    .evaluateAll((options) => options.findIndex((option) => option.getAttribute("aria-selected") === "true"));

test("results show title, place and the sentence with the words of the question, and typing goes on", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  await type(widget, "when are refunds pai");
  await widget.until(async () => (await widget.all("result").first().locator("mark").count()) === 3, "marked words");
  const [first] = await widget.all("result").all();
  assert.match(await first.innerText(), /Refunds\s+Money · Page 3\s+Refunds are paid within 5 days\./);
  assert.deepEqual(await first.locator("mark").allInnerTexts(), ["Refunds", "are", "paid"]);
  assert.equal(await widget.role("results-count").innerText(), "3 places to look");
  await type(widget, "d");
  assert.equal(await widget.role("input").inputValue(), "when are refunds paid");
});

test("a search sends the text, its vector and the model with the visitor's token, and Enter asks", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t, { attributes: { assistant: "shop" } });
  await type(widget, "refunds?");
  await widget.role("result").waitFor();
  const { method, headers, body } = site.api.searches.at(-1);
  const { embedding, ...rest } = JSON.parse(body);
  const [{ detail }] = await widget.events("ready");
  assert.deepEqual(rest, { query: "refunds", model: detail.fingerprint, limit: 4, assistant: "shop" });
  assert.equal(embedding.length, 384);
  assert.deepEqual([method, headers.authorization], ["POST", `Bearer ${tokenFor("visitor")}`]);
  await widget.role("input").press("Enter");
  await widget.reply("done");
  assert.equal(JSON.parse(sent()[0]).message, "refunds?");
  await closed(widget);
});

test("the pause after the last key decides: fast typing costs few searches, and none before the model is loaded", async (t) => {
  finding(...RESULTS);
  const widget = await open(t);
  site.api.searches.length = 0;
  await widget.role("input").focus();
  await widget.becomes("ready");
  await type(widget, "how do I get my money back", 5);
  await widget.role("result").waitFor();
  await widget.until(() => queries().at(-1) === "how do I get my money back", "the last text is searched");
  assert.ok(queries().length <= 6, `${queries().length} searches: ${queries().join(", ")}`);
});

test("what cannot change the results is not searched again", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  for (const text of ["re", " ", "?", "!"]) await type(widget, text, 90);
  await sleep(300);
  assert.deepEqual(queries(), [], "too short");
  await widget.role("input").fill("refund");
  await widget.role("result").waitFor();
  for (const text of ["  ", "?", " "]) await type(widget, text, 90);
  await sleep(200);
  assert.deepEqual(queries(), ["refund"]);
  await widget.role("input").fill("refunds");
  await widget.until(() => queries().length === 2, "another word");
  await widget.role("input").press("Backspace");
  await sleep(300);
  assert.deepEqual(queries(), ["refund", "refunds"], "results of a minute ago are kept");
  assert.ok(await isOpen(widget));
});

test("a later text cancels the search before it, whose results never show", async (t) => {
  const held = [];
  site.api.search = (response, recorded) => held.push({ response, recorded });
  const widget = await openReady(t);
  await widget.role("input").fill("refunds");
  await widget.until(() => held.length === 1, "the first search");
  await widget.role("input").fill("deliveries");
  await widget.until(() => held.length === 2, "the second search");
  await widget.until(() => held[0].recorded.isCut, "the first one is cancelled");
  json(200, { results: [RESULTS[1]] })(held[1].response);
  await widget.role("result").waitFor();
  assert.match(await widget.role("result").innerText(), /Deliveries/);
});

test("arrow keys choose, and what is chosen is announced as the active descendant of the question box", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  const input = widget.role("input");
  await type(widget, "refunds");
  await widget.all("result").nth(2).waitFor();
  const aria = async () =>
    Promise.all(
      ["aria-autocomplete", "aria-controls", "aria-activedescendant"].map((name) => input.getAttribute(name)),
    );
  assert.deepEqual(await aria(), ["list", "results", null]);
  assert.equal(await widget.role("results-list").getAttribute("id"), "results");
  const steps = [];
  for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"]) {
    await input.press(key);
    steps.push(await selected(widget));
  }
  assert.deepEqual(steps, [0, 1, 0, -1, 2, -1, 0]);
  assert.deepEqual(await aria(), ["list", "results", "result-0"]);
  assert.ok(await input.evaluate((box) => box.matches(":focus")), "the question box keeps the focus");
  await type(widget, "x");
  await widget.until(async () => (await selected(widget)) === -1, "typing chooses nothing");
});

test("results that are still being searched do not take away what the visitor chooses", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  await type(widget, "refunds");
  await widget.all("result").nth(2).waitFor();
  let held;
  site.api.search = (_, recorded) => (held = recorded);
  await type(widget, " and deliveries");
  await widget.until(() => held !== undefined, "a search that hangs");
  await widget.role("input").press("ArrowDown");
  await widget.until(() => held.isCut, "the search is cancelled");
  assert.equal(await selected(widget), 0);
});

test("Enter opens a chosen result at the words of its page, and asks nothing", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  await widget.page.context().route("https://shop.example/**", (route) => route.fulfill({ body: "Refunds" }));
  t.after(() => widget.page.context().unroute("https://shop.example/**"));
  await type(widget, "refunds");
  await widget.role("result").waitFor();
  await widget.role("input").press("ArrowDown");
  const popup = widget.page.waitForEvent("popup");
  await widget.role("input").press("Enter");
  const page = await popup;
  await page.waitForLoadState();
  assert.match(page.url(), /^https:\/\/shop\.example\/refunds/);
  assert.equal(await page.evaluate(() => globalThis.opener), null);
  await page.close();
  assert.deepEqual(sent(), []);
  await closed(widget);
  assert.equal(await widget.role("input").inputValue(), "refunds", "the text stays");
});

test("a result without a page shows its passage with the words marked, and Escape comes back", async (t) => {
  finding(RESULTS[2]);
  const widget = await openReady(t, { attributes: { mode: "floating" } });
  await type(widget, "refunds");
  await widget.role("result").click();
  const passage = widget.role("result-passage");
  assert.match(await passage.innerText(), /Printed[\s\S]*Write to us first\./);
  assert.equal(await passage.locator("[data-role=quote]").innerText(), "Refunds are paid within 5 days.");
  assert.ok(await passage.evaluate((element) => element.matches(":focus")));
  await widget.page.keyboard.press("Escape");
  await closed(widget);
  assert.ok(await widget.role("input").evaluate((box) => box.matches(":focus")));
  await widget.page.keyboard.press("Escape");
  await widget.until(async () => !(await widget.role("input").isVisible()), "now the panel closes");
});

test("results that are still being searched do not take away the passage that the visitor reads", async (t) => {
  finding(RESULTS[2]);
  const widget = await openReady(t);
  await type(widget, "refunds");
  await widget.role("result").waitFor();
  let held;
  site.api.search = (response) => (held = response);
  await type(widget, " and deliveries");
  await widget.until(() => held !== undefined, "a search that hangs");
  await widget.role("result").click();
  await widget.role("result-passage").waitFor();
  json(200, { results: RESULTS })(held);
  await sleep(300);
  assert.ok(await widget.role("result-passage").isVisible());
});

test("Escape closes the list first and the panel next, and the list stays closed until the text changes", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t, { attributes: { mode: "floating" } });
  await type(widget, "refunds");
  await widget.role("result").first().waitFor();
  await widget.page.keyboard.press("Escape");
  await closed(widget);
  assert.ok(await widget.role("input").isVisible());
  await type(widget, " ", 100);
  await sleep(200);
  assert.ok(!(await isOpen(widget)));
  await type(widget, "time");
  await widget.role("result").first().waitFor();
  await widget.page.keyboard.press("Escape");
  await widget.page.keyboard.press("Escape");
  await widget.until(async () => !(await widget.role("input").isVisible()), "the panel is closed");
  const { length } = queries();
  await sleep(300);
  assert.equal(queries().length, length, "nothing happens while the panel is closed");
});

test("in a question of several lines the arrow keys move the caret, unless it is at the end", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  const input = widget.role("input");
  await type(widget, "refunds");
  await input.press("Shift+Enter");
  await type(widget, "to my card");
  await widget.role("result").first().waitFor();
  await input.press("Home");
  await input.press("ArrowUp");
  assert.equal(await selected(widget), -1);
  assert.equal(await input.evaluate((box) => box.selectionStart), 0);
  await input.press("Control+End");
  await input.press("ArrowDown");
  assert.equal(await selected(widget), 0);
});

test("leaving the question box closes the list, and a touch of a result opens it", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  await type(widget, "refunds");
  await widget.role("result").first().waitFor();
  await widget.role("log").focus();
  await closed(widget);
  await widget.role("input").focus();
  await type(widget, "s");
  await widget.all("result").nth(2).waitFor();
  const box = await widget.all("result").nth(2).boundingBox();
  assert.ok(box.height >= 44, `${box.height} pixels are enough for a finger`);
  await widget.all("result").nth(2).click();
  await widget.role("result-passage").waitFor();
});

test("a slow API delays no question: sending it cancels the search", async (t) => {
  let held;
  site.api.search = (_, recorded) => (held = recorded);
  const widget = await openReady(t);
  await type(widget, QUESTION);
  await widget.until(() => held !== undefined, "a search that hangs");
  await widget.role("input").press("Enter");
  await widget.reply("done");
  assert.match(await widget.role("answer").innerText(), ANSWER);
  await widget.until(() => held.isCut, "the search is cancelled");
});

for (const [name, handler] of Object.entries({
  "an outage": failure(503, "upstream_unavailable", { retryable: true }),
  "a limit": failure(429, "rate_limited", { retryable: true }),
  "a route that the server lacks": failure(404, "not_found"),
  "a server that has turned it off": failure(403, "forbidden"),
  "another model": failure(409, "model_mismatch"),
  "no JSON": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>"),
  "a cut connection": (response) => response.destroy(),
  "results that are none": json(200, { results: { length: 1e9 } }),
})) {
  test(`${name} shows nothing, is left alone for a while, and questions are answered`, async (t) => {
    site.api.search = handler;
    const widget = await openReady(t);
    await widget.role("input").fill("refunds");
    await widget.until(() => queries().length > 0, "a search");
    await sleep(100);
    for (const text of ["refunds to cards", "refunds to cards abroad"]) {
      await widget.role("input").fill(text);
      await sleep(150);
    }
    // A browser repeats a request whose connection was cut.
    assert.deepEqual([...new Set(queries())], ["refunds"]);
    assert.ok(!(await isOpen(widget)));
    assert.deepEqual(await widget.events("error"), []);
    await widget.ask(QUESTION);
  });
}

test("a user may search whom a server allows it, after one whom it does not", async (t) => {
  site.api.search = (response, { headers }) => {
    const isAllowed = headers.authorization === `Bearer ${tokenFor("bob")}`;
    (isAllowed ? json(200, { results: RESULTS }) : failure(403, "forbidden"))(response);
  };
  const widget = await openReady(t);
  await type(widget, "refunds");
  await widget.until(() => queries().length > 0, "a search");
  await widget.page.evaluate((token) => {
    sessionStorage.setItem("token", token);
    dispatchEvent(new Event("focus"));
  }, tokenFor("bob"));
  await widget.until(async () => (await widget.role("input").inputValue()) === "", "the other user is noticed");
  await type(widget, "refunds");
  await widget.role("result").first().waitFor();
});

test("hostile texts are shown as text, and hostile addresses are not opened", async (t) => {
  const markup = "<img src=x onerror=alert(1)><b>refunds</b>";
  const excerpt = `${markup} [link](javascript:alert(1))`;
  finding(
    result({
      title: markup,
      section: markup,
      url: "javascript:alert(1)",
      excerpt,
      quotes: [{ ...quoteOf(markup), end: 9e9, plain: `${markup}\u202e` }],
    }),
  );
  const widget = await openReady(t);
  await type(widget, "refunds");
  assert.ok((await widget.role("result").innerText()).includes(markup));
  assert.equal(await widget.role("results").locator("img, b, a").count(), 0);
  await widget.role("result").click();
  await widget.role("result-passage").waitFor();
  assert.equal(await widget.role("results").locator("img, b, a[href^=javascript]").count(), 0);
});

test("the number of results is announced once, after a pause", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  await widget.element.evaluate(({ shadowRoot }) => {
    globalThis.said = [];
    const announcer =
      document.querySelector("[data-role=announcer]") ?? shadowRoot.querySelector("[data-role=announcer]");
    new MutationObserver(() => globalThis.said.push(announcer.textContent)).observe(announcer, { childList: true });
  });
  await type(widget, "refunds to", 80);
  await widget.role("result").first().waitFor();
  await widget.until(() => widget.page.evaluate(() => globalThis.said.length > 0), "an announcement");
  assert.deepEqual(await widget.page.evaluate(() => globalThis.said), ["3 places to look"]);
});

test("instant-results=off turns them off, also later", async (t) => {
  finding(...RESULTS);
  const off = await openReady(t, { attributes: { "instant-results": "off" } });
  await type(off, "refunds");
  await sleep(300);
  assert.deepEqual(queries(), []);
  assert.ok(!off.urls.some((url) => /\/search-[\w]+\.js/.test(url)), "not even the code is loaded");
  const widget = await openReady(t);
  await type(widget, "refunds");
  await widget.role("result").first().waitFor();
  await widget.element.evaluate((element) => element.setAttribute("instant-results", "off"));
  await type(widget, " to cards");
  await closed(widget);
});

test("nobody's results stay when the visitor changes or nobody is signed in", async (t) => {
  finding(...RESULTS);
  const widget = await openReady(t);
  await type(widget, "refunds");
  await widget.role("result").first().waitFor();
  await widget.call("clear");
  await closed(widget);
  assert.equal(await widget.all("result").count(), 0);
  const nobody = await openReady(t, { token: null });
  site.api.searches.length = 0;
  await type(nobody, "refunds");
  await sleep(300);
  assert.deepEqual(queries(), []);
});

for (const [language, direction] of [
  ["ar", "rtl"],
  ["en", "ltr"],
]) {
  test(`at 320 pixels the list of ${language} lies within the panel, above the question box`, async (t) => {
    finding(...RESULTS, ...RESULTS.map(({ title, ...rest }, at) => ({ ...rest, title, section: `Place ${at}` })));
    const widget = await openReady(t, {
      attributes: { mode: "floating", lang: language },
      setUp: (page) => page.setViewportSize({ width: 320, height: 480 }),
    });
    await type(widget, "refunds");
    await widget.role("result").first().waitFor();
    const list = await widget.role("results").boundingBox();
    const input = await widget.role("input").boundingBox();
    assert.ok(list.x >= 0 && list.x + list.width <= 320, JSON.stringify(list));
    assert.ok(list.y >= 0 && list.y + list.height <= input.y, JSON.stringify({ list, input }));
    assert.equal(await widget.role("results").evaluate((element) => getComputedStyle(element).direction), direction);
    assert.equal(await widget.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  });
}
