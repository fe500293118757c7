// The built demo page with real services: its panels, and signing out. The tests run in order on one demo.
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
