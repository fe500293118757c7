// Questions that lean on the one before them, and questions that are longer than the model reads. Real Chromium and embedder,
// simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, refusal, whole } from "./support/answers.mjs";
import { openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, sent, withConversation } = await startWidgetSuite();

const FOLLOW_UP = "And for a gift card?";
const bodies = () => sent().map((body) => JSON.parse(body));
const both = { searched: `${FOLLOW_UP} ${QUESTION}` };

test("a second question is sent with the one before it, and the answer says that both were searched", async (t) => {
  const widget = await open(t);
  site.api.respondWith(whole(answer()), whole(answer(both)), whole(answer()));
  await widget.ask(QUESTION);
  const second = await widget.ask(FOLLOW_UP);
  const note = second.locator("[data-role=searched]");
  assert.equal(await note.innerText(), `Searched together with: ${QUESTION}`);
  assert.equal(await note.getAttribute("role"), "note");
  assert.match(await widget.role("announcer").innerText(), /^Answer: Searched together .* Refunds are paid/);
  const third = await widget.ask("Is it free?");
  assert.equal(await third.locator("[data-role=searched]").count(), 0, "it was searched alone");

  const [first, followUp, last] = bodies();
  assert.equal("previous" in first, false);
  assert.equal(followUp.previous.message, QUESTION);
  assert.equal(last.previous.message, both.searched);
  const { embedding } = followUp.previous;
  assert.equal(embedding.length, 384);
  assert.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-3);
  assert.notDeepEqual(embedding, followUp.embedding);
});

test("a refusal says that both questions were searched", async (t) => {
  const widget = await open(t);
  site.api.respondWith(whole(answer()), whole(refusal(both)));
  await widget.ask(QUESTION);
  const refused = await widget.ask(FOLLOW_UP, "refused");
  assert.match(await refused.locator("[data-role=searched]").innerText(), /Searched together/);
  assert.match(await widget.role("announcer").innerText(), /Searched together .* enough information/);
});

test("the question before is forgotten with its conversation", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.role("new").click();
  await widget.ask(FOLLOW_UP);
  assert.equal("previous" in bodies()[1], false);
});

test("a conversation of the history goes on with its last question", async (t) => {
  withConversation([
    { role: "user", content: "The first one?" },
    { role: "assistant", content: "Refunds are paid." },
    { role: "user", content: QUESTION },
    { role: "assistant", content: "Refunds are paid." },
  ]);
  const widget = await open(t);
  await openConversation(widget);
  await widget.element.getByText("The first one?").waitFor();
  await widget.becomes("ready");
  await widget.ask(FOLLOW_UP);
  assert.equal(bodies()[0].previous.message, QUESTION);
});

test("a conversation of the history goes on with what its last question was searched with", async (t) => {
  withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: "Refunds are paid." },
    { role: "user", content: FOLLOW_UP },
    { role: "assistant", content: "Cards are paid.", ...both },
  ]);
  const widget = await open(t);
  await openConversation(widget);
  await widget.element.getByText("Cards are paid.").waitFor();
  await widget.becomes("ready");
  await widget.ask("Is it free?");
  assert.equal(bodies()[0].previous.message, both.searched);
});

test("a conversation of the history shows again what was searched, and which question was too long", async (t) => {
  const long = "refund ".repeat(300).trim();
  withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: "Refunds are paid." },
    { role: "user", content: FOLLOW_UP },
    { role: "assistant", content: "Cards are paid.", ...both },
    { role: "user", content: FOLLOW_UP },
    { role: "assistant", content: "I do not know.", refusal: "no_match", ...both },
    { role: "user", content: long },
    { role: "assistant", content: "Refunds are paid.", truncated: true },
    { role: "user", content: "Another one?" },
    { role: "assistant", content: "Refunds are paid.", searched: "Not this question", truncated: false },
  ]);
  const widget = await open(t);
  await openConversation(widget);
  await widget.element.getByText("Another one?").waitFor();
  const replies = await widget.element.locator("[data-role=assistant]").all();
  // Firefox gives no inner text of messages out of view.
  const notes = await Promise.all(replies.map((reply) => reply.locator("[role=note]").allTextContents()));
  const together = `Searched together with: ${QUESTION}`;
  const tooLong = "This question was longer than the AI can read: only its beginning was used.";
  assert.deepEqual(notes, [[], [together], [together], [tooLong], []]);
});

test("the note follows the language, and shows a question as text", async (t) => {
  const hostile = "<img src=x onerror=alert(1)> {question}";
  site.api.respondWith(whole(answer()), whole(answer({ searched: `${FOLLOW_UP} ${hostile}` })));
  const widget = await open(t, { attributes: { lang: "de" } });
  await widget.ask(hostile);
  await widget.ask(FOLLOW_UP);
  assert.equal(await widget.role("searched").innerText(), `Zusammen mit Ihrer vorigen Frage gesucht: ${hostile}`);
  await widget.element.evaluate((element) => element.setAttribute("lang", "ar"));
  await widget.element.getByText("تم البحث مع سؤالك السابق").waitFor();
});

test("a question of the page that is longer than the model reads gets the warning with its answer", async (t) => {
  const widget = await open(t);
  site.api.respondWith(whole(answer({ truncated: true })));
  await widget.role("input").focus();
  await widget.becomes("ready");
  void widget.call("ask", "refund ".repeat(300));
  await widget.role("truncated").waitFor();
  assert.match(await widget.role("truncated").innerText(), /longer than the AI can read: only about the first 42%/);
  assert.equal(bodies()[0].truncated, true);
  await widget.ask(FOLLOW_UP);
  assert.deepEqual(["previous" in bodies()[1], "truncated" in bodies()[1]], [false, false], "too long for both");
});
