// What a visitor finds around the first answers: the hint, the conversation after a reload, feedback. The tests run in order on one demo.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { eventuallyEqual } from "../lib/eventually-equal.mjs";
import { Widget } from "../lib/widget.mjs";

const QUESTION = "Can I get my money back after two weeks?";
const ANSWER = /30 days/;
const COMMENT = 'Two weeks <b>or</b> 30 days? \u202e "it\'s" unclear';

const { demo, page } = await startDemoSuite({ browser: {} });
const widget = new Widget(page);

before(async () => {
  await page.goto(demo.info.page_url);
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
});

/** What the owner of the site sees. */
const feedback = () => demo.rest("GET", "chat_feedback?select=rating,reason,comment,question,assistant");
const gaps = () => demo.rest("GET", "chat_refusals?select=question,reason");
const isPressed = (rating) => widget.find(`feedback-${rating}`).last().getAttribute("aria-pressed");

test("the first answer brings a hint, which goes when a source is opened and does not come back", async () => {
  await widget.askFor(QUESTION);
  assert.match(await widget.lastReply.innerText(), ANSWER);
  await widget.find("badge-hint").waitFor();
  await widget.find("marker").first().click();
  await widget.find("badge-hint").waitFor({ state: "hidden" });
});

test("an answer that did not help is stored with its reason and words, and counts among the gaps", async () => {
  await widget.find("feedback-down").click();
  await widget.find("feedback-form").waitFor();
  const judged = { rating: "down", reason: null, comment: null, question: QUESTION, assistant: "default" };
  await eventuallyEqual(feedback, [judged]);
  await eventuallyEqual(gaps, [{ question: QUESTION, reason: "disliked" }]);

  await widget.find("feedback-reason").and(page.locator("[value=incomplete]")).check();
  await widget.find("feedback-comment").fill(COMMENT);
  await widget.find("feedback-send").click();
  await widget.find("feedback-form").waitFor({ state: "detached" });
  await eventuallyEqual(feedback, [{ ...judged, reason: "incomplete", comment: COMMENT }]);
});

test("after a reload the conversation is there with the visitor's feedback, which can be changed and taken back", async () => {
  await page.reload();
  await widget.lastReply.getByText(ANSWER).waitFor();
  await widget.find("feedback-up").waitFor();
  assert.deepEqual([await isPressed("up"), await isPressed("down")], ["false", "true"]);
  await widget.find("feedback-up").click();
  await eventuallyEqual(feedback, [
    { rating: "up", reason: null, comment: null, question: QUESTION, assistant: "default" },
  ]);
  await eventuallyEqual(gaps, []);
  await widget.find("feedback-up").click();
  await eventuallyEqual(feedback, []);
  assert.equal(await isPressed("up"), "false");
  assert.equal(await widget.find("badge-hint").count(), 0);
});

test("a question after the reload goes on in the same conversation", async () => {
  await widget.askFor("How long does standard delivery take?");
  assert.equal((await demo.rest("GET", "chat_sessions?select=id")).length, 1);
});

test("no page logged an error", () => {
  assert.deepEqual(page.errors, []);
});
