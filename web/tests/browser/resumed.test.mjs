// The conversation of a tab after a reload or a page change. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, failure, gate, quoteOf, SESSION, whole } from "./support/answers.mjs";
import { markup, tokenFor } from "./pages/widget/page.mjs";
import { ANSWER, openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, sent, withConversation } = await startWidgetSuite();

const MESSAGES = [
  { role: "user", content: "The first one?" },
  {
    role: "assistant",
    content: "Refunds are paid. [1]",
    citations: [
      {
        index: 1,
        chunk_id: "c",
        document_id: "d",
        title: "Refunds",
        score: 0.7,
        excerpt: "Refunds are paid.",
        quotes: [quoteOf("Refunds are paid.")],
        available: true,
      },
    ],
  },
];

const signIn = (page, user) =>
  page.evaluate((token) => sessionStorage.setItem("token", token), user === null ? "" : tokenFor(user));
/** The host of a floating panel has no size, so it never becomes visible. */
const isReady = (widget) => widget.page.locator("evidence-chat[data-state=ready]").waitFor({ state: "attached" });
const launcher = (widget) => widget.element.locator("[part~=launcher]");

/** A page of the user, whose widget shows a conversation of the history. */
async function openWithConversation(t, /** @type {any} */ options = {}) {
  const session = withConversation(MESSAGES);
  const widget = await open(t, { token: null, ...options });
  await signIn(widget.page, "alice");
  if (options?.attributes?.mode === "floating") await launcher(widget).click();
  await openConversation(widget);
  await widget.element.getByText("The first one?").waitFor();
  await isReady(widget);
  site.api.requests.length = 0;
  return { widget, session };
}

const messagesRead = () => site.api.requests.filter(({ path }) => path.endsWith("/messages")).length;
describe("after a reload, an inline widget", () => {
  test("shows the conversation with its citations, and goes on in the same session", async (t) => {
    const { widget, session } = await openWithConversation(t);
    await widget.page.reload();
    await widget.element.getByText("The first one?").waitFor();
    // The model is not loaded before the visitor comes near.
    assert.equal(await widget.element.getAttribute("data-state"), "idle");
    await widget.element.locator("[part~=marker]").hover();
    const card = widget.page.locator("[data-role=citation-card][data-open]");
    await card.waitFor();
    assert.match(await card.innerText(), /Refunds are paid\./);
    await widget.ask(QUESTION);
    assert.equal(JSON.parse(sent()[0]).session_id, session.id);
  });

  test("shows a conversation that began on the page before, and moves neither focus nor announces it", async (t) => {
    const widget = await open(t, { token: null });
    await signIn(widget.page, "alice");
    await widget.ask(QUESTION);
    site.api.sessions = [{ id: SESSION, title: "Mine", created_at: "", updated_at: "" }];
    site.api.messages.set(SESSION, [{ id: "1", role: "user", content: QUESTION, citations: [], created_at: "" }]);
    await widget.page.reload();
    await widget.element.getByText(QUESTION).waitFor();
    assert.equal(await widget.role("announcer").innerText(), "");
    assert.equal(await widget.page.evaluate(() => document.activeElement?.tagName), "BODY");
  });

  test("forgets a conversation that the visitor left", async (t) => {
    const { widget } = await openWithConversation(t);
    await widget.role("new").click();
    await widget.page.reload();
    await sleep(500);
    assert.deepEqual([messagesRead(), await widget.element.getByText("The first one?").count()], [0, 0]);
  });

  test("begins anew, without an error, if the conversation was deleted elsewhere", async (t) => {
    const { widget } = await openWithConversation(t);
    site.api.sessions = [];
    await widget.page.reload();
    await widget.until(async () => messagesRead() === 1, "the request");
    await widget.ask(QUESTION);
    assert.equal(JSON.parse(sent()[0]).session_id, undefined);
    assert.equal(await widget.element.locator("[part~=error]").count(), 0);
  });

  test("offers to try again if the server fails, and still remembers", async (t) => {
    const { widget } = await openWithConversation(t);
    site.api.interfere = async ({ path }, response) => {
      if (!path.endsWith("/messages")) return false;
      failure(503, "upstream_unavailable", { retryable: true })(response);
      return true;
    };
    await widget.page.reload();
    await widget.element.locator("[part~=error]").waitFor();
    site.api.interfere = undefined;
    await widget.page.reload();
    await widget.element.getByText("The first one?").waitFor();
  });

  const ATTEMPTS = {
    "the visitor tries again": (widget) => widget.role("retry").click(),
    "the page sets its token provider again": (widget) =>
      widget.element.evaluate((chat) => (chat.tokenProvider = globalThis.tokenProvider)),
  };
  for (const [how, again] of Object.entries(ATTEMPTS))
    test(`still remembers if ${how} while the server fails, and after it works`, async (t) => {
      const { widget } = await openWithConversation(t);
      let fails = true;
      site.api.interfere = async ({ path }, response) => {
        if (!fails || !path.endsWith("/messages")) return false;
        failure(503, "upstream_unavailable", { retryable: true })(response);
        return true;
      };
      await widget.page.reload();
      await widget.element.locator("[part~=error]").waitFor();
      await again(widget);
      await widget.until(() => messagesRead() === 2, "the second attempt");
      await widget.element.locator("[part~=error]").waitFor();
      fails = false;
      await again(widget);
      await widget.element.getByText("The first one?").waitFor();
      await widget.page.reload();
      await widget.element.getByText("The first one?").waitFor();
    });

  test("a question that the page asks at once continues the conversation", async (t) => {
    const { widget, session } = await openWithConversation(t);
    const { opened, open: release } = gate();
    site.api.interfere = async ({ path }) => {
      if (path.endsWith("/messages")) await opened;
      return false;
    };
    await widget.page.reload();
    const asked = widget.call("ask", QUESTION);
    await sleep(300);
    assert.deepEqual(sent(), []);
    release();
    await asked;
    assert.equal(JSON.parse(sent()[0]).session_id, session.id);
    assert.match(await widget.role("assistant").innerText(), ANSWER);
  });
});

/** From the next page on, each request for a token waits for its function in `held`. The page's script cannot replace this provider. */
const holdTokens = ({ page }) =>
  page.addInitScript(() => {
    const held = [];
    const provider = () => new Promise((resolve) => held.push(() => resolve(sessionStorage.getItem("token"))));
    Object.defineProperty(globalThis, "tokenProvider", { get: () => provider, set() {} });
    Object.assign(globalThis, { held });
  });
const tokensHeld = ({ page }) => page.evaluate(() => globalThis["held"].length);

/** A reloaded page whose widget waits for its first token, and a question that waits for the conversation. */
async function openWithWaitingQuestion(t, options = {}) {
  const { widget } = await openWithConversation(t, options);
  await holdTokens(widget);
  await widget.page.reload();
  await widget.until(async () => (await tokensHeld(widget)) > 0, "a request for a token");
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(async () => (await widget.events("ready")).length > 0, "the model");
  assert.deepEqual([await widget.role("input").inputValue(), await widget.all("user").count()], ["", 0]);
  return widget;
}

describe("while the page's token does not come, a question that waits for the conversation", () => {
  test("begins a new one after 30 seconds", async (t) => {
    const widget = await openWithWaitingQuestion(t, { setUp: (page) => page.clock.install() });
    await widget.element.evaluate((chat, token) => (chat.tokenProvider = async () => token), tokenFor("alice"));
    await widget.page.clock.runFor(31_000);
    assert.match(await (await widget.reply("done")).innerText(), ANSWER);
    assert.deepEqual(await widget.all("user").allInnerTexts(), [QUESTION]);
    assert.equal(JSON.parse(sent()[0]).session_id, undefined);
  });

  test("is back in the box when the element was removed, and the conversation comes with the token", async (t) => {
    const widget = await openWithWaitingQuestion(t);
    await widget.element.evaluate((element) => {
      globalThis["kept"] = element;
      element.remove();
    });
    const read = messagesRead();
    await widget.page.evaluate((token) => (globalThis["kept"].tokenProvider = async () => token), tokenFor("alice"));
    await sleep(300);
    assert.equal(messagesRead(), read, "a removed element asks for nothing");
    await widget.page.evaluate(() => document.body.append(globalThis["kept"]));
    await widget.element.getByText("The first one?").waitFor();
    assert.equal(await widget.role("input").inputValue(), QUESTION);
  });
});

test("a question after the page's clear() is answered, whenever the token of the conversation before it comes", async (t) => {
  const { widget } = await openWithConversation(t);
  await holdTokens(widget);
  await widget.page.reload();
  await widget.until(async () => (await tokensHeld(widget)) > 0, "a request for a token");
  await widget.page.evaluate((question) => {
    const chat = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (document.querySelector("evidence-chat"));
    globalThis["early"] = globalThis["held"].splice(0);
    chat.clear();
    void chat.ask(question);
  }, QUESTION);
  await widget.role("user").waitFor();
  await widget.page.evaluate(() => globalThis["early"].map((release) => release()));
  await sleep(300);
  assert.deepEqual(await widget.all("user").allInnerTexts(), [QUESTION]);
  await widget.until(async () => {
    await widget.page.evaluate(() => globalThis["held"].splice(0).map((release) => release()));
    return sent().length > 0;
  }, "the question is sent");
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.equal(JSON.parse(sent()[0]).session_id, undefined);
});

describe("another user", () => {
  for (const user of ["bob", null]) {
    test(`${user ?? "nobody"} in the same tab sees nothing of it, and no request asks for it`, async (t) => {
      const { widget } = await openWithConversation(t);
      await signIn(widget.page, user);
      await widget.page.reload();
      await widget.element.locator("[part~=input]").click();
      await isReady(widget);
      await sleep(300);
      assert.deepEqual([messagesRead(), await widget.element.getByText("The first one?").count()], [0, 0]);
    });
  }

  test("does not see it either when the user changes without a page change; the tab forgets", async (t) => {
    const { widget } = await openWithConversation(t);
    await signIn(widget.page, "bob");
    await widget.page.evaluate(() => dispatchEvent(new Event("focus")));
    await widget.element.getByText("The first one?").waitFor({ state: "detached" });
    await signIn(widget.page, "alice");
    await widget.page.reload();
    await sleep(500);
    assert.equal(messagesRead(), 0);
  });

  test("the page's clear(), called before the panel is loaded, makes the tab forget", async (t) => {
    const { widget } = await openWithConversation(t, { attributes: { mode: "floating" } });
    await widget.page.reload();
    await widget.call("clear");
    await launcher(widget).click();
    await isReady(widget);
    assert.equal(messagesRead(), 0);
  });
});

test("a user who signs in after the page has loaded gets the conversation back", async (t) => {
  const { widget } = await openWithConversation(t);
  await signIn(widget.page, null);
  await widget.page.reload();
  await widget.element.locator("[part~=input]").waitFor();
  await sleep(300);
  await signIn(widget.page, "alice");
  await widget.element.evaluate((chat) => (chat.tokenProvider = globalThis.tokenProvider));
  await widget.element.getByText("The first one?").waitFor();
});

test("a page that sets the endpoint late gets the conversation back", async (t) => {
  const { widget } = await openWithConversation(t);
  await widget.page.route(`${site.origin}/`, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/ endpoint="[^"]*"/, "");
    await route.fulfill({ response, body });
  });
  await widget.page.reload();
  await widget.element.locator("[part~=input]").waitFor();
  assert.equal(messagesRead(), 0);
  await widget.element.evaluate((chat, url) => chat.setAttribute("endpoint", url), site.api.endpoint);
  await widget.element.getByText("The first one?").waitFor();
});

test("a page that opens a loaded widget and asks at once continues the conversation", async (t) => {
  const { widget, session } = await openWithConversation(t, { attributes: { mode: "floating" } });
  await widget.page.reload();
  await launcher(widget).hover();
  await widget.role("new").waitFor({ state: "attached" });
  await widget.page.evaluate((question) => {
    const chat = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (document.querySelector("evidence-chat"));
    chat.open();
    void chat.ask(question);
  }, QUESTION);
  await widget.element.getByText(ANSWER).first().waitFor();
  assert.equal(JSON.parse(sent()[0]).session_id, session.id);
});

test("a closed floating widget loads nothing after a page change, and shows the conversation when it opens", async (t) => {
  const { widget } = await openWithConversation(t, { attributes: { mode: "floating" } });
  site.requests.length = 0;
  await widget.page.reload();
  await launcher(widget).waitFor();
  await sleep(300);
  assert.ok(!site.requests.some((path) => path.includes("panel-")));
  assert.equal(messagesRead(), 0);
  await launcher(widget).click();
  await widget.element.getByText("The first one?").waitFor();
});

test("the page's clear() makes the tab forget the conversation with the assistant before, too", async (t) => {
  const { widget } = await openWithConversation(t);
  await widget.page.reload();
  await widget.element.getByText("The first one?").waitFor();
  await widget.element.evaluate((chat) => chat.setAttribute("assistant", "staff"));
  await widget.call("clear");
  await widget.page.reload();
  await widget.element.locator("[part~=input]").waitFor();
  await sleep(500);
  assert.equal(await widget.element.getByText("The first one?").count(), 0);
});

describe("several widgets", () => {
  /** Opens a page with these widgets, and asks each of them a question, in a session of its own. */
  async function openSeveral(t, ...attributes) {
    const widget = await open(t, { body: attributes.map((some) => markup(site, some)).join("") });
    for (const at of attributes.keys()) {
      const id = SESSION.replace(/.$/, String(at));
      const [[start, fields], ...events] = answer();
      site.api.respondWith(whole([[start, { ...fields, session_id: id }], ...events]));
      site.api.sessions.push({ id, title: `${at}`, created_at: "", updated_at: "" });
      site.api.messages.set(id, [{ id: "1", role: "user", content: `Number ${at}?`, citations: [], created_at: "" }]);
      const chat = nth(widget, at);
      await show(chat);
      await chat.locator("[data-role=input]").fill(`Number ${at}?`);
      await chat.locator("[data-role=input]").press("Enter");
      await chat.locator("[data-role=assistant][data-state=done]").waitFor();
      await hide(chat);
    }
    return widget;
  }

  const nth = ({ page }, at) => page.locator("evidence-chat").nth(at);
  const isFloating = async (chat) => (await chat.getAttribute("mode")) === "floating";
  const show = async (chat) => (await isFloating(chat)) && chat.locator("[part~=launcher]").click();
  const hide = async (chat) => (await isFloating(chat)) && chat.evaluate((element) => element.close());

  /** Shows another page with these widgets. */
  async function visit({ page }, ...attributes) {
    site.body = attributes.map((some) => markup(site, some)).join("");
    await page.reload();
  }

  /** Waits until each of the page's widgets shows the conversation with that number, and no other. */
  async function assertShown(widget, ...numbers) {
    for (const [at, number] of numbers.entries()) {
      const chat = nth(widget, at);
      await show(chat);
      await chat.getByText(`Number ${number}?`).waitFor();
      assert.deepEqual(await chat.locator("[data-role=user]").allInnerTexts(), [`Number ${number}?`]);
      await hide(chat);
    }
  }

  test("on a page get their own conversations back, and leaving one leaves the others", async (t) => {
    const widget = await openSeveral(t, {}, {});
    await widget.page.reload();
    await assertShown(widget, 0, 1);
    await nth(widget, 0).locator("[data-role=new]").click();
    await widget.page.reload();
    await nth(widget, 1).getByText("Number 1?").waitFor();
    assert.equal(await nth(widget, 0).locator("[data-role=user]").count(), 0);
  });

  test("on pages with others keep their conversations by id, or else by mode", async (t) => {
    const floating = { mode: "floating" };
    const widget = await openSeveral(t, floating, {}, { id: "sales" });
    await visit(widget, floating);
    await assertShown(widget, 0);
    await visit(widget, { id: "sales" }, {}, floating);
    await assertShown(widget, 2, 1, 0);
  });

  test("that a single-page app creates again for each view continue the conversation", async (t) => {
    const widget = await openSeveral(t, {});
    for (let view = 0; view < 2; view++) {
      await widget.element.evaluate((chat) => {
        const next = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (chat.cloneNode());
        next.tokenProvider = globalThis.tokenProvider;
        chat.replaceWith(next);
      });
      await assertShown(widget, 0);
    }
  });

  test("with an id go on with the conversation also where the views of single-page apps overlap", async (t) => {
    const widget = await openSeveral(t, { id: "help" });
    for (let view = 0; view < 3; view++) {
      await widget.element.evaluate((chat) => {
        const next = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (chat.cloneNode());
        next.tokenProvider = globalThis.tokenProvider;
        chat.after(next);
      });
      await nth(widget, 1).getByText("Number 0?").waitFor();
      await widget.element.evaluate((chat) => chat.remove());
      await assertShown(widget, 0);
    }
  });

  test("one that comes back after another has continued its conversation does not change what that one remembers", async (t) => {
    const widget = await openSeveral(t, {});
    await widget.element.evaluate((chat) => {
      const next = /** @type {HTMLElementTagNameMap["evidence-chat"]} */ (chat.cloneNode());
      next.tokenProvider = globalThis.tokenProvider;
      chat.replaceWith(next);
      globalThis["kept"] = chat;
    });
    await assertShown(widget, 0);
    await widget.page.evaluate(() => document.body.append(globalThis["kept"]));
    await nth(widget, 1).locator("[data-role=new]").click();
    await widget.page.reload();
    await assertShown(widget, 0);
  });
});

test("works, without remembering, where the browser blocks storage", async (t) => {
  const init = () =>
    Object.defineProperty(globalThis, "sessionStorage", {
      get() {
        globalThis["reads"] = (globalThis["reads"] ?? 0) + 1;
        throw new DOMException("blocked", "SecurityError");
      },
    });
  const widget = await open(t, { init, token: null });
  await widget.element.evaluate((chat, token) => (chat.tokenProvider = async () => token), tokenFor("alice"));
  await widget.ask(QUESTION);
  await widget.role("new").click();
  assert.ok((await widget.page.evaluate(() => globalThis["reads"])) > 0);
});
