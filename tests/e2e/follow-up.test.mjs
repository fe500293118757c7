// A dialogue of two questions, in a real browser against the real demo and over the API. The tests run in order on one demo.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerText, ask, chatRequest, only, post } from "../lib/chat.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { Widget } from "../lib/widget.mjs";

const FIRST = "How do I reset my password?";
const FOLLOW_UP = "How long is that link valid?";
const ANSWER = /60 minutes/;

const { demo, page } = await startDemoSuite({ browser: {} });
const widget = new Widget(page);
const chatUrl = demo.info.chat_url;

const followUp = async (message, previous) => ({
  ...(await chatRequest(message)),
  previous: { message: previous, embedding: (await chatRequest(`${message} ${previous}`)).embedding },
});

test("a follow-up is answered together with the question before it, and the widget says so", async () => {
  await page.goto(demo.info.page_url);
  await page.locator("body[data-view=sign-in]").waitFor();
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
  await widget.ask(FIRST);
  await widget.replyEnds("done");
  await widget.ask("And in a snowstorm on Mount Everest, which wax do climbers put under their skis?");
  await widget.replyEnds("refused");
  assert.equal(await widget.lastReply.locator("[data-role=searched]").count(), 0, "it stands alone");
  await widget.ask(FIRST);
  await widget.replyEnds("done");
  await widget.ask(FOLLOW_UP);
  await widget.replyEnds("done");
  assert.match(await widget.lastReply.locator("[data-role=answer]").textContent(), ANSWER);
});

test("a question that finds nothing alone is answered after the one that it leans on, and stored as it was asked", async () => {
  const token = await demo.newUser();
  const alone = await ask(chatUrl, token, "And to Switzerland?");
  const body = await followUp("And to Switzerland?", "How long does standard delivery take within the country?");
  const { events } = await post(chatUrl, token, body);
  const end = only(events, "answer_end");
  assert.equal(end.searched, `${body.message} ${body.previous.message}`);
  assert.match(answerText(events), /5 to 10 working days/);
  assert.notDeepEqual(alone.events, events);
  assert.deepEqual((await post(chatUrl, token, body)).events, events, "a repeat gets the same outcome");
  const asked = await demo.rest("GET", `chat_messages?id=eq.${body.message_id}&select=content`);
  assert.deepEqual(asked, [{ content: body.message }]);
  const messages = new URL(`sessions/${only(events, "answer_start").session_id}/messages`, chatUrl);
  const { messages: stored } = await (await fetch(messages, { headers: { authorization: `Bearer ${token}` } })).json();
  assert.deepEqual(
    stored.map(({ role, searched }) => [role, searched]),
    [
      ["user", undefined],
      ["assistant", end.searched],
    ],
  );
});

test("a second question that stands alone has the same answer as without the one before it", async () => {
  const question = "Do you accept cryptocurrencies?";
  const outcome = async (body) => (await post(chatUrl, await demo.newUser(), body)).events;
  const alone = await outcome(await chatRequest(question));
  const after = await outcome(await followUp(question, FIRST));
  assert.equal(answerText(after), answerText(alone));
  assert.equal("searched" in after.at(-1).data, false);
});

test("a question that is longer than the model reads is marked", async () => {
  const body = await chatRequest(`Can I get my money back? ${"I bought a lantern. ".repeat(70)}`);
  const { events } = await post(chatUrl, await demo.newUser(), body);
  assert.equal(events.at(-1).data.truncated, true);
});
