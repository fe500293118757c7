// Tokens that expire and visitors that change. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sendAtOnce } from "../../../tests/lib/widget.mjs";
import { answer, failure, gate, stepwise, whole } from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { tokenFor } from "./pages/widget/page.mjs";

const { site, browser, open, sent, assertSentTwiceAlike } = await startWidgetSuite();

const textOf = (locator) => locator.evaluate((element) => element.textContent);

test("an expired token is requested again once, and then an error is shown", async (t) => {
  const widget = await open(t);
  /** Each call returns another token of the same user. */
  const countTokens = () =>
    widget.element.evaluate((element, token) => {
      let calls = 0;
      element.tokenProvider = async () => `${token}-${++calls}`;
    }, tokenFor("visitor"));
  const tokensSent = () => site.api.questions().map(({ headers }) => headers.authorization);

  await countTokens();
  site.api.respondWith(failure(401, "unauthorized"), whole(answer()));
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  assert.equal(new Set(tokensSent()).size, 2);
  assertSentTwiceAlike();

  site.api.respondWith(failure(401, "unauthorized"));
  await widget.ask(QUESTION, "failed");
  assert.equal(new Set(tokensSent()).size, 2, "two attempts and no more");
  assert.equal(tokensSent().length, 2);
  assert.match(await widget.role("error-message").innerText(), /sign out and in again/);
});

test("a signed-out visitor sees an error, and nothing is sent", async (t) => {
  const widget = await open(t, { token: null });
  await widget.ask(QUESTION, "failed");
  assert.match(await widget.role("error-message").innerText(), /sign in/);
  assert.deepEqual(sent(), []);
});

/** Situations in which the widget detects another visitor only with the next question. */
const CHANGES = {
  "": async () => undefined,
  ", also after a new chat": (widget) => widget.role("new").click(),
  ", also with tokens that take 700 ms": (widget) =>
    widget.element.evaluate((element) => {
      element.tokenProvider = async () => {
        await new Promise((resolve) => setTimeout(resolve, 700));
        return sessionStorage.getItem("token");
      };
    }),
};

for (const [when, prepare] of Object.entries(CHANGES)) {
  test(`another visitor's question is answered without data of the previous visitor${when}`, async (t) => {
    const widget = await open(t);
    await widget.ask("A private question?");
    await prepare(widget);
    await widget.page.evaluate((token) => sessionStorage.setItem("token", token), tokenFor("another visitor"));
    await sendAtOnce(widget.role("input"), "Whose turn is it?");
    await widget.element.getByText("Whose turn is it?").waitFor();
    await widget.until(() => sent().length === 2, "the question was sent");
    assert.match(await (await widget.reply("done")).innerText(), ANSWER);
    assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
    assert.equal(await widget.all("assistant").count(), 1);
    assert.equal(site.api.questions()[1].headers.authorization, `Bearer ${tokenFor("another visitor")}`);
    assert.equal(JSON.parse(sent()[1]).session_id, undefined);
    assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
    await widget.becomes("ready");
  });
}

test("a streaming answer disappears when another visitor signs in, and is not asked again", async (t) => {
  const widget = await open(t);
  const steps = stepwise(answer());
  site.api.respondWith(steps, whole(answer()));
  await widget.ask("A private question?", "pending");
  steps.step(2);
  await widget.reply("streaming");
  await widget.page.evaluate((token) => {
    sessionStorage.setItem("token", token);
    dispatchEvent(new Event("focus"));
  }, tokenFor("another visitor"));
  await widget.until(async () => (await widget.all("assistant").count()) === 0, "the answer is gone");
  await widget.until(() => site.api.questions()[0].isCut, "the connection is closed");
  await widget.becomes("ready");
  assert.equal(sent().length, 1);
  assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
});

test("a question that waits for the model is dropped when another visitor signs in", async (t) => {
  await site.forgetModel(browser);
  const held = gate();
  site.interfere = async (path) => {
    if (path.startsWith("/model/")) await held.opened;
    return false;
  };
  const widget = await open(t);
  await widget.ask("A private question?", "pending");
  await widget.until(async () => (await widget.page.evaluate(() => tokens.length)) > 0, "the asker is known");
  await widget.page.evaluate((token) => sessionStorage.setItem("token", token), tokenFor("another visitor"));
  held.open();
  await widget.until(async () => (await widget.all("assistant").count()) === 0, "the question is gone");
  assert.deepEqual(sent(), []);
  assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
});

test("a draft is cleared for the next visitor", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  await widget.role("input").fill("A private draft");
  await widget.page.evaluate((token) => sessionStorage.setItem("token", token), tokenFor("another visitor"));
  await widget.call("ask", "Whose turn is it?");
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
  assert.equal(await widget.role("input").inputValue(), "");
});
