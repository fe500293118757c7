// The list of conversations in real Chromium, under a strict policy.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import axe from "axe-core";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { NOON, exportOf, sessions, startHistorySite } from "./pages/history/site.mjs";

const HOSTILE = `<img src=/leak onerror="window.hacked=1"><script>window.hacked=1</script>`;

const { site, page } = await startSuite(startHistorySite);
page.setDefaultTimeout(30_000);
await page.clock.install({ time: NOON });

beforeEach(async () => {
  page.errors.length = 0;
  site.lists = { ann: sessions(3) };
  await page.setViewportSize({ width: 416, height: 640 });
  await page.emulateMedia({ reducedMotion: null, forcedColors: null });
  await open();
});

afterEach(async () => {
  // Pending deletions are sent when the page is left, and must not arrive in the next test.
  await page.evaluate(() => {
    window.fetch = () => Promise.reject(new TypeError("the page is left"));
    window.view?.clear();
  });
  await page.goto("about:blank");
  assert.deepEqual(page.errors, []);
});

/** Opens a fresh page without showing the history. */
async function open() {
  await page.goto(site.origin);
  await page.waitForFunction(() => window.isReady);
  site.requests.length = 0;
}

/** Shows the history of these conversations. */
async function show(list) {
  if (list) site.lists.ann = list;
  await page.evaluate(() => window.view.show());
  await settled();
}

/** Waits for the list or its failure. */
async function settled() {
  await page.locator(".history-loading").waitFor({ state: "detached" });
}

const role = (name) => page.locator(`[data-role=${name}]`);
const row = (title) => role("session").filter({ hasText: title });
const named = (name) => page.getByRole("button", { name, exact: true });
const titles = () => page.locator(".history-title").allTextContents();
const calls = () => page.evaluate(() => window.calls);
const sent = (method) => site.requests.filter((request) => request.method === method);
const focused = () =>
  page.evaluate(() => {
    const { activeElement } = /** @type {ShadowRoot} */ (window.root.getRootNode());
    return activeElement?.getAttribute("aria-label") ?? activeElement?.textContent;
  });

/** In Firefox, Tab also reaches a list that scrolls. */
const isOnScroller = () =>
  page.evaluate(() => {
    const { activeElement } = /** @type {ShadowRoot} */ (window.root.getRootNode());
    return activeElement?.matches("button, a, input") === false;
  });

/** Waits until the server has received `count` requests. */
async function gets(method, count = 1) {
  for (let tries = 0; sent(method).length < count && tries < 100; tries++) await sleep(20);
  assert.equal(sent(method).length, count, `${method} requests`);
}

/** Clicks Delete of a conversation and moves the pointer away. */
async function remove(title) {
  await named(`Delete “${title}”`).click();
  await page.mouse.move(0, 0);
}

test("conversations are listed in the server's order, with the current one marked", async () => {
  await page.evaluate(() => (window.state.current = "s2"));
  await show();
  assert.deepEqual(await titles(), ["Conversation 1", "Conversation 2", "Conversation 3"]);
  assert.deepEqual(await page.locator(".history-date").allTextContents(), [
    "1 minute ago",
    "1 hour ago",
    "2 hours ago",
  ]);
  assert.equal(await page.getByRole("listitem").count(), 3);
  assert.equal(await page.locator("[aria-current=true]").getAttribute("aria-label"), "Open “Conversation 2”");
  assert.equal(await role("history-more").isVisible(), false);
  assert.equal(await focused(), "History");
});

test("a click opens a conversation, and Back returns to the chat", async () => {
  await show();
  await named("Open “Conversation 2”").click();
  await named("Back to the chat").click();
  assert.deepEqual(await calls(), [["open", "s2"], ["back"]]);
});

test("a loading list and an empty list show a text", async () => {
  const release = site.hold("GET");
  await page.evaluate(() => window.view.show());
  assert.equal(await page.getByRole("status").first().textContent(), "Loading…");
  site.lists.ann = [];
  release();
  await settled();
  assert.equal(await role("history-state").textContent(), "Your conversations will appear here.");
});

test("older conversations load page by page without duplicates, and the first new one gets the focus", async () => {
  await show(sessions(45));
  assert.equal((await titles()).length, 20);
  // A conversation was continued meanwhile: it moves up and shifts the last of this page to the next one.
  site.lists.ann.unshift(...site.lists.ann.splice(30, 1));
  await role("history-more").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.root.querySelectorAll("li").length === 39);
  assert.equal(await focused(), "Open “Conversation 21”");
  await role("history-more").click();
  await role("history-more").waitFor({ state: "hidden" });
  const all = await titles();
  assert.equal(new Set(all).size, all.length);
  assert.equal(all.length, 44);
});

test("a second press while a page loads sends no second request", async () => {
  await show(sessions(41));
  const release = site.hold("GET");
  await role("history-more").click();
  assert.equal(await role("history-more").getAttribute("aria-disabled"), "true");
  await role("history-more").click({ force: true });
  release();
  await page.waitForFunction(() => window.root.querySelectorAll("li").length === 40);
  assert.equal(sent("GET").length, 2);
});

test("a list that cannot be loaded has a retry button", async () => {
  site.fail("GET");
  await show();
  assert.match(await role("history-failure").textContent(), /^Your history could not be loaded.Retry$/);
  await role("retry").click();
  await row("Conversation 1").waitFor();
  assert.equal(await role("history-failure").count(), 0);
});

test("a failed page keeps the list, and its retry continues there", async () => {
  await show(sessions(25));
  site.fail("GET", 503);
  await role("history-more").focus();
  await page.keyboard.press("Enter");
  await role("history-failure").waitFor();
  assert.equal((await titles()).length, 20);
  assert.equal(await focused(), "Retry");
  await page.keyboard.press("Enter");
  await row("Conversation 25").waitFor();
  assert.equal(await focused(), "Open “Conversation 21”");
});

test("the list asks signed-out visitors to sign in, and those with an expired token to sign in again", async () => {
  await page.evaluate(() => (window.state.token = null));
  await show();
  assert.match(await role("history-failure").textContent(), /^Please sign in to see your conversations\./);
  await page.evaluate(() => (window.state.token = "ann"));
  site.fail("GET", 401);
  const release = site.hold("GET");
  await role("retry").click();
  await gets("GET");
  site.fail("GET", 401);
  release(401);
  await role("history-failure").waitFor();
  assert.match(await role("history-failure").textContent(), /^Your sign-in is no longer valid\./);
});

test("Enter renames at once and sends the request", async () => {
  await show();
  const release = site.hold("PATCH");
  await named("Rename “Conversation 2”").click();
  assert.equal(await role("rename-input").inputValue(), "Conversation 2");
  await page.keyboard.type("  Money back ");
  await page.keyboard.press("Enter");
  assert.deepEqual(await titles(), ["Conversation 1", "Money back", "Conversation 3"]);
  assert.equal(await focused(), "Rename “Money back”");
  release();
  await gets("PATCH");
  assert.deepEqual(sent("PATCH")[0].body, { title: "Money back" });
  assert.equal(await named("Delete “Money back”").count(), 1);
});

test("Escape, Cancel, an empty and an unchanged title change nothing and return the focus", async () => {
  await show();
  for (const finish of [
    () => page.keyboard.press("Escape"),
    () => role("rename-cancel").click(),
    async () => {
      await role("rename-input").fill("   ");
      await page.keyboard.press("Enter");
    },
    async () => {
      await role("rename-input").fill(" Conversation 2  ");
      await role("rename-save").click();
    },
  ]) {
    await named("Rename “Conversation 2”").click();
    await page.keyboard.type("Something else");
    await finish();
    assert.equal(await focused(), "Rename “Conversation 2”");
  }
  assert.equal(site.requests.length, 1);
});

test("Escape in the rename form does not reach the page", async () => {
  await show();
  await page.evaluate(() => addEventListener("keydown", ({ key }) => window.calls.push(key)));
  await named("Rename “Conversation 2”").click();
  await page.keyboard.press("Escape");
  assert.deepEqual(await calls(), []);
});

test("a rejected title is reverted, and the failure is shown", async () => {
  await show();
  const release = site.hold("PATCH");
  await rename("Conversation 2", "Not allowed");
  release(400);
  await role("history-change-failed").waitFor();
  assert.deepEqual(await titles(), ["Conversation 1", "Conversation 2", "Conversation 3"]);
  assert.deepEqual(await calls(), []);
  await role("history-change-failed").getByRole("button").click();
  assert.equal(await role("history-change-failed").count(), 0);
});

test("the last of two titles wins, even if the first one fails late", async () => {
  await show();
  const release = site.hold("PATCH");
  await rename("Conversation 2", "First");
  await rename("First", "Second");
  release(500);
  await gets("PATCH", 2);
  await sleep(150);
  assert.deepEqual(await titles(), ["Conversation 1", "Second", "Conversation 3"]);
  assert.equal(await role("history-change-failed").count(), 0);
});

test("a pending title is not overwritten by a list with the old one", async () => {
  await show();
  const release = site.hold("PATCH");
  await rename("Conversation 2", "New");
  await show();
  assert.deepEqual(await titles(), ["Conversation 1", "New", "Conversation 3"]);
  release();
  await sleep(150);
  assert.deepEqual(await titles(), ["Conversation 1", "New", "Conversation 3"]);
});

async function rename(from, to) {
  await named(`Rename “${from}”`).click();
  await role("rename-input").fill(to);
  await page.keyboard.press("Enter");
}

test("a deleted conversation disappears at once, and the request is sent when the time for undo is over", async () => {
  await show();
  await remove("Conversation 2");
  assert.deepEqual(await titles(), ["Conversation 1", "Conversation 3"]);
  assert.match(await role("undo-strip").textContent(), /“\u2068Conversation 2\u2069” was deleted\.Undo/);
  assert.equal(await focused(), "Open “Conversation 3”");
  await page.clock.runFor(5500);
  assert.equal(sent("DELETE").length, 0);
  assert.deepEqual(await calls(), []);
  await page.clock.runFor(1000);
  await gets("DELETE");
  assert.equal(sent("DELETE")[0].path, "/api/sessions/s2");
  assert.deepEqual(await calls(), [["deleted", "s2"]]);
  assert.equal(await role("undo-strip").count(), 0);
});

test("Undo restores the conversation at its place without a request", async () => {
  await show();
  for (const title of ["Conversation 1", "Conversation 2", "Conversation 3"]) {
    await remove(title);
    await role("undo").click();
    assert.deepEqual(await titles(), ["Conversation 1", "Conversation 2", "Conversation 3"]);
    assert.equal(await focused(), `Delete “${title}”`);
  }
  await page.clock.runFor(20_000);
  assert.equal(sent("DELETE").length, 0);
  assert.deepEqual(await calls(), []);
});

test("each of several deletions can be undone", async () => {
  await show();
  await remove("Conversation 1");
  await remove("Conversation 3");
  await remove("Conversation 2");
  assert.equal(await role("history-state").textContent(), "Your conversations will appear here.");
  await role("undo-strip").filter({ hasText: "Conversation 3" }).getByRole("button").click();
  await page.mouse.move(0, 0);
  await page.clock.runFor(7000);
  await gets("DELETE", 2);
  assert.deepEqual(await titles(), ["Conversation 3"]);
});

test("a deletion is sent when the page is hidden, because a phone may drop it then", async () => {
  await show();
  await named("Delete “Conversation 2”").focus();
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "Undo", "the countdown pauses");
  const change = (hidden) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await change(false);
  assert.equal(await role("undo-strip").count(), 1);
  await change(true);
  await gets("DELETE");
  assert.deepEqual([await calls(), await role("undo-strip").count()], [[["deleted", "s2"]], 0]);
  await change(false);
  await change(true);
  await gets("DELETE");
});

test("the undo countdown pauses while the pointer is on the strip", async () => {
  await show();
  await remove("Conversation 2");
  await page.clock.runFor(4000);
  await role("undo-strip").hover();
  await page.clock.runFor(60_000);
  assert.equal(await role("undo-strip").count(), 1);
  await page.mouse.move(0, 0);
  await page.clock.runFor(1000);
  assert.equal(sent("DELETE").length, 0);
  await page.clock.runFor(1500);
  await gets("DELETE");
});

test("a countdown that is paused for ever ends after five minutes", async () => {
  await show();
  await remove("Conversation 2");
  await role("undo-strip").hover();
  await page.clock.runFor(299_000);
  assert.equal(sent("DELETE").length, 0);
  await page.clock.runFor(1_500);
  await gets("DELETE");
  await page.mouse.move(0, 0);
});

test("deleting by keyboard focuses Undo and pauses the countdown", async () => {
  await show();
  await named("Delete “Conversation 2”").focus();
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "Undo");
  await page.clock.runFor(60_000);
  assert.equal(sent("DELETE").length, 0);
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "Delete “Conversation 2”");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await gets("DELETE");
  assert.equal(await focused(), "History");
});

test("Tab reaches every control in visual order", async () => {
  await show(sessions(21));
  const order = [];
  for (let tabs = 0; order.length < 5 && tabs < 10; tabs++) {
    await page.keyboard.press("Tab");
    if (!(await isOnScroller())) order.push(await focused());
  }
  assert.deepEqual(order, [
    "Help",
    "Open “Conversation 1”",
    "Rename “Conversation 1”",
    "Delete “Conversation 1”",
    "Open “Conversation 2”",
  ]);
  await named("Delete “Conversation 20”").focus();
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Show older conversations");
});

test("a failed deletion restores the conversation and shows the failure", async () => {
  await show();
  await remove("Conversation 2");
  site.fail("DELETE");
  await page.clock.runFor(7000);
  await role("history-change-failed").waitFor();
  assert.deepEqual(await titles(), ["Conversation 1", "Conversation 2", "Conversation 3"]);
  // It can be deleted again.
  await remove("Conversation 2");
  await page.clock.runFor(7000);
  await gets("DELETE", 2);
});

test("a conversation that is already deleted is removed without an error", async () => {
  await show();
  await remove("Conversation 2");
  site.lists.ann.splice(1, 1);
  await page.clock.runFor(7000);
  await gets("DELETE");
  await sleep(100);
  assert.equal(await role("history-change-failed").count(), 0);
  assert.deepEqual(await titles(), ["Conversation 1", "Conversation 3"]);
});

test("hiding the history sends pending deletions", async () => {
  await show();
  await remove("Conversation 2");
  await page.evaluate(() => {
    const { fetch } = window;
    window.fetch = (url, options) => {
      window.keptAlive = options.keepalive;
      return fetch(url, options);
    };
    window.view.hide();
  });
  await gets("DELETE");
  assert.equal(await page.evaluate(() => window.keptAlive), true, "the request survives leaving the page");
  assert.deepEqual(await calls(), [["deleted", "s2"]]);
  assert.equal(await role("history").isVisible(), false);
});

test("a list requested before a deletion does not restore it", async () => {
  await show();
  const release = site.hold("DELETE");
  await remove("Conversation 2");
  await page.evaluate(() => window.view.hide());
  await show();
  assert.deepEqual(await titles(), ["Conversation 1", "Conversation 3"]);
  release(500);
  await role("history-change-failed").waitFor();
  assert.deepEqual(await titles(), ["Conversation 1", "Conversation 2", "Conversation 3"]);
});

test("a failure while the history is hidden is shown when it opens again", async () => {
  await show();
  await remove("Conversation 2");
  site.fail("DELETE");
  await page.evaluate(() => window.view.hide());
  await gets("DELETE");
  await page.waitForFunction(() => window.root.querySelector("[data-role=history-change-failed]"));
  await show();
  assert.equal(await role("history-change-failed").isVisible(), true);
  assert.equal((await titles()).length, 3);
});

test("leaving the page sends pending deletions with the token of the user who deleted", async () => {
  await show();
  await remove("Conversation 2");
  await remove("Conversation 3");
  await page.evaluate(() => (window.state.token = "another visitor"));
  await page.goto("about:blank");
  await gets("DELETE", 2);
  assert.deepEqual(
    sent("DELETE").map(({ path, token }) => [path, token]),
    [
      ["/api/sessions/s2", "ann"],
      ["/api/sessions/s3", "ann"],
    ],
  );
});

test("clear sends pending deletions with the previous user's token and shows nothing of them", async () => {
  await show();
  await remove("Conversation 2");
  await page.evaluate(() => {
    window.state.token = "bob";
    window.view.clear();
  });
  await gets("DELETE");
  assert.deepEqual(
    sent("DELETE").map(({ token, path }) => [token, path.split("/").at(-1)]),
    [["ann", "s2"]],
  );
  await page.clock.runFor(20_000);
  await page.evaluate(() => window.view.hide());
  assert.equal(sent("DELETE").length, 1);
  assert.equal(await role("undo-strip").count(), 0);
});

test("clear leaves no data of the previous user, not even in hidden elements", async () => {
  await show();
  await remove("Conversation 2");
  await named("Rename “Conversation 3”").click();
  await page.evaluate(() => window.view.clear());
  const rest = await page.evaluate(() => window.root.innerHTML);
  assert.doesNotMatch(rest, /Conversation \d/);
});

test("a list requested before clear is not shown after it", async () => {
  const release = site.hold("GET");
  await page.evaluate(() => window.view.show());
  await gets("GET");
  site.lists.bob = sessions(1, () => ({ title: "Bob's own" }));
  await page.evaluate(() => {
    window.view.clear();
    window.state.token = "bob";
    window.view.show();
  });
  await row("Bob's own").waitFor();
  release();
  await sleep(150);
  assert.deepEqual(await titles(), ["Bob's own"]);
  assert.equal(await role("history-failure").count(), 0);
  assert.deepEqual(
    sent("GET").map(({ token }) => token),
    ["ann", "bob"],
  );
});

test("pending changes of the previous user report nothing after clear", async () => {
  await show();
  const release = [site.hold("PATCH"), site.hold("DELETE")];
  await rename("Conversation 1", "Secret");
  await remove("Conversation 2");
  await page.clock.runFor(7000);
  await gets("DELETE");
  await page.evaluate(() => {
    window.calls.length = 0;
    window.view.clear();
  });
  for (const each of release) each(500);
  await sleep(150);
  assert.equal(await role("history-change-failed").count(), 0);
  assert.deepEqual(await titles(), []);
  assert.deepEqual(await calls(), []);
});

const state = () => role("my-data-state").textContent();
const failure = () => role("my-data-failure").locator("p").textContent();

/** Clicks Export and gives the saved file. */
async function exported(press = () => role("my-data-export").click()) {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

test("the export saves the server's file byte for byte", async () => {
  await show();
  const { name, text } = await exported();
  assert.equal(name, "evidence-chat-export.json");
  assert.equal(text, exportOf(site.lists.ann));
  assert.equal(await state(), "Your data was exported.");
  assert.equal(await role("my-data-state").getAttribute("role"), "status");
  assert.deepEqual(
    site.requests.slice(1).map(({ method, path, token }) => [method, path, token]),
    [["GET", "/api/me/export", "ann"]],
  );
});

for (const how of ["off", "short"]) {
  test(`an export that is cut ${how} saves no file, shows the failure and can be retried`, async () => {
    await show();
    let downloads = 0;
    page.on("download", () => downloads++);
    site.cutExport(how);
    await role("my-data-export").click();
    await role("my-data-failure").waitFor();
    assert.equal(await failure(), "Your data could not be exported. No file was saved.");
    assert.equal(downloads, 0);
    const { text } = await exported(() => role("retry").click());
    assert.equal(text, exportOf(site.lists.ann));
    assert.equal(await role("my-data-failure").count(), 0);
    assert.equal(await focused(), "Export my data");
  });
}

test("a running export is announced, and a second press does nothing", async () => {
  await show();
  const release = site.hold("GET");
  await role("my-data-export").click();
  assert.equal(await state(), "Exporting your data…");
  assert.equal(await role("my-data-export").getAttribute("aria-disabled"), "true");
  await role("my-data-export").click({ force: true });
  await role("my-data-delete").click({ force: true });
  assert.equal(await role("my-data-question").isVisible(), false);
  assert.equal((await exported(release)).name, "evidence-chat-export.json");
  assert.equal(await role("my-data-export").getAttribute("aria-disabled"), null);
  assert.equal(sent("GET").length, 2);
});

test("all data is deleted only after a confirmation that says what is deleted", async () => {
  await show();
  await role("my-data-delete").click();
  const question = page.getByRole("alertdialog", { name: "Delete all your data?" });
  assert.match(
    await question.textContent(),
    /All your conversations .* all questions and answers, .* could not be ans/,
  );
  assert.equal(await focused(), "Cancel");
  await role("my-data-confirm").click();
  await page.waitForFunction(() => window.calls.length === 2);
  assert.deepEqual(await calls(), [["deletingAll"], ["deletedAll"]]);
  assert.deepEqual(
    sent("DELETE").map(({ path, token }) => [path, token]),
    [["/api/me", "ann"]],
  );
  await settled();
  assert.deepEqual(await titles(), []);
  assert.equal(await role("history-state").textContent(), "Your conversations will appear here.");
  assert.equal(await state(), "All your data was deleted.");
  assert.equal(await focused(), "Delete all my data");
});

test("Enter pressed twice deletes nothing, and neither does Escape, which stays in the history", async () => {
  await show();
  await page.evaluate(() => addEventListener("keydown", ({ key }) => key === "Escape" && window.calls.push(key)));
  await role("my-data-delete").focus();
  for (const key of ["Enter", "Escape"]) {
    await page.keyboard.press("Enter");
    assert.equal(await focused(), "Cancel");
    await page.keyboard.press(key);
    assert.equal(await role("my-data-question").isVisible(), false);
    assert.equal(await focused(), "Delete all my data");
  }
  assert.deepEqual(await calls(), []);
  assert.equal(sent("DELETE").length, 0);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Delete everything");
  await page.keyboard.press("Enter");
  await gets("DELETE");
});

test("an unanswered confirmation is closed when the history opens again", async () => {
  await show();
  await role("my-data-delete").click();
  await page.evaluate(() => window.view.hide());
  await show();
  assert.equal(await role("my-data-question").isVisible(), false);
  assert.equal(sent("DELETE").length, 0);
});

test("a failed deletion of all data keeps the list, and its retry needs no second confirmation", async () => {
  await show();
  site.fail("DELETE", 503);
  await role("my-data-delete").click();
  await role("my-data-confirm").click();
  await role("my-data-failure").waitFor();
  assert.equal(await failure(), "Some of your data may not have been deleted. Please try again.");
  assert.equal((await titles()).length, 3);
  assert.deepEqual(await calls(), [["deletingAll"]]);
  await role("retry").click();
  await page.waitForFunction(() => window.calls.at(-1)[0] === "deletedAll");
  await settled();
  assert.deepEqual(await titles(), []);
});

test("a rate-limited retry waits as long as the server says", async () => {
  await show();
  site.fail("GET", 429, { "retry-after": "7" });
  await role("my-data-export").click();
  await role("my-data-failure").waitFor();
  assert.equal(await failure(), "Too many requests. Please try again in 7 seconds.");
  assert.equal(await role("retry").isDisabled(), true);
  await page.clock.runFor(7500);
  assert.equal(await role("retry").isDisabled(), false);
  assert.equal((await exported(() => role("retry").click())).text, exportOf(site.lists.ann));
});

test("deleting all data asks signed-out visitors to sign in, and deletes nothing", async () => {
  await page.evaluate(() => (window.state.token = null));
  await show();
  await role("my-data-delete").click();
  await role("my-data-confirm").click();
  await role("my-data-failure").waitFor();
  assert.equal(await failure(), "Please sign in first.");
  assert.equal(await role("my-data-failure").locator("button").count(), 0);
  await page.evaluate(() => (window.state.token = "ann"));
  const release = site.hold("GET");
  await role("my-data-export").click();
  await gets("GET");
  site.fail("GET", 401);
  release(401);
  await role("my-data-failure").waitFor();
  assert.match(await failure(), /^Your sign-in is no longer valid\./);
  assert.equal(sent("DELETE").length, 0);
});

test("deleting all data drops pending deletions without a request", async () => {
  await show();
  await remove("Conversation 2");
  await role("my-data-delete").click();
  await role("my-data-confirm").click();
  await page.waitForFunction(() => window.calls.at(-1)?.[0] === "deletedAll");
  assert.equal(await role("undo-strip").count(), 0);
  await page.clock.runFor(20_000);
  await page.evaluate(() => window.view.hide());
  assert.deepEqual(
    sent("DELETE").map(({ path }) => path),
    ["/api/me"],
  );
});

test("clear aborts an export, and a confirmed deletion goes on: the next user gets no file and no message", async () => {
  await show();
  let downloads = 0;
  page.on("download", () => downloads++);
  const requestData = () => role("my-data-export").click();
  const deleteData = async () => {
    await role("my-data-delete").click();
    await role("my-data-confirm").click();
  };
  for (const { method, press } of [
    { method: "GET", press: requestData },
    { method: "DELETE", press: deleteData },
  ]) {
    const before = sent(method).length;
    const release = site.hold(method);
    await press();
    await gets(method, before + 1);
    await page.evaluate(() => window.view.clear());
    release();
    await sleep(150);
    assert.equal(await state(), "");
    assert.equal(await role("my-data-failure").count(), 0);
  }
  assert.deepEqual(site.lists.ann, []);
  assert.equal(downloads, 0);
  assert.deepEqual(await calls(), [["deletingAll"]]);
});

test("a confirmed deletion of all data survives leaving the page", async () => {
  await show();
  await role("my-data-delete").click();
  await page.evaluate(() => {
    const { fetch } = window;
    window.fetch = (url, options) => {
      if (options.method === "DELETE") window.keptAlive = options.keepalive;
      return fetch(url, options);
    };
  });
  await role("my-data-confirm").click();
  await gets("DELETE");
  assert.equal(await page.evaluate(() => window.keptAlive), true);
});

test("titles are shown as text", async () => {
  await show(sessions(2, (at) => (at === 0 ? { title: HOSTILE } : { title: "\u202edetrevni" })));
  assert.deepEqual(await titles(), [HOSTILE, "\u202edetrevni"]);
  await named(`Rename “${HOSTILE}”`).click();
  assert.equal(await role("rename-input").inputValue(), HOSTILE);
  await page.keyboard.press("Escape");
  await named(`Delete “${HOSTILE}”`).click();
  await named("Delete “\u202edetrevni”").click();
  assert.match(await role("undo-strip").last().textContent(), /“\u2068detrevni\u2069” was deleted/);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(page.errors, []);
});

test("a conversation without a title is called untitled and can be renamed", async () => {
  await show(sessions(2, (at) => ({ title: at === 0 ? null : " \n" })));
  assert.deepEqual(await titles(), ["Untitled conversation", "Untitled conversation"]);
  await named("Rename “Untitled conversation”").first().click();
  assert.equal(await role("rename-input").inputValue(), "");
  await page.keyboard.type("A name");
  await page.keyboard.press("Enter");
  await gets("PATCH");
  assert.equal((await titles())[0], "A name");
});

const LONG = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(5).slice(0, 200);
for (const language of ["en", "ar"]) {
  for (const width of [320, 416]) {
    test(`long titles and all controls fit ${width} pixels in ${language}`, async () => {
      await page.setViewportSize({ width, height: 600 });
      await page.evaluate((tag) => window.speak(tag), language);
      await show(sessions(25, (at) => ({ title: at % 2 === 0 ? LONG : "استرجاع الأموال بعد أسبوعين" })));
      await role("session-rename").first().click();
      await role("session-delete").last().click();
      await role("my-data-delete").click();
      await page.mouse.move(0, 0);
      const wide = await page.evaluate(() =>
        [...window.root.querySelectorAll("*")]
          .filter((each) => each.getBoundingClientRect().width > 0)
          .filter((each) => {
            const { left, right } = each.getBoundingClientRect();
            return left < 0 || right > innerWidth;
          })
          .map(({ className }) => className),
      );
      assert.deepEqual(wide, []);
      const small = await page.evaluate(() =>
        [...window.root.querySelectorAll("button:not(.history-open), .history-item, input")]
          .filter((each) => {
            const { width, height } = each.getBoundingClientRect();
            return width > 0 && (width < 24 || height < 24);
          })
          .map(({ className }) => className),
      );
      assert.deepEqual(small, []);
    });
  }
}

test("dates and labels follow the language", async () => {
  await show();
  await page.evaluate(() => window.speak("de"));
  assert.equal(await page.locator(".history-date").nth(1).textContent(), "vor 1 Stunde");
});

for (const scheme of ["light", "dark"]) {
  test(`axe finds no violation in the history: ${scheme}`, async () => {
    // Colours during a transition have no contrast requirement.
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.evaluate((value) => {
      window.root.dataset.scheme = value;
      window.state.current = "s3";
    }, scheme);
    await show(sessions(25));
    await named("Rename “Conversation 1”").click();
    await remove("Conversation 2");
    site.fail("GET", 503);
    await role("my-data-export").click();
    await role("my-data-failure").waitFor();
    await role("my-data-delete").evaluate((each) => each.click());
    assert.equal(await role("my-data-question").isVisible(), true);
    await page.evaluate(axe.source);
    const found = await page.evaluate(async () => {
      const { violations } = await window.axe.run({ rules: { "page-has-heading-one": { enabled: false } } });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    });
    assert.deepEqual(found, []);
  });
}

test("the current conversation stays marked with reduced motion and forced colours", async () => {
  await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" });
  await page.evaluate(() => (window.state.current = "s1"));
  await show();
  await remove("Conversation 2");
  const [outline, bar] = await page.evaluate(() => [
    getComputedStyle(window.root.querySelector("li")).outlineStyle,
    getComputedStyle(window.root.querySelector(".history-undo"), "::after").content,
  ]);
  assert.deepEqual([outline, bar], ["solid", "none"]);
});

test("a click on the date opens the conversation", async () => {
  await show();
  const { x, y, width, height } = await page.locator(".history-date").nth(1).boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  assert.deepEqual(await calls(), [["open", "s2"]]);
});
