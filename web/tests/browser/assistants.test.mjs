// A page names the assistant that answers. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, gate, json } from "./support/answers.mjs";
import { tokenFor } from "./pages/widget/page.mjs";
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

describe("an assistant that is not for everybody", () => {
  const STAFF = {
    title: "Staff desk",
    greeting: "Only for staff.",
    suggested_questions: ["How do I reset the vault?"],
  };
  const text = (widget) => widget.element.evaluate((chat) => chat.shadowRoot.querySelector(".root").textContent);
  const signIn = (widget, user) =>
    widget.page.evaluate((token) => {
      sessionStorage.setItem("token", token);
      dispatchEvent(new Event("focus"));
    }, tokenFor(user));

  /** The server gives the settings to Alice alone, after `delay`. */
  async function openFor(t, user, delay = Promise.resolve()) {
    site.api.interfere = async ({ path, headers }, response) => {
      if (path !== "/api/config") return false;
      const isHers = headers.authorization === `Bearer ${tokenFor("alice")}`;
      if (isHers) await delay;
      if (isHers) json(200, { ...site.api.config, ...STAFF })(response);
      else failure(404, "unknown_assistant")(response);
      return true;
    };
    const widget = await open(t, { token: tokenFor(user), attributes: { assistant: "staff" } });
    await widget.role("input").focus();
    return widget;
  }

  test("shows nothing of its settings to the next user", async (t) => {
    const widget = await openFor(t, "alice");
    await widget.role("suggested").waitFor();
    assert.match(await text(widget), /Staff desk.*Only for staff/s);
    await signIn(widget, "bob");
    await widget.role("suggested").waitFor({ state: "detached" });
    assert.doesNotMatch(await text(widget), /staff/i);
  });

  test("shows nothing of settings that arrive after the user has changed", async (t) => {
    const { opened, open: release } = gate();
    const widget = await openFor(t, "alice", opened);
    await widget.until(() => asked("/api/config").length === 2, "the request with her token");
    await signIn(widget, "bob");
    await widget.page.waitForTimeout(100);
    release();
    await widget.until(() => asked("/api/config").length === 4, "the requests for him");
    await widget.page.waitForTimeout(100);
    assert.doesNotMatch(await text(widget), /staff/i);
  });

  test("shows its settings to a user who may see them, after one who may not", async (t) => {
    const widget = await openFor(t, "bob");
    await widget.until(() => asked("/api/config").length === 2, "the requests for him");
    await signIn(widget, "alice");
    await widget.role("suggested").waitFor();
  });
});

test("a forbidden assistant gives an error in plain words and no retry", async (t) => {
  site.api.respondWith(failure(404, "unknown_assistant", { retryable: false }));
  const widget = await open(t, { attributes: { assistant: "staff" } });
  await widget.ask(QUESTION, "failed");
  assert.equal(
    await widget.role("error-message").innerText(),
    "This assistant does not exist, or you don't have access to it.",
  );
  assert.equal(await widget.role("assistant").locator("[data-role=retry]").count(), 0);
});
