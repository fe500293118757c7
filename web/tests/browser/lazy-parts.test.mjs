// The code of the panel's parts is loaded on demand, also after a failure. Real browser and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, citation, json, result, whole } from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, withConversation } = await startWidgetSuite();

/** The code that is loaded on demand, without the hashes in its names. */
const PARTS = /^\/widget\/((?!evidence-chat|worker|index|client)[a-z-]+?)(-[A-Z0-9]{8})?\.js$/;
const partOf = (path) => PARTS.exec(path)?.[1];

/**
 * Makes the first `count` requests of each part fail. Gives how often each was requested.
 * @param {number} count
 * @param {(part: string) => boolean} [isBroken]
 */
function failing(count, isBroken = () => true) {
  const requests = new Map();
  site.interfere = (path, response) => {
    const part = partOf(path);
    if (!part || !isBroken(part)) return false;
    requests.set(part, (requests.get(part) ?? 0) + 1);
    if (requests.get(part) > count) return false;
    response.writeHead(503).end();
    return true;
  };
  return requests;
}

/** Answers with a file that can be downloaded. */
function withDownload() {
  site.api.respondWith(whole(answer({ citations: [citation({ download_url: "https://chat.example/d" })] })));
  site.api.interfere = ({ path }, response) => {
    if (!path.endsWith("/download")) return false;
    json(503, { code: "upstream_unavailable", message: "No.", retryable: true })(response);
    return true;
  };
}

test("each part whose code fails to load once is loaded by a second request, and only once", async (t) => {
  const requests = failing(1);
  withDownload();
  withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: "Refunds are paid within 5 days." },
  ]);
  site.api.search = json(200, { results: [result()] });
  const widget = await open(t);
  await widget.page.evaluate(() => localStorage.removeItem("evidence-chat:hint"));
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  await widget.role("badge-hint").waitFor();
  await widget.role("feedback-down").waitFor();
  await widget.role("export").click();
  await widget.role("export-preview").filter({ hasText: "Refunds" }).waitFor();
  await widget.role("marker").click();
  await widget.element.locator("details[open] strong, details[open] mark").first().waitFor();
  await widget.role("source-download").click();
  await widget.until(() => site.api.requests.some(({ path }) => path.endsWith("/download")), "the download");
  await widget.role("history-open").click();
  await widget.role("my-data-export").waitFor();
  await widget.role("help-open").click();
  await widget.role("help").waitFor();
  await widget.page.keyboard.press("Escape");
  await widget.role("history-back").click();
  await widget.role("input").pressSequentially("When are refunds paid");
  await widget.role("result").waitFor();
  // Not again with the second answer.
  await widget.ask(QUESTION);
  await widget.role("feedback-down").waitFor();
  await widget.until(() => requests.get("reader") === 2, "the reader's code, which is loaded when the page is idle");
  const twice = ["answered", "download", "help", "history", "panel", "reader"];
  assert.deepEqual(
    Object.fromEntries([...requests].toSorted()),
    Object.fromEntries([...twice, "references", "search", "texts-en"].map((part) => [part, 2])),
  );
  await widget.page.reload();
  await widget.until(() => site.api.citationUses.length > 0, "the counts of the use of citations");
  const [{ body }] = site.api.citationUses;
  assert.equal(JSON.parse(body).opened, 2, "each use is counted once: a badge and a download");
});

test("the feedback of an answer causes no error if its code arrives when the conversation has been cleared", async (t) => {
  const held = Promise.withResolvers();
  t.after(held.resolve);
  let isAsked = false;
  site.interfere = async (path) => {
    if (partOf(path) !== "answered") return false;
    isAsked = true;
    await held.promise;
    return false;
  };
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.until(() => isAsked, "the request of the code");
  await widget.call("clear");
  held.resolve();
  // The code has run for the first answer, too, when the next one has its buttons.
  await widget.ask(QUESTION);
  await widget.role("feedback-down").waitFor();
  assert.deepEqual(widget.page.errors, []);
});

const openHistory = (widget) => widget.role("history-open").click();

for (const { part, reach, failure, button, shown } of [
  {
    part: "history",
    reach: openHistory,
    failure: "could not be loaded",
    button: (widget) => widget.role("history-missing").locator("[data-role=retry]"),
    shown: "help-open",
  },
  {
    part: "help",
    async reach(widget) {
      await openHistory(widget);
      await widget.role("help-open").click();
    },
    failure: "could not be loaded",
    button: (widget) => widget.role("help-open"),
    shown: "help",
  },
  {
    part: "references",
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("export").click();
    },
    failure: "could not be formatted",
    button: (widget) => widget.role("export"),
    shown: "export-preview",
  },
]) {
  test(`the button loads the code of ${part} again after two failures`, async (t) => {
    failing(2, (name) => name === part);
    const widget = await open(t);
    await widget.role("input").focus();
    await widget.role("history-open").waitFor();
    await reach(widget);
    await widget.element.getByText(failure).waitFor();
    await button(widget).click();
    await widget.role(shown).waitFor();
  });
}
