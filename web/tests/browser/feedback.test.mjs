// Whether an answer helped. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { answer, refusal, SESSION, whole } from "./support/answers.mjs";
import { openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, withConversation } = await startWidgetSuite();

/** The requests about feedback, and the status of their responses. */
let sent, status;

beforeEach(() => {
  sent = [];
  status = 200;
  site.api.interfere = ({ method, path, body }, response) => {
    if (!path.endsWith("/feedback")) return false;
    sent.push({ method, path, body: body === "" ? undefined : JSON.parse(body) });
    if (status >= 400) response.writeHead(status, { "content-type": "application/json" }).end('{"code":"internal"}');
    else if (method === "DELETE") response.writeHead(204).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(body);
    return true;
  };
});

const pressed = async (widget) =>
  Promise.all(["up", "down"].map((rating) => widget.role(`feedback-${rating}`).getAttribute("aria-pressed")));
const says = (widget, text) => widget.role("feedback-status").getByText(text).waitFor();
const ANSWER_ID = answer().find(([name]) => name === "answer_end")[1].message_id;
const PATH = `/api/sessions/${SESSION}/messages/${ANSWER_ID}/feedback`;

test("one press says that an answer helped, a second one takes it back", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.role("feedback-up").click();
  await says(widget, "Thank you.");
  assert.deepEqual(await pressed(widget), ["true", "false"]);
  await widget.role("feedback-up").click();
  await widget.until(() => sent.length === 2, "the second request");
  assert.deepEqual(await pressed(widget), ["false", "false"]);
  assert.deepEqual(sent, [
    { method: "PUT", path: PATH, body: { rating: "up" } },
    { method: "DELETE", path: PATH, body: undefined },
  ]);
});

test("an answer that did not help counts at once, with the vector of its question, and a form asks why", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.role("feedback-down").click();
  await widget.until(() => sent.length === 1, "the rating");
  const [{ body }] = sent;
  assert.equal(body.rating, "down");
  assert.deepEqual(body.embedding, JSON.parse(site.api.questions()[0].body).embedding);
  await widget.role("feedback-form").getByLabel("It is out of date").check();
  await widget.role("feedback-comment").fill("  Since May it takes 3 days.\n");
  await widget.role("feedback-send").click();
  await says(widget, "Thank you.");
  const { embedding, ...said } = sent[1].body;
  assert.deepEqual(said, { rating: "down", reason: "outdated", comment: "Since May it takes 3 days." });
  assert.equal(embedding.length, 384);
  assert.equal(await widget.all("feedback-form").count(), 0);
  assert.deepEqual(await pressed(widget), ["false", "true"]);
});

test("the vector of a disliked follow-up is that of both questions", async (t) => {
  const widget = await open(t);
  const FOLLOW_UP = "And for a gift card?";
  const searched = `${FOLLOW_UP} ${QUESTION}`;
  site.api.respondWith(whole(answer()), whole(answer({ searched })));
  await widget.ask(QUESTION);
  await widget.ask(FOLLOW_UP);
  const { previous } = JSON.parse(site.api.questions()[1].body);
  await widget.role("feedback-down").last().click();
  await widget.until(() => sent.length === 1, "the rating");
  assert.deepEqual(sent[0].body.embedding, previous.embedding);
});

test("the form says who reads it; Escape closes it and not the panel, and the rating stays", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating" } });
  await widget.element.locator("[part~=launcher]").click();
  await widget.ask(QUESTION);
  await widget.role("feedback-down").click();
  await widget.role("feedback-form").getByText("The owner of this site sees it").waitFor();
  await widget.role("feedback-comment").press("Escape");
  assert.equal(await widget.all("feedback-form").count(), 0);
  assert.equal(await widget.role("input").isVisible(), true);
  const focused = await widget.element.evaluate((chat) => chat.shadowRoot.activeElement.dataset.role);
  assert.equal(focused, "feedback-down");
  assert.deepEqual(await pressed(widget), ["false", "true"]);
});

test("what may not have been sent is shown as before, and the words of the form stay", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  status = 500;
  await widget.role("feedback-up").click();
  await says(widget, "may not have been sent");
  assert.deepEqual(await pressed(widget), ["false", "false"]);
  status = 200;
  await widget.role("feedback-down").click();
  await says(widget, "Thank you.");
  status = 500;
  await widget.role("feedback-comment").fill("Which kinds?");
  await widget.role("feedback-send").click();
  await says(widget, "may not have been sent");
  assert.equal(await widget.role("feedback-comment").inputValue(), "Which kinds?");
  assert.deepEqual(await pressed(widget), ["false", "true"]);
});

test("of two presses that may not have been sent, neither is shown", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.role("feedback-up").waitFor();
  status = 500;
  await widget.element.evaluate(({ shadowRoot }) => {
    for (const rating of ["up", "down"]) shadowRoot.querySelector(`[data-role=feedback-${rating}]`).click();
  });
  await says(widget, "may not have been sent");
  assert.deepEqual(await pressed(widget), ["false", "false"]);
});

test("fast presses are sent one after the other, and the last one counts", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  for (const rating of ["up", "down", "up", "up"]) await widget.role(`feedback-${rating}`).click();
  await widget.until(() => sent.length === 4, "the requests");
  assert.deepEqual(
    sent.map(({ method, body }) => body?.rating ?? method),
    ["up", "down", "up", "DELETE"],
  );
  assert.deepEqual(await pressed(widget), ["false", "false"]);
});

test("the history shows what the visitor said, and they can change it", async (t) => {
  const feedback = { rating: "down", reason: "wrong" };
  const { id } = withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: "Refunds are paid within 5 days.", feedback },
    { role: "user", content: "Who are you?" },
    { role: "assistant", content: "I don't know.", refusal: "no_match" },
  ]);
  const widget = await open(t);
  await openConversation(widget);
  await widget.role("feedback-up").waitFor();
  assert.equal(await widget.all("feedback-up").count(), 1, "refusals take no feedback");
  assert.deepEqual(await pressed(widget), ["false", "true"]);
  await widget.role("feedback-up").click();
  await says(widget, "Thank you.");
  assert.deepEqual([sent[0].body, sent[0].path.split("/")[3]], [{ rating: "up" }, id]);
});

test("nobody is asked about refusals and answers outside the history, or if the page does not want it", async (t) => {
  const widget = await open(t);
  site.api.respondWith(whole(refusal()), whole(answer({ persisted: false })));
  await widget.ask(QUESTION, "refused");
  await widget.ask(QUESTION);
  await widget.page.waitForTimeout(300);
  assert.equal(await widget.all("feedback-up").count(), 0);
  site.reset();
  const silent = await open(t, { attributes: { feedback: "off" } });
  await silent.ask(QUESTION);
  await silent.page.waitForTimeout(300);
  assert.equal(await silent.all("feedback-up").count(), 0);
});
