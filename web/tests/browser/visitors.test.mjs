// Tokens that expire and visitors that change. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, failure, gate, refusal, stepwise, whole } from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { tokenFor } from "./pages/widget/page.mjs";

const { site, browser, open, openWithClock, sent, assertSentTwiceAlike, withConversation } = await startWidgetSuite();

const textOf = (locator) => locator.evaluate((element) => element.textContent);

/** From now on, the page's tokens are those of another visitor. */
const signInAnother = ({ page }, user = "another visitor") =>
  page.evaluate((token) => sessionStorage.setItem("token", token), tokenFor(user));

/** Makes the widget ask for a token. */
const returnToWindow = ({ page }) => page.evaluate(() => dispatchEvent(new Event("focus")));

/** From now on, the page's tokens wait for `resolveToken` in the page. */
const holdTokens = (widget) =>
  widget.element.evaluate((element) => {
    element.tokenProvider = () => new Promise((resolve) => (globalThis.resolveToken = resolve));
  });
const tokenIsRequested = (widget) =>
  widget.until(() => widget.page.evaluate(() => "resolveToken" in globalThis), "a request for a token");
const resolveToken = ({ page }, user) => page.evaluate((token) => globalThis.resolveToken(token), tokenFor(user));

/** Waits until nothing of the previous visitor is left. */
const emptied = (widget) => widget.until(async () => (await widget.all("user").count()) === 0, "the chat is empty");

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
    await signInAnother(widget);
    await widget.role("input").fill("Whose turn is it?");
    await widget.role("input").press("Enter");
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

test("a suggested question of a refusal is asked again for another visitor who chooses it", async (t) => {
  const suggested = "How long do refunds take?";
  site.api.respondWith(whole(refusal({ suggestions: [{ type: "ask", text: suggested }] })), whole(answer()));
  const widget = await open(t);
  await widget.ask("A private question?", "refused");
  await signInAnother(widget);
  await widget.role("suggestion").click();
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), [suggested]);
});

test("a streaming answer disappears when another visitor signs in, and is not asked again", async (t) => {
  const widget = await open(t);
  const steps = stepwise(answer());
  site.api.respondWith(steps, whole(answer()));
  await widget.ask("A private question?", "pending");
  steps.step(2);
  await widget.reply("streaming");
  await signInAnother(widget);
  await returnToWindow(widget);
  await widget.until(async () => (await widget.all("assistant").count()) === 0, "the answer is gone");
  await widget.until(() => site.api.questions()[0].isCut, "the connection is closed");
  await widget.becomes("ready");
  assert.equal(sent().length, 1);
  assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
});

test("a page that takes its token provider away clears the conversation, a streaming answer and the draft at once", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  const steps = stepwise(answer());
  site.api.respondWith(steps);
  await widget.ask("Another private one?", "pending");
  steps.step(2);
  await widget.reply("streaming");
  await widget.role("input").fill("A private draft");
  const left = await widget.element.evaluate((element) => {
    element.tokenProvider = undefined;
    return element.shadowRoot.querySelector(".root").textContent;
  });
  assert.doesNotMatch(left, /private|Refunds/);
  assert.equal(await widget.role("input").inputValue(), "");
  await widget.until(() => site.api.questions()[0].isCut, "the connection is closed");
  await widget.becomes("ready");
  assert.equal(sent().length, 1);
});

test("a page that takes its token provider away because nobody is signed in takes no draft away", async (t) => {
  const widget = await open(t, { token: null });
  await widget.role("input").fill("A draft");
  await widget.becomes("ready");
  await widget.element.evaluate((element) => (element.tokenProvider = undefined));
  assert.equal(await widget.role("input").inputValue(), "A draft");
});

test("a question that waits for its token is back in the box, and not asked, when the page takes its token provider away", async (t) => {
  const widget = await open(t);
  await holdTokens(widget);
  await widget.ask("A question?", "pending");
  await widget.becomes("busy");
  await tokenIsRequested(widget);
  const left = await widget.element.evaluate((element) => {
    element.tokenProvider = undefined;
    return element.shadowRoot.querySelector("[data-role=user]");
  });
  assert.equal(left, null);
  await resolveToken(widget, "visitor");
  await widget.becomes("ready");
  await widget.page.waitForTimeout(300);
  assert.deepEqual(sent(), []);
  assert.equal(await widget.role("input").inputValue(), "A question?");
});

test("a confirmed deletion of all data is sent for the visitor who has signed out while its token was awaited", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  await widget.role("history-open").click();
  await widget.role("my-data-delete").click();
  await holdTokens(widget);
  await widget.role("my-data-confirm").click();
  await tokenIsRequested(widget);
  await widget.element.evaluate((element) => (element.tokenProvider = undefined));
  await resolveToken(widget, "visitor");
  const deletions = () => site.api.requests.filter(({ method, path }) => method === "DELETE" && path === "/api/me");
  await widget.until(() => deletions().length === 1, "the deletion");
  assert.equal(deletions()[0].headers.authorization, `Bearer ${tokenFor("visitor")}`);
});

test("a comment about an answer is not sent for the next visitor", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  await widget.role("feedback-down").click();
  await widget.role("feedback-comment").fill("Private words");
  await signInAnother(widget);
  await widget.role("feedback-send").click();
  await emptied(widget);
  await widget.page.waitForTimeout(300);
  assert.equal(site.api.requests.filter(({ body }) => body.includes("Private words")).length, 0);
});

test("a deletion is not sent for the next visitor", async (t) => {
  withConversation([{ role: "user", content: "A private question?" }]);
  const widget = await open(t);
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.role("session").waitFor();
  await signInAnother(widget);
  await widget.role("session-delete").click();
  await widget.role("session").waitFor({ state: "detached" });
  await widget.page.waitForTimeout(300);
  assert.deepEqual(
    site.api.requests.filter(({ method }) => method === "DELETE").map(({ headers }) => headers.authorization),
    [],
  );
});

test("another token provider costs no token, and the next token tells whether the user has changed", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  const asked = await widget.page.evaluate(() => tokens.length);
  await widget.element.evaluate((element) => {
    for (let updates = 0; updates < 3; updates++) element.tokenProvider = () => globalThis.tokenProvider();
  });
  assert.equal(await widget.page.evaluate(() => tokens.length), asked);
  await signInAnother(widget);
  await returnToWindow(widget);
  await emptied(widget);
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
  await signInAnother(widget);
  held.open();
  await widget.until(async () => (await widget.all("assistant").count()) === 0, "the question is gone");
  assert.deepEqual(sent(), []);
  assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
});

test("a draft is cleared for the next visitor", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  await widget.role("input").fill("A private draft");
  await signInAnother(widget);
  await widget.call("ask", "Whose turn is it?");
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
  assert.equal(await widget.role("input").inputValue(), "");
});

for (const search of ["on", "off"]) {
  test(`what another visitor begins to type stays, with instant results ${search}`, async (t) => {
    const widget = await open(t, { attributes: { "instant-results": search } });
    await widget.ask("A private question?");
    await signInAnother(widget);
    const input = widget.role("input");
    await input.pressSequentially("Whose tu");
    await emptied(widget);
    assert.equal(await input.inputValue(), "Whose tu");
    await input.pressSequentially("rn is it?");
    await input.press("Enter");
    await widget.reply("done");
    assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
    assert.equal(site.api.questions()[1].headers.authorization, `Bearer ${tokenFor("another visitor")}`);
  });

  test(`what a visitor began to type is cleared for the next one, with instant results ${search}`, async (t) => {
    const widget = await open(t, { attributes: { "instant-results": search } });
    await widget.ask("A private question?");
    const asked = await widget.page.evaluate(() => tokens.length);
    await widget.role("input").pressSequentially("A private dra");
    await widget.until(
      async () => (await widget.page.evaluate(() => tokens.length)) > asked,
      "the draft is known to be of the first visitor",
    );
    await signInAnother(widget);
    await returnToWindow(widget);
    await emptied(widget);
    assert.equal(await widget.role("input").inputValue(), "");
  });
}

test("a question of the previous visitor that the widget suggests again is cleared", async (t) => {
  const widget = await open(t);
  site.api.respondWith(whole(refusal()));
  await widget.ask("A private question?", "refused");
  await widget.element.getByRole("button", { name: "Rephrase" }).click();
  assert.equal(await widget.role("input").inputValue(), "A private question?");
  await signInAnother(widget);
  await returnToWindow(widget);
  await emptied(widget);
  assert.equal(await widget.role("input").inputValue(), "");
});

test("the draft of a new visitor is cleared for the one after", async (t) => {
  const widget = await open(t, { attributes: { "instant-results": "off" } });
  await widget.ask("A question of the first?");
  await signInAnother(widget);
  await widget.role("input").pressSequentially("A private draft of the second");
  await emptied(widget);
  await signInAnother(widget, "a third visitor");
  await returnToWindow(widget);
  await widget.until(async () => (await widget.role("input").inputValue()) === "", "the draft is gone");
});

test("a draft that was begun after a session had ended is cleared for the next visitor", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  await widget.page.evaluate(() => sessionStorage.removeItem("token"));
  await widget.role("input").fill("A private draft");
  await emptied(widget);
  assert.equal(await widget.role("input").inputValue(), "");
});

/** A visitor types a question, and sends it after their session has ended. */
async function askSignedOut(widget) {
  const asked = await widget.page.evaluate(() => tokens.length);
  await widget.role("input").fill("A private question?");
  await widget.until(async () => (await widget.page.evaluate(() => tokens.length)) > asked, "the writer is known");
  await widget.page.evaluate(() => sessionStorage.removeItem("token"));
  await widget.role("input").press("Enter");
  await widget.until(async () => (await widget.page.evaluate(() => tokens.at(-1))) === null, "the session has ended");
}

/** Opens a page with a question that failed because the session had ended. */
async function openSignedOut(t) {
  const widget = await open(t);
  await widget.ask("A question?");
  await askSignedOut(widget);
  await widget.reply("failed");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["A private question?"]);
  return widget;
}

test("a question that was asked after a session had ended is cleared for the next visitor", async (t) => {
  const widget = await openSignedOut(t);
  await signInAnother(widget);
  await returnToWindow(widget);
  await emptied(widget);
});

test("a question that was asked after a session had ended is not above that of the next visitor", async (t) => {
  const widget = await openSignedOut(t);
  await signInAnother(widget);
  await widget.call("ask", "Whose turn is it?");
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
});

test("a question that was asked after a session had ended stays for the visitor who comes back", async (t) => {
  const widget = await openSignedOut(t);
  await signInAnother(widget, "visitor");
  await widget.call("ask", "And now?");
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["A private question?", "And now?"]);
});

test("a question that was asked after a session had ended is cleared when the page takes its token provider away", async (t) => {
  const widget = await openSignedOut(t);
  await widget.element.evaluate((element) => (element.tokenProvider = undefined));
  await emptied(widget);
});

test("a question that was asked after a session had ended, and waits for the model, is not sent for the next visitor", async (t) => {
  await site.forgetModel(browser);
  const held = gate();
  site.interfere = async (path) => {
    if (path.startsWith("/model/")) await held.opened;
    return false;
  };
  const widget = await open(t);
  await askSignedOut(widget);
  await widget.reply("pending");
  await signInAnother(widget);
  held.open();
  await emptied(widget);
  await widget.becomes("ready");
  assert.deepEqual(sent(), []);
});

/** Token providers that do not say who has begun a draft. */
const SILENT = {
  fails: (element) => {
    element.tokenProvider = () => Promise.reject(new Error("offline"));
  },
  "never answers": (element) => {
    element.tokenProvider = () => new Promise(() => undefined);
  },
};

for (const [what, setProvider] of Object.entries(SILENT)) {
  test(`a draft is cleared for the next visitor if the token provider ${what}`, async (t) => {
    const widget = await openWithClock(t);
    await widget.ask("A private question?");
    await widget.element.evaluate(setProvider);
    await widget.role("input").fill("A private draft");
    await widget.page.clock.runFor(5000);
    await widget.page.evaluate(() => {
      document.querySelector("evidence-chat").tokenProvider = globalThis.tokenProvider;
    });
    await signInAnother(widget);
    await returnToWindow(widget);
    await emptied(widget);
    assert.equal(await widget.role("input").inputValue(), "");
  });
}

test("a question that is typed and sent in one task is the new visitor's", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  await signInAnother(widget);
  await widget.role("input").evaluate((input) => {
    input.value = "Whose turn is it?";
    input.dispatchEvent(new Event("input"));
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });
  await widget.until(() => sent().length === 2, "the question was sent");
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
});
