// Several assistants on one backend, in Chromium: each answers from its own collections, and nobody learns about those of others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { eventuallyEqual } from "../lib/eventually-equal.mjs";
import { HostPage } from "../lib/host-page.mjs";
import { Widget } from "../lib/widget.mjs";

const QUESTION = "Can I get my money back after two weeks?";
const UNKNOWN = "This assistant does not exist, or you don't have access to it.";

const { demo, page } = await startDemoSuite({ browser: {} });
const token = await demo.newUser();
const host = await HostPage.prepare(page, demo);
const widget = new Widget(page);

const [{ collection }] = await demo.rest("GET", "kb_documents?status=eq.ready&select=collection&limit=1");
for (const assistant of [
  { name: "shop", collections: [collection], title: "The shop" },
  { name: "empty", collections: ["another-collection"] },
  { name: "staff", audience: ["team:staff"] },
]) {
  await demo.rest("POST", "assistants", { body: assistant });
}

test("an assistant answers from its collections, under its own title and in its own history", async () => {
  await host.open({ token, attributes: { assistant: "shop" } });
  await widget.askFor(QUESTION);
  assert.match(await widget.lastReply.innerText(), /30 days/);
  assert.equal(await widget.host.locator("[part~=heading]").innerText(), "The shop");
  assert.deepEqual(await demo.rest("GET", "chat_sessions?select=assistant"), [{ assistant: "shop" }]);
});

test("an assistant finds nothing outside its collections", async () => {
  await host.open({ token, attributes: { assistant: "empty" } });
  await widget.askFor(QUESTION, "refused");
  const recorded = () => demo.rest("GET", "chat_refusals?assistant=eq.empty&select=reason");
  await eventuallyEqual(recorded, [{ reason: "no_access" }]);
});

for (const name of ["staff", "no-such-assistant"]) {
  test(`the assistant ${name} gives a user outside its audience a clear error`, async () => {
    await host.open({ token, attributes: { assistant: name } });
    await widget.askFor(QUESTION, "failed");
    assert.equal(await widget.find("error-message").innerText(), UNKNOWN);
  });
}
