// The history in a real browser against the real demo: what is stored, shown again, changed and deleted is real. The
// tests run in order on one demo.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { eventuallyEqual } from "../lib/eventually-equal.mjs";
import { Widget } from "../lib/widget.mjs";

const RETURNS = "Can I get my money back after two weeks?";
const DELIVERY = "How long does standard delivery take?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";

const { demo, page } = await startDemoSuite({ browser: {} });
const widget = new Widget(page);

before(async () => {
  await page.goto(demo.info.page_url);
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
});

const inWidget = (role) => widget.find(role);
const titles = () => inWidget("session-open").allInnerTexts();
const stored = () => demo.rest("GET", "chat_sessions?select=title,chat_messages(role)&order=updated_at.desc");

async function openHistory() {
  await inWidget("history-open").click();
  await inWidget("session").first().waitFor();
}

test("the widget lists conversations, newest first", async () => {
  await widget.askFor(RETURNS);
  await widget.askFor(OFF_TOPIC, "refused");
  await inWidget("new").click();
  await widget.askFor(DELIVERY);
  await openHistory();
  const listed = await titles();
  assert.equal(listed.length, 2);
  assert.match(listed[0], /standard delivery/);
  assert.match(listed[1], /money back/);
});

test("an opened conversation shows its answers with sources and can be continued", async () => {
  await inWidget("session-open").nth(1).click();
  await inWidget("refusal").waitFor();
  assert.deepEqual(await inWidget("user").allInnerTexts(), [RETURNS, OFF_TOPIC]);
  await inWidget("marker").first().click();
  await page.locator("evidence-chat details[open] [data-role=quote]").first().waitFor();
  await widget.askFor("What does standard delivery cost?");
  const sessions = await stored();
  assert.equal(sessions.length, 2);
  assert.equal(sessions.find(({ title }) => title === RETURNS).chat_messages.length, 6);
});

test("a changed title of a conversation is stored", async () => {
  await openHistory();
  await inWidget("session-rename").first().click();
  await inWidget("rename-input").fill("Money back");
  await inWidget("rename-input").press("Enter");
  await eventuallyEqual(async () => (await stored()).some(({ title }) => title === "Money back"), true);
  assert.match((await titles())[0], /Money back/);
});

test("a conversation is deleted only once its deletion can no longer be undone", async () => {
  await inWidget("session-delete").nth(1).click();
  assert.equal((await titles()).length, 1);
  await inWidget("undo").click();
  assert.equal((await titles()).length, 2);
  assert.equal((await stored()).length, 2);

  await inWidget("session-delete").nth(1).click();
  await inWidget("history-back").click();
  await eventuallyEqual(async () => (await stored()).length, 1);
});

test("a quote of a deleted document stays, with a note that the document is gone", async () => {
  await openHistory();
  await inWidget("session-open").first().click();
  await inWidget("marker").first().waitFor();
  await inWidget("new").click();
  await demo.rest("PATCH", "kb_documents?enabled=is.true", { body: { enabled: false } });
  await openHistory();
  await inWidget("session-open").first().click();
  await inWidget("marker").first().click();
  await inWidget("source-gone").first().waitFor();
  assert.match(await inWidget("source-gone").first().innerText(), /no longer available/);
  await page.locator("evidence-chat details[open] [data-role=quote]").first().waitFor();
  await demo.rest("PATCH", "kb_documents?enabled=is.false", { body: { enabled: true } });
});

test("another user who signs in sees none of the conversations", async () => {
  await page.locator("#sign-out").click();
  await page.locator("#email").fill(`${crypto.randomUUID()}@example.com`);
  await page.locator("#password").fill("another-password");
  await page.locator("#auth-create").click();
  await page.locator("body[data-view=chat]").waitFor();
  assert.equal(await inWidget("assistant").count(), 0);
  await inWidget("history-open").click();
  await inWidget("history-state").filter({ hasText: "appear here" }).waitFor();
  assert.equal(await inWidget("session").count(), 0);
});

test("no page logged an error", () => {
  assert.deepEqual(page.errors, []);
});
