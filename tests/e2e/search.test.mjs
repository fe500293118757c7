// Search while a question is typed, with real components: model, Postgres with RLS, workerd, and the widget in Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chatRequest, post } from "../lib/chat.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { HostPage } from "../lib/host-page.mjs";
import { Widget } from "../lib/widget.mjs";

const HALF_TYPED = "how long do I have to return som";
const COVERED = "Can I get my money back after two weeks?";

const { demo, page } = await startDemoSuite({ browser: {} });
const chatUrl = demo.info.chat_url;
const searchUrl = new URL("search", chatUrl).href;

async function search(token, query, fields = {}) {
  const { embedding, model } = await chatRequest(query);
  return post(searchUrl, token, { embedding, model, query, ...fields });
}

const limitOf = ({ headers }) => ["ratelimit-limit", "ratelimit-remaining"].map((name) => Number(headers.get(name)));

test("a half-typed question finds the right page, with words of its passage", async () => {
  const token = await demo.newUser();
  const { status, json } = await search(token, HALF_TYPED);
  assert.equal(status, 200);
  assert.ok(json.results.length >= 1 && json.results.length <= 5, `${json.results.length} results`);
  assert.match(json.results[0].title, /return|refund/i);
  for (const { chunk_id, document_id, excerpt, quotes } of json.results) {
    const [chunk] = await demo.rest("GET", `kb_chunks?id=eq.${chunk_id}&select=content,document_id`);
    assert.deepEqual([chunk.content, chunk.document_id], [excerpt, document_id]);
    for (const { start, end, text } of quotes) assert.equal(excerpt.slice(start, end), text);
  }
  const places = json.results.map(({ document_id, section }) => `${document_id} ${section}`);
  assert.deepEqual(places, [...new Set(places)]);
  assert.equal((await search(token, HALF_TYPED, { limit: 1 })).json.results.length, 1);
});

test("searches store nothing and take no question's place", async () => {
  const token = await demo.newUser();
  const before = await demo.rest("GET", "chat_refusals?select=id");
  for (let count = 0; count < 30; count++) assert.equal((await search(token, HALF_TYPED)).status, 200);
  assert.equal((await search(token, "which planet has the most moons")).headers.get("ratelimit-limit"), null);
  assert.deepEqual(await demo.rest("GET", "chat_sessions?select=id", { token }), []);
  assert.deepEqual(await demo.rest("GET", "chat_refusals?select=id"), before);
  const asked = await post(chatUrl, token, await chatRequest(COVERED));
  assert.deepEqual(limitOf(asked), [20, 19]);
});

test("a document for others is found by its audience only", async () => {
  const token = await demo.newUser();
  const [first] = (await search(token, HALF_TYPED)).json.results;
  const ids = async () => (await search(token, HALF_TYPED)).json.results.map(({ document_id }) => document_id);
  const document = `kb_documents?id=eq.${first.document_id}`;
  await demo.rest("PATCH", document, { body: { audience: ["team:staff"] } });
  assert.ok(!(await ids()).includes(first.document_id), "for others");
  await demo.rest("PATCH", document, { body: { audience: null, enabled: false } });
  assert.ok(!(await ids()).includes(first.document_id), "disabled");
  await demo.rest("PATCH", document, { body: { enabled: true } });
  assert.ok((await ids()).includes(first.document_id), "for everybody again");
});

test("an assistant is searched in its collections, and one for others is unknown", async () => {
  const token = await demo.newUser();
  await demo.rest("POST", "assistants", { body: { name: "empty", collections: ["another-collection"] } });
  await demo.rest("POST", "assistants", { body: { name: "staff", audience: ["team:staff"] } });
  assert.deepEqual((await search(token, HALF_TYPED, { assistant: "empty" })).json, { results: [] });
  const { status, json } = await search(token, HALF_TYPED, { assistant: "staff" });
  assert.deepEqual([status, json.code], [404, "unknown_assistant"]);
});

test("a visitor sees results while typing, opens one by keyboard, and asks", async () => {
  const host = await HostPage.prepare(page, demo);
  const widget = new Widget(page);
  await host.open({ token: await demo.newUser() });
  await host.ready();
  await widget.find("input").focus();
  await widget.find("input").pressSequentially(HALF_TYPED, { delay: 40 });
  await widget.find("result").first().waitFor();
  await page.waitForFunction(() => {
    const root = document.querySelector("evidence-chat").shadowRoot;
    return /return|refund/i.test(root.querySelector("[data-role=result]")?.textContent ?? "");
  });
  await widget.find("input").press("ArrowDown");
  assert.equal(await widget.find("result").first().getAttribute("aria-selected"), "true");
  const popup = page.waitForEvent("popup", { timeout: 3000 }).catch(() => undefined);
  await widget.find("input").press("Enter");
  const opened = await Promise.race([
    popup,
    widget
      .find("result-passage")
      .waitFor()
      .then(() => undefined),
  ]);
  await opened?.close();
  if (!opened) await page.keyboard.press("Escape");
  assert.equal(await widget.find("input").inputValue(), HALF_TYPED, "the text is still there");
  await widget.find("input").fill(COVERED);
  await widget.askFor(COVERED);
  assert.match(await widget.lastReply.innerText(), /30 days/);
});
