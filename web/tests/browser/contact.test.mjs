// The way to people after a refusal or an answer that did not help. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, refusal, SESSION, whole } from "./support/answers.mjs";
import { openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, withConversation } = await startWidgetSuite();
const SERVER_URL = "https://server.example/help?q={question}";
const refused = () => whole(refusal({ suggestions: [{ type: "contact", text: "Contact support", url: SERVER_URL }] }));

async function openRefused(t, attributes = {}) {
  site.api.respondWith(refused());
  const widget = await open(t, { attributes });
  await widget.ask(QUESTION, "refused");
  return widget;
}

/** Handles the event as a page does: remembers its detail, and prevents the default if asked to. */
const listen = (widget, prevents) =>
  widget.element.evaluate((chat, prevents) => {
    globalThis.contacted = [];
    chat.addEventListener("contact", (event) => {
      if (prevents) event.preventDefault();
      globalThis.contacted.push(event.detail);
    });
  }, prevents);

test("the link leads to the server's address with the question in it, in a new tab", async (t) => {
  const widget = await openRefused(t);
  const link = widget.role("contact");
  assert.equal(await link.getAttribute("href"), `https://server.example/help?q=${encodeURIComponent(QUESTION)}`);
  assert.equal(await link.getAttribute("target"), "_blank");
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  assert.equal(await link.innerText(), "Contact support");
});

test("the page's address takes precedence, and an empty one removes the link", async (t) => {
  const page = await openRefused(t, { "support-url": "mailto:help@shop.example" });
  assert.match(await page.role("contact").getAttribute("href"), /^mailto:help@shop\.example\?subject=Question/);
  const none = await openRefused(t, { "support-url": "" });
  assert.equal(await none.all("contact").count(), 0);
  assert.equal(await none.role("suggestion").innerText(), "Contact support");
});

test("the event says which question it is about, and the page can open its live chat instead", async (t) => {
  const widget = await openRefused(t, { "support-url": "#" });
  await listen(widget, true);
  const { page } = widget;
  const before = [page.url(), page.context().pages().length];
  await widget.role("contact").press("Enter");
  assert.deepEqual(await page.evaluate(() => globalThis.contacted), [{ question: QUESTION, sessionId: SESSION }]);
  assert.deepEqual([page.url(), page.context().pages().length], before);
});

test("an address that begins with # is a place of this page", async (t) => {
  const widget = await openRefused(t, { "support-url": "#people" });
  await listen(widget, false);
  assert.equal(await widget.role("contact").getAttribute("target"), null);
  await widget.role("contact").click();
  assert.equal(new URL(widget.page.url()).hash, "#people");
  assert.equal((await widget.page.evaluate(() => globalThis.contacted)).length, 1);
});

test("the form for an answer that did not help leads to the address of the site's settings", async (t) => {
  site.api.config = { ...site.api.config, support_url: SERVER_URL };
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.role("feedback-down").click();
  const link = widget.role("feedback-form").getByRole("link", { name: "Contact support" });
  assert.equal(await link.getAttribute("href"), `https://server.example/help?q=${encodeURIComponent(QUESTION)}`);
});

test("the link of a follow-up passes on this question only, also in an opened conversation", async (t) => {
  const FOLLOW_UP = "And to Norway?";
  const searched = `${FOLLOW_UP} ${QUESTION}`;
  site.api.respondWith(whole(answer()), whole(answer({ searched })));
  const widget = await open(t, { attributes: { "support-url": "#" } });
  await listen(widget, true);
  const assertPassedOn = async () => {
    await widget.role("feedback-down").click();
    await widget.role("contact").click();
    assert.equal((await widget.page.evaluate(() => globalThis.contacted)).at(-1).question, FOLLOW_UP);
  };
  await widget.ask(QUESTION);
  await widget.ask(FOLLOW_UP);
  await assertPassedOn();
  withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: "Refunds are paid." },
    { role: "user", content: FOLLOW_UP },
    { role: "assistant", content: "Yes.", searched },
  ]);
  await openConversation(widget);
  await widget.element.getByText("Yes.").waitFor();
  await assertPassedOn();
});

test("without an address the form has no link", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.role("feedback-down").click();
  await widget.role("feedback-form").waitFor();
  assert.equal(await widget.all("contact").count(), 0);
});

test("the link follows the language, and the mail's subject too", async (t) => {
  const widget = await openRefused(t, { lang: "de", "support-url": "mailto:a@b.example" });
  assert.equal(await widget.role("contact").innerText(), "Support kontaktieren");
  const fields = new URL(await widget.role("contact").getAttribute("href")).searchParams;
  assert.equal(fields.get("subject"), "Frage zu Ihrer Website");
});
