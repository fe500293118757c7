// A page names the assistant that answers. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { failure } from "./support/answers.mjs";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, sent } = await startWidgetSuite();

const assistantsOf = () => sent().map((body) => JSON.parse(body).assistant);
const asked = (path) =>
  site.api.requests.filter((request) => request.path === path).map(({ query }) => query.assistant);

test("the attribute names the assistant of questions, settings and history", async (t) => {
  site.api.config = { ...site.api.config, title: "The shop", greeting: "Hello from the shop!" };
  const widget = await open(t, { attributes: { assistant: "shop" } });
  await widget.ask(QUESTION);
  assert.deepEqual(assistantsOf(), ["shop"]);
  await widget.role("history-open").click();
  await widget.until(() => asked("/api/sessions").length > 0, "the list of conversations");
  assert.deepEqual(asked("/api/sessions"), ["shop"]);
  assert.ok(asked("/api/config").every((name) => name === "shop"));
  const text = (part) =>
    widget.element.evaluate((chat, name) => chat.shadowRoot.querySelector(`[part~=${name}]`).textContent, part);
  assert.equal(await text("heading"), "The shop");
});

test("without the attribute, no assistant is named", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  assert.deepEqual(assistantsOf(), [undefined]);
  assert.ok(asked("/api/config").every((name) => name === undefined));
});

test("another assistant starts with its own settings and without the conversation of the one before", async (t) => {
  const widget = await open(t, { attributes: { assistant: "shop" } });
  await widget.ask(QUESTION);
  await widget.element.evaluate((chat) => chat.setAttribute("assistant", "staff"));
  await widget.role("question").waitFor({ state: "detached" });
  await widget.ask(QUESTION);
  const last = JSON.parse(sent().at(-1));
  assert.deepEqual([last.assistant, last.session_id], ["staff", undefined]);
  assert.equal(asked("/api/config").at(-1), "staff");
});

test("a forbidden assistant gives an error in plain words and no retry", async (t) => {
  site.api.respondWith(failure(404, "unknown_assistant", { retryable: false }));
  const widget = await open(t, { attributes: { assistant: "staff" } });
  await widget.ask(QUESTION, "failed");
  assert.equal(await widget.role("error-message").innerText(), "This assistant does not exist, or it is not for you.");
  assert.equal(await widget.role("assistant").locator("[data-role=retry]").count(), 0);
});
