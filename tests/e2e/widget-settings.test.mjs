// The effect of an administrator's settings for a visitor: greeting, suggested questions, original files. The tests run in
// order on one demo.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFile } from "node:fs/promises";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { HostPage } from "../lib/host-page.mjs";
import { Widget } from "../lib/widget.mjs";

const QUESTION = "Can I get my money back after two weeks?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";
const GREETING = "Ask me anything about <b>Fernhollow</b>.";
const SAMPLE_KB = new URL("../../supabase/sample-kb/", import.meta.url);

const { demo, page } = await startDemoSuite({ browser: { acceptDownloads: true } });
const token = await demo.newUser();
const host = await HostPage.prepare(page, demo);
const widget = new Widget(page);

/** Changes the settings as the dashboard would. The readiness check reloads them, so the test need not wait a minute. */
async function changeSettings(changes) {
  await demo.rest("PATCH", "assistants?name=eq.default", { body: changes });
  const { status } = await fetch(new URL("/api/ready", demo.info.chat_url));
  assert.equal(status, 200);
}

/** Opens the first source of the last reply. */
async function openSource() {
  const source = widget.lastReply.locator("[data-role=source]").first();
  await source.locator("summary").click();
  await source.locator("[data-role=quote]").first().waitFor();
  return source;
}

/** Opens a conversation of the history; 0 is the newest. */
async function restore(place) {
  await widget.host.hover();
  await widget.find("history-open").click();
  await widget.find("session-open").nth(place).click();
  await widget.find("assistant").first().waitFor();
}

/** Presses the button and returns the name and content of the file that the browser saves. */
async function save(source) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    source.locator("[data-role=source-download]").click(),
  ]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** The file in the folder of samples that the first source comes from. */
async function original() {
  const [{ citations }] = await demo.rest(
    "GET",
    "chat_messages?role=eq.assistant&select=citations&order=created_at&limit=1",
  );
  const [document] = await demo.rest("GET", `kb_documents?id=eq.${citations[0].document_id}&select=id,source`);
  const name = document.source.split("/").at(-1);
  return { id: document.id, name, bytes: await readFile(new URL(name, SAMPLE_KB)) };
}

test("the widget loads greeting and suggested questions on hover, and a click asks a question", async () => {
  await changeSettings({ greeting: GREETING, suggested_questions: [QUESTION, "What does standard delivery cost?"] });
  await host.open({ token });
  assert.equal(await widget.find("suggested").count(), 0, "nothing is loaded before");
  await widget.host.hover();
  await widget.find("suggested").first().waitFor();
  assert.deepEqual(await widget.find("suggested").allInnerTexts(), [QUESTION, "What does standard delivery cost?"]);
  assert.equal(await widget.find("greeting").innerText(), GREETING, "as text");

  await widget.find("suggested").first().click();
  await widget.replyEnds("done");
  assert.deepEqual(await widget.find("user").allInnerTexts(), [QUESTION]);
  assert.match(await widget.lastReply.innerText(), /30 days/);
});

test("no source offers a link while links to originals are off", async () => {
  const source = await openSource();
  assert.equal(await source.locator("[data-role=source-download]").count(), 0);
});

test("the greeting set on the page overrides that of the settings", async () => {
  await host.open({ token, attributes: { greeting: "Hello from the page." } });
  await widget.host.hover();
  await widget.find("suggested").first().waitFor();
  assert.equal(await widget.find("greeting").innerText(), "Hello from the page.");
});

for (const link_mode of ["authenticated", "public"]) {
  test(`the original file of a source is downloaded unchanged (${link_mode})`, async () => {
    await changeSettings({ link_mode });
    await host.open({ token });
    await widget.askFor(QUESTION);
    const expected = await original();
    const { name, bytes } = await save(await openSource());
    assert.equal(name, expected.name);
    assert.ok(bytes.equals(expected.bytes), `${bytes.length} bytes of ${expected.bytes.length}`);
  });
}

test("the original file can also be downloaded from a conversation whose answer was stored without a link", async () => {
  await changeSettings({ link_mode: "authenticated" });
  await host.open({ token });
  await restore(2);
  assert.deepEqual(await widget.find("user").allInnerTexts(), [QUESTION]);
  const expected = await original();
  const { bytes } = await save(await openSource());
  assert.ok(bytes.equals(expected.bytes));
});

test("a link to a withdrawn document shows a message, and the visitor can continue", async () => {
  await host.open({ token });
  await widget.askFor(QUESTION);
  const source = await openSource();
  const { id } = await original();
  await demo.rest("PATCH", `kb_documents?id=eq.${id}`, { body: { enabled: false } });
  const button = source.locator("[data-role=source-download]");
  await button.click();
  await source.locator("[data-role=download-status]", { hasText: "could not be downloaded" }).waitFor();
  assert.equal(await button.getAttribute("aria-busy"), null);

  await demo.rest("PATCH", `kb_documents?id=eq.${id}`, { body: { enabled: true } });
  await save(source);
  assert.equal(await source.locator("[data-role=download-status]").innerText(), "");
  await widget.askFor("What does standard delivery cost?");
});

test("switching links off removes them from new and old answers", async () => {
  await changeSettings({ link_mode: "none" });
  await host.open({ token });
  await widget.askFor(QUESTION);
  assert.equal(await (await openSource()).locator("[data-role=source-download]").count(), 0);
  await restore(2);
  assert.equal(await (await openSource()).locator("[data-role=source-download]").count(), 0);
});

test("an answer has no badges and no sources while citations are switched off", async () => {
  await changeSettings({ citations: false });
  await host.open({ token });
  await widget.askFor(QUESTION);
  assert.match(await widget.lastReply.innerText(), /30 days/);
  for (const role of ["marker", "sources", "export"]) assert.equal(await widget.find(role).count(), 0, role);
});

test("the configured refusal message is shown verbatim, also in the history", async () => {
  const refusal_message = "No idea. <b>Sorry!</b>";
  await changeSettings({ refusal_message, refusal_suggestions: ["What does express delivery cost?"] });
  await host.open({ token });
  await widget.askFor(OFF_TOPIC, "refused");
  assert.equal(await widget.find("refusal-message").innerText(), refusal_message);
  await widget.find("suggestion").click();
  await widget.replyEnds("done");
  assert.match(await widget.lastReply.innerText(), /express/i);
  await restore(0);
  assert.equal(await widget.find("refusal-message").innerText(), refusal_message, "it is still a refusal");
  assert.equal(await widget.find("assistant").first().locator("[data-role=copy]").count(), 0);
});

test("no page logged an error", () => {
  assert.deepEqual(page.errors, []);
});
