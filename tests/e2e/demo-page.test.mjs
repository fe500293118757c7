// The built demo page with real services: its panels, its switches, signing out. The tests run in order on one demo.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { Widget } from "../lib/widget.mjs";

const COVERED = "Can I get my money back after two weeks?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";
const REASONS = { no_match: /No passage is close enough/, weak_evidence: /unlikely to answer it/ };
const STAGES = ["embed", "check", "search", "first_word", "complete"];

const { demo, page } = await startDemoSuite({ browser: { colorScheme: "light" } });
const widget = new Widget(page);

before(async () => {
  await page.goto(demo.info.page_url);
  await signIn();
});

async function signIn() {
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
}

const stages = () =>
  page.locator(".stage").evaluateAll((rows) =>
    rows.map((row) => ({
      name: row.dataset.stage,
      state: row.dataset.state,
      time: row.querySelector(".stage-time").textContent,
    })),
  );

const raw = async () => JSON.parse(await page.locator("#raw-json").textContent());

/** The effect of the visitor's choices in the widget. */
const looks = () =>
  page.evaluate(() => {
    const chat = document.querySelector("evidence-chat");
    /** @type {HTMLElement} */
    const root = chat.shadowRoot.querySelector(".root");
    /** @type {HTMLTextAreaElement} */
    const input = chat.shadowRoot.querySelector("[data-role=input]");
    return {
      lang: root.lang,
      direction: getComputedStyle(root).direction,
      placeholder: input.placeholder,
      scheme: root.dataset.scheme,
    };
  });

test("the page shows every step of an answered question, with the bytes actually sent", async () => {
  const sent = page.waitForRequest((request) => request.url() === demo.info.chat_url && request.method() === "POST");
  await widget.askFor(COVERED);
  const shown = await stages();
  assert.deepEqual(
    shown.map(({ name, state }) => [name, state]),
    STAGES.map((name) => [name, "done"]),
  );
  for (const { name, time } of shown) assert.match(time, /^[\d.]+ (ms|s)$/, name);
  const bytes = (await sent).postDataBuffer().length;
  const size = await page.locator("#left-size").innerText();
  assert.ok(Math.abs(Number.parseFloat(size) * 1000 - bytes) <= 50, `${size} of ${bytes} bytes`);
});

test("the inspector lists each passage of the answer, and the raw outcome contains all of them", async () => {
  const [stored] = await demo.rest("GET", "chat_messages?role=eq.assistant&select=content,citations");
  const outcome = await raw();
  const passages = stored.citations.map(({ chunk_id }) => chunk_id);
  assert.ok(passages.length > 0);
  assert.equal(outcome.text, stored.content);
  assert.deepEqual(
    outcome.citations.map(({ chunk_id }) => chunk_id),
    passages,
  );
  const listed = page.locator(".passages").first().locator("li");
  assert.deepEqual(await listed.evaluateAll((all) => all.map(({ dataset }) => dataset.chunk)), passages);
});

test("a refusal shows its reason and ends the steps early", async () => {
  await widget.askFor(OFF_TOPIC, "refused");
  const { type, reason } = await raw();
  assert.equal(type, "refusal");
  assert.match(await page.locator(`#evidence [data-reason=${reason}]`).innerText(), REASONS[reason]);
  const shown = await stages();
  assert.deepEqual(
    shown.map(({ name, state }) => [name, state]),
    ["embed", "check", "search", "refused"].map((name) => [name, "done"]),
  );
});

test("each language changes the widget, and Arabic switches it to right-to-left", async () => {
  const seen = [];
  for (const language of ["en", "de", "es", "fr", "ja", "ar"]) {
    await page.locator("#language").selectOption(language);
    // The widget loads its texts when they are needed.
    await page.waitForFunction((expected) => {
      /** @type {HTMLElement} */
      const root = document.querySelector("evidence-chat").shadowRoot.querySelector(".root");
      return root.lang === expected;
    }, language);
    seen.push(await looks());
    assert.equal(seen.at(-1).direction, language === "ar" ? "rtl" : "ltr", language);
  }
  assert.equal(new Set(seen.map(({ placeholder }) => placeholder)).size, 6, "six texts of the widget");
  assert.match(
    await widget.find("refusal-message").first().innerText(),
    /\p{Script=Arabic}/u,
    "also in replies that were shown before",
  );
});

test("the theme applies to the widget, and the chat moves into the corner and back", async () => {
  for (const [theme, scheme] of [
    ["dark", "dark"],
    ["light", "light"],
    ["auto", "light"],
    ["dark", "dark"],
  ]) {
    await page.locator("#theme").selectOption(theme);
    assert.equal((await looks()).scheme, scheme, theme);
  }

  const launcher = widget.find("launcher");
  assert.ok(!(await launcher.isVisible()));
  await page.locator("#mode").selectOption("floating");
  await launcher.waitFor();
  await page.locator("#mode").selectOption("inline");
  await launcher.waitFor({ state: "hidden" });
  assert.equal(await widget.find("assistant").count(), 2, "the conversation moves with it");
  await page.locator("#mode").selectOption("floating");
});

test("language, theme and position of the chat survive a reload", async () => {
  const before = await looks();
  await page.reload();
  await page.locator("body[data-view=chat]").waitFor();
  await widget.find("launcher").waitFor();
  assert.deepEqual(await looks(), before);
  assert.equal(await page.locator("#language").inputValue(), "ar");
  assert.equal(await page.locator("#theme").inputValue(), "dark");
  assert.equal(await page.locator("#mode").inputValue(), "floating");
});

test("signing out empties the inspector and the widget", async () => {
  await page.locator(".example").first().click();
  await widget.replyEnds("done");
  assert.ok((await page.locator(".passages").count()) > 0);
  await page.locator("#sign-out").click();
  await page.locator("body[data-view=sign-in]").waitFor();
  await signIn();
  assert.equal(await widget.find("assistant").count(), 0);
  assert.equal(await page.locator(".passages").count(), 0);
  assert.equal(await page.locator("#evidence-question").textContent(), "");
  assert.equal(await page.locator("#raw-json").textContent(), "");
  assert.ok((await stages()).every(({ state }) => state === "waiting"));
  assert.ok(!(await page.locator("#left").isVisible()));
});

test("no page logged an error", () => {
  assert.deepEqual(page.errors, []);
});
