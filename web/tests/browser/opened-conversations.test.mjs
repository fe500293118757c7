// Conversations of the history, opened, left and continued. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, failure, gate, refusal, SESSION, silence, whole } from "./support/answers.mjs";
import { ANSWER, openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, sent, withConversation } = await startWidgetSuite();

test("a site's own refusal text is shown unchanged in every language, also from the history", async (t) => {
  const message = "Bitte fragen Sie <b>unsere</b> Fachleute.";
  withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: message, refusal: "weak_evidence" },
  ]);
  site.api.respondWith(whole(refusal({ message })));
  const widget = await open(t, { attributes: { lang: "fr" } });
  await widget.ask(QUESTION, "refused");
  assert.equal(await widget.role("refusal-message").innerText(), message);
  assert.equal(await widget.role("announcer").innerText(), message);

  await openConversation(widget);
  const restored = await widget.reply("refused");
  assert.equal(await restored.locator("[data-role=refusal-message]").innerText(), message);
  assert.equal(await restored.locator("[data-role=copy]").count(), 0);
});

/** Delays the messages of a conversation until the returned function is called. */
function holdMessages() {
  const { opened, open } = gate();
  site.api.interfere = async ({ path }) => {
    if (path.endsWith("/messages")) await opened;
    return false;
  };
  return open;
}

for (const how of ["the page", "the visitor"]) {
  test(`a question that ${how} asks while a conversation opens continues that conversation`, async (t) => {
    const session = withConversation([
      { role: "user", content: "The first one?" },
      { role: "assistant", content: "Refunds are paid." },
    ]);
    const release = holdMessages();
    const widget = await open(t);
    await openConversation(widget);
    let asked;
    if (how === "the page") {
      asked = widget.call("ask", QUESTION);
    } else {
      await widget.role("input").fill(QUESTION);
      await widget.role("input").press("Enter");
    }
    await widget.becomes("busy");
    await sleep(300);
    assert.deepEqual(sent(), []);
    release();
    await widget.element.getByText("The first one?").waitFor();
    await widget.element.getByText(QUESTION).waitFor();
    await asked;
    await widget.until(
      async () => (await widget.role("assistant").getAttribute("data-state")) === "done",
      "the answer",
    );
    assert.equal(JSON.parse(sent()[0]).session_id, session.id);
    assert.deepEqual(await widget.all("user").allInnerTexts(), ["The first one?", QUESTION]);
    await widget.becomes("ready");
  });
}

test("of two questions that are sent while a conversation opens, the second stays in the box", async (t) => {
  withConversation([{ role: "user", content: "The first one?" }]);
  const release = holdMessages();
  const widget = await open(t);
  await openConversation(widget);
  for (const question of [QUESTION, "And now?"]) {
    await widget.role("input").fill(question);
    await widget.role("input").press("Enter");
  }
  release();
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["The first one?", QUESTION]);
  assert.equal(await widget.role("input").inputValue(), "And now?");
});

test("a conversation that is left while it opens is not shown", async (t) => {
  withConversation([{ role: "user", content: "The first one?" }]);
  const release = holdMessages();
  const widget = await open(t);
  await openConversation(widget);
  await widget.call("clear");
  release();
  await widget.ask(QUESTION);
  assert.deepEqual(await widget.all("user").allInnerTexts(), [QUESTION]);
  assert.equal(JSON.parse(sent()[0]).session_id, undefined);
});

test("a conversation that cannot be opened shows a retry until the next question", async (t) => {
  const session = withConversation([{ role: "user", content: "The first one?" }]);
  let isDown = true;
  site.api.interfere = ({ path }, response) => {
    if (!isDown || !path.endsWith("/messages")) return false;
    failure(503, "upstream_unavailable", { retryable: true })(response);
    return true;
  };
  const widget = await open(t);
  await openConversation(widget);
  await widget.role("error").waitFor();
  assert.match(await widget.role("error-message").innerText(), /conversation could not be loaded/);
  await widget.ask(QUESTION);
  assert.equal(await widget.all("error").count(), 0);
  await openConversation(widget);
  await widget.role("error").waitFor();
  isDown = false;
  await widget.role("retry").click();
  await widget.element.getByText("The first one?").waitFor();
  assert.equal(await widget.all("error").count(), 0);
  await widget.ask(QUESTION);
  assert.equal(JSON.parse(sent().at(-1)).session_id, session.id);
});

test("a conversation is complete even if pages are short or empty", async (t) => {
  const messages = Array.from({ length: 7 }, (_, at) => ({ role: "user", content: `Question ${at + 1}?` }));
  const session = withConversation(messages);
  site.api.largestPage = 3;
  let isEmptySent = false;
  site.api.interfere = ({ path, query }, response) => {
    if (isEmptySent || !path.endsWith("/messages") || query.cursor !== "3") return false;
    isEmptySent = true;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ messages: [], next_cursor: "03" }));
    return true;
  };
  const widget = await open(t);
  await openConversation(widget);
  await widget.element.getByText("Question 7?").waitFor();
  assert.deepEqual(
    await widget.all("user").allInnerTexts(),
    messages.map(({ content }) => content),
  );
  const pages = site.api.requests.filter(({ path }) => path === `/api/sessions/${session.id}/messages`);
  assert.deepEqual(
    pages.map(({ query }) => [query.limit, query.cursor]),
    [
      ["200", undefined],
      ["200", "3"],
      ["200", "03"],
      ["200", "6"],
    ],
  );
});

test("a server that repeats the same page is an error", async (t) => {
  withConversation([{ role: "user", content: "The first one?" }]);
  site.api.interfere = ({ path }, response) => {
    if (!path.endsWith("/messages")) return false;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ messages: [], next_cursor: "1" }));
    return true;
  };
  const widget = await open(t);
  await openConversation(widget);
  await widget.role("error").waitFor();
  assert.match(await widget.role("error-message").innerText(), /conversation could not be loaded/);
});

test("deleting all data clears the conversation, and the next question starts a new session", async (t) => {
  withConversation([{ role: "user", content: "The first one?" }]);
  const widget = await open(t);
  await openConversation(widget);
  await widget.ask(QUESTION);
  await widget.role("history-open").click();
  await widget.role("my-data-delete").click();
  await widget.role("my-data-confirm").click();
  await widget.element.getByText("All your data was deleted.").waitFor();
  await widget.element.getByText("Your conversations will appear here.").waitFor();
  await widget.role("history-back").click();
  assert.equal(await widget.all("user").count(), 0);
  assert.equal(await widget.all("assistant").count(), 0);
  await widget.ask(QUESTION);
  const [before, after] = sent().map((body) => JSON.parse(body));
  assert.notEqual(before.session_id, undefined);
  assert.equal(after.session_id, undefined);
});

test("a deleted conversation leaves nothing for screen readers", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  assert.match(await widget.role("announcer").innerText(), ANSWER);
  site.api.sessions = [{ id: SESSION, title: "Mine", created_at: "", updated_at: "" }];
  await widget.role("history-open").click();
  await widget.role("session-delete").click();
  await widget.role("history-back").click();
  assert.equal(await widget.all("user").count(), 0);
  assert.equal(await widget.role("announcer").innerText(), "");
});

test("a conversation that was being opened can be opened again if deleting all data fails", async (t) => {
  withConversation([{ role: "user", content: "The first one?" }]);
  const release = holdMessages();
  const { interfere } = site.api;
  site.api.interfere = (request, response) => {
    if (request.path !== "/api/me") return interfere(request);
    failure(503, "upstream_unavailable")(response);
    return true;
  };
  const widget = await open(t);
  await openConversation(widget);
  await widget.role("history-open").click();
  await widget.role("my-data-delete").click();
  await widget.role("my-data-confirm").click();
  await widget.role("my-data-failure").waitFor();
  await widget.role("history-back").click();
  const log = widget.role("log");
  assert.match(await log.locator("[data-role=error-message]").innerText(), /conversation could not be loaded/);
  release();
  await log.locator("[data-role=retry]").click();
  await widget.element.getByText("The first one?").waitFor();
});

test("a question that is running when all data was deleted is back in the box", async (t) => {
  const { opened, open: release } = gate();
  site.api.interfere = async ({ path }) => {
    if (path === "/api/me") await opened;
    return false;
  };
  site.api.respondWith(silence);
  const widget = await open(t);
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.role("my-data-delete").click();
  await widget.role("my-data-confirm").click();
  await widget.role("history-back").click();
  await widget.ask(QUESTION, "pending");
  release();
  await widget.role("user").waitFor({ state: "detached" });
  assert.equal(await widget.role("input").inputValue(), QUESTION);
});

test("deleting all data stops a streaming answer first", async (t) => {
  const { opened, open: release } = gate();
  site.api.respondWith(async (response) => {
    await opened;
    whole(answer())(response);
  });
  const widget = await open(t);
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(() => site.api.questions().length === 1, "the question");
  await widget.role("history-open").click();
  await widget.role("my-data-delete").click();
  await widget.role("my-data-confirm").click();
  await widget.element.getByText("All your data was deleted.").waitFor();
  await widget.until(() => site.api.questions()[0].isCut, "the end of the question");
  release();
  await widget.role("history-back").click();
  await sleep(150);
  assert.equal(await widget.all("assistant").count(), 0);
  assert.equal(sent().length, 1);
});

test("the history's code is loaded when it is opened, and a failure can be retried", async (t) => {
  withConversation([{ role: "user", content: "The first one?" }]);
  const widget = await open(t);
  const loaded = () => site.requests.filter((path) => path.includes("/history-")).length;
  await widget.page.route("**/history-*.js", (route) => route.abort());
  await widget.role("input").focus();
  await widget.becomes("ready");
  assert.equal(loaded(), 0);
  await widget.role("history-open").click();
  await widget.role("history-missing").waitFor();
  assert.match(await widget.role("history-missing").innerText(), /Your history could not be loaded\./);
  assert.ok(await widget.role("input").isVisible(), "the chat stays usable");
  await widget.page.unroute("**/history-*.js");
  await widget.role("history-missing").locator("button").click();
  await widget.role("session").waitFor();
  assert.equal(await widget.all("history-missing").count(), 0);
  await widget.role("history-back").click();
  await widget.role("history-open").click();
  await widget.role("session").waitFor();
  assert.equal(loaded(), 1);
});

test("a question that is asked while the history's code loads stays in view", async (t) => {
  const { opened, open: release } = gate();
  const widget = await open(t);
  await widget.page.route("**/history-*.js", async (route) => {
    await opened;
    await route.continue();
  });
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.ask(QUESTION);
  const loading = widget.page.waitForResponse(/\/history-[^/]*\.js$/);
  release();
  await loading;
  await widget.page.waitForTimeout(300);
  assert.ok(await widget.role("answer").isVisible());
  assert.equal(await widget.all("history").filter({ visible: true }).count(), 0);
});
