// The demo page in Chromium, under its own policy. The widget and the sign-in are fakes: see pages/demo/page.mjs.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { beforeEach, test } from "node:test";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { callsOf, emit, LOGIN, signIn, startDemoSite } from "./pages/demo/page.mjs";
import { quoteOf } from "./support/answers.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const HOSTILE = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

const STRONG = {
  index: 1,
  chunk_id: "c1",
  document_id: "d1",
  title: "Refunds and returns",
  section: "Refunds and returns › Return period",
  score: 0.72,
  strength: "strong",
  excerpt: "You can return any unused item within 30 days.",
  quotes: [quoteOf("You can return any unused item within 30 days.")],
};
const NEAR = { ...STRONG, chunk_id: "c2", section: undefined, page: 2, score: 0.31, strength: "partial" };
const FOUND = { chunk_id: "c3", document_id: "d2", title: "Shipping", section: "Shipping › Abroad", score: 0.36 };
const ANSWER = {
  role: "assistant",
  text: "30 days. [1]",
  hedged: false,
  citations: [STRONG, NEAR],
  alsoFound: [FOUND],
  sessionId: "s1",
};
const REFUSAL = {
  type: "refusal",
  message: "No.",
  suggestions: [],
  reason: "no_match",
  nearest: [FOUND, { ...FOUND, title: HOSTILE, section: undefined, page: 2 }],
  persisted: true,
};

const { site: demo, page } = await startSuite(startDemoSite);

beforeEach(async () => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(demo.origin);
  await page.evaluate(() => localStorage.clear());
  await signIn(page, demo.origin);
});

const user = (text) => emit(page, "message", { role: "user", text, hedged: false, citations: [], alsoFound: [] });
const stage = (name, milliseconds, more) => emit(page, "stage", { stage: name, milliseconds, ...more });
const step = (name) => page.locator(`.stage[data-stage=${name}]`);

async function answer() {
  await user("How long?");
  await stage("embedding", 0);
  await stage("embedded", 41, { tokens: 11 });
  await stage("sent", 44, { requestBytes: 4123 });
  await stage("first_word", 120, { serverTiming: { auth: 1, admission: 6, settings: 0, search: 38, total: 47 } });
  await emit(page, "message", ANSWER);
  await stage("complete", 160);
}

test("signing in gives the widget its URLs and the visitor's token", async () => {
  const given = await page.locator("#chat").evaluate(async (chat) => ({
    endpoint: chat.endpoint,
    token: await chat.tokenProvider(),
  }));
  assert.match(given.endpoint, /\/api\/chat$/);
  assert.equal(given.token, "a.b.c");
  assert.equal(await page.locator("#account-email").textContent(), LOGIN.email);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1", "the focus is not lost with the form");
});

test("signing out clears the conversation, the stages and the evidence", async () => {
  await answer();
  await page.locator("#sign-out").click();
  await page.locator("body[data-view=sign-in]").waitFor();
  assert.deepEqual(await callsOf(page), [["clear"]]);
  assert.doesNotMatch(await page.locator("body").evaluate((body) => body.textContent), /30 days\. \[1\]|How long\?/);
  assert.equal(await step("complete").getAttribute("data-state"), "waiting");
});

test("a wrong password is reported, and visitors can create an account", async () => {
  await page.locator("#sign-out").click();
  await page.locator("#password").fill("wrong-password");
  await page.locator("#auth-submit").click();
  await page.locator("#auth-message", { hasText: "Invalid login" }).waitFor();
  await page.locator("#email").fill("new@example.com");
  await page.locator("#password").fill("a-new-password");
  await page.locator("#auth-create").click();
  await page.locator("body[data-view=chat]").waitFor();
  assert.equal(await page.locator("#account-email").textContent(), "new@example.com");
});

test("language and theme apply to the widget and are stored; what is stored is checked", async () => {
  await page.locator("#language").selectOption("ar");
  await page.locator("#theme").selectOption("dark");
  const chosen = () =>
    page.locator("#chat").evaluate((chat) => [chat.getAttribute("lang"), chat.getAttribute("theme")]);
  assert.deepEqual(await chosen(), ["ar", "dark"]);
  await page.reload();
  await page.locator("body[data-view=chat]").waitFor();
  assert.deepEqual(await chosen(), ["ar", "dark"]);
  assert.equal(await page.locator("#language").inputValue(), "ar");
  await page.evaluate(() => localStorage.setItem("evidence-chat-demo", "toString 7"));
  await page.reload();
  await page.locator("body[data-view=chat]").waitFor();
  assert.deepEqual(await chosen(), ["en", "auto"]);
});

test("the page follows the chosen theme, or the device", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  await page.locator("#theme").selectOption("dark");
  const dark = await background();
  assert.notEqual(dark, light);
  await page.locator("#theme").selectOption("auto");
  assert.equal(await background(), light);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await background(), dark);
  await page.emulateMedia({ colorScheme: null });
});

test("the chat moves to the corner and back", async () => {
  assert.ok(!(await page.locator(".embed-hint").isVisible()));
  await page.locator("#mode").selectOption("floating");
  assert.equal(await page.locator("#chat").evaluate((chat) => chat.mode), "floating");
  await page.locator(".embed-hint .primary").click();
  await page.locator(".example").first().click();
  assert.deepEqual(
    (await callsOf(page)).map(([call]) => call),
    ["open", "open", "ask"],
  );
  await page.locator("#mode").selectOption("inline");
  assert.equal(await page.locator("#chat").evaluate((chat) => chat.mode), "inline");
});

test("the examples have descriptions and can be asked by keyboard", async () => {
  const examples = page.locator(".example");
  assert.ok((await examples.count()) >= 4);
  assert.match(await examples.last().textContent(), /Not in our help pages/);
  await examples.last().focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(await callsOf(page), [["ask", "What is the capital of France?"]]);
});

test("the stages of a question are shown live, with times and what left the browser", async () => {
  await user("How long?");
  assert.equal(await step("embed").getAttribute("data-state"), "running");
  await emit(page, "ready", { fingerprint: "x" });
  await stage("embedding", 2400);
  await stage("embedded", 2500, { tokens: 11 });
  assert.match(await step("embed").textContent(), /2\.5 s.*including the one-time download of the AI · tokens: 11/);
  assert.ok(!(await page.locator("#left").isVisible()), "nothing has left the browser yet");
  await stage("sent", 2510, { requestBytes: 4123 });
  assert.match(await page.locator("#left").textContent(), /4\.1 kB/);
  assert.equal(await step("search").getAttribute("data-state"), "running");
  await stage("first_word", 2600, { serverTiming: { auth: 1, admission: 6, settings: 0, search: 38 } });
  assert.match(await step("check").textContent(), /7 ms/);
  assert.match(await step("search").textContent(), /38 ms/);
  assert.match(await page.locator("#stages-summary").textContent(), /First word after 2\.6 s/);
  await stage("complete", 2700);
  assert.equal(await step("complete").getAttribute("data-state"), "done");
});

test("a refusal ends the stages without a first word, and a failure marks its stage", async () => {
  await stage("embedding", 0);
  await stage("embedded", 40);
  await stage("sent", 41);
  await stage("refused", 90, { serverTiming: { search: 20 } });
  assert.equal(await page.locator(".stage").count(), 4);
  assert.match(await page.locator("#stages-summary").textContent(), /Refused after 90 ms/);
  await stage("embedding", 0);
  assert.equal(await page.locator(".stage").count(), 5);
  await stage("failed", 30);
  assert.equal(await step("embed").getAttribute("data-state"), "failed");
  assert.match(await page.locator("#stages-summary").textContent(), /Stopped after 30 ms/);
});

test("the evidence of an answer has place, similarity and strength, next to what is only close", async () => {
  await answer();
  assert.deepEqual(await page.locator(".passages li").allTextContents(), [
    "Refunds and returns › Return period · cosine 0.72 · strong evidence",
    "Refunds and returns · page 2 · cosine 0.31 · partial evidence",
    "Shipping › Abroad · cosine 0.36",
  ]);
});

test("a refusal shows its reason and the closest pages, as text", async () => {
  await user(HOSTILE);
  await emit(page, "refusal", REFUSAL);
  assert.match(await page.locator("#evidence").textContent(), /none reaches the threshold of 0\.35/);
  assert.deepEqual(await page.locator(".passages li").allTextContents(), [
    "Shipping › Abroad · cosine 0.36",
    `${HOSTILE} · page 2 · cosine 0.36`,
  ]);
  assert.equal(await page.locator("#evidence-question").textContent(), HOSTILE);
  await emit(page, "refusal", { ...REFUSAL, reason: "empty_kb", nearest: [] });
  assert.equal(await page.locator(".passages").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("a failed question ends the waiting, and its retry shows the evidence", async () => {
  await user("How long?");
  assert.match(await page.locator("#evidence").textContent(), /Looking for evidence/);
  await emit(page, "error", { code: "connection_lost", message: "Lost." });
  assert.doesNotMatch(await page.locator("#evidence").textContent(), /Looking for evidence/);
  await emit(page, "message", ANSWER);
  assert.equal(await page.locator("#evidence-question").textContent(), "How long?");
  assert.equal(await page.locator(".passages li").count(), 3);
});

test("the raw outcome is shown on demand", async () => {
  assert.ok(!(await page.locator("#raw").isVisible()));
  await answer();
  await page.locator("#raw summary").click();
  const shown = JSON.parse(await page.locator("#raw-json").innerText());
  assert.deepEqual(shown, JSON.parse(JSON.stringify(ANSWER)));
});

test("the page does not overflow at 320 pixels, signed in or not", async () => {
  await page.setViewportSize({ width: 320, height: 640 });
  const overflow = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await answer();
  assert.equal(await overflow(), 0);
  await page.locator("#sign-out").click();
  await page.locator("body[data-view=sign-in]").waitFor();
  assert.equal(await overflow(), 0);
});

for (const theme of ["light", "dark"]) {
  test(`axe finds no violation: ${theme}`, async () => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.locator("#theme").selectOption(theme);
    await answer();
    await page.locator("#raw summary").click();
    await check("answer");
    await emit(page, "refusal", REFUSAL);
    await check("refusal");
    await page.locator("#mode").selectOption("floating");
    await check("floating");
    await page.setViewportSize({ width: 320, height: 640 });
    await check("narrow");
    await page.locator("#sign-out").click();
    await page.locator("body[data-view=sign-in]").waitFor();
    await check("sign-in");
  });
}

async function check(state) {
  // Through the debugger, because the policy forbids a script in the page.
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => (await axe.run()).violations);
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`),
    [],
    state,
  );
}

test("with other documents than those of the sample shop, the page has no shop", async () => {
  await page.route("**/config.json", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), hasOwnDocuments: true } });
  });
  await page.goto(demo.origin);
  await page.locator("body[data-view=chat]").waitFor();
  assert.equal(await page.title(), "Evidence Chat");
  assert.equal(await page.locator("#brand-name").textContent(), "Evidence Chat");
  assert.equal(await page.locator("#chat").getAttribute("heading"), null);
  assert.equal(await page.locator(".example, footer").count(), 0);
  assert.doesNotMatch(await page.locator("body").evaluate((body) => body.textContent), /Fernhollow|return an item/);
  await page.unroute("**/config.json");
});

test("a page that cannot load its settings shows an error", async () => {
  await page.route("**/config.json", (route) => route.fulfill({ status: 500 }));
  await page.goto(demo.origin);
  await page.locator("body[data-view=failed]").waitFor();
  assert.match(await page.locator("#page-error").textContent(), /could not be loaded/);
  await page.unroute("**/config.json");
});

test("the page has no errors and no policy violations", () => {
  assert.deepEqual(page.errors, []);
});
