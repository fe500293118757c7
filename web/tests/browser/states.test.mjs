// The states of a question, from sending to every outcome. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answer,
  byteByByte,
  bytesUntil,
  citation,
  cutAfter,
  failure,
  frame,
  json,
  raw,
  refusal,
  SESSION,
  silence,
  stallAfter,
  stepwise,
  whole,
} from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { tokenFor } from "./pages/widget/page.mjs";

const { site, open, openWithClock, sent, assertSentTwiceAlike } = await startWidgetSuite();

const textOf = (locator) => locator.evaluate((element) => element.textContent);

test("an answer has its states, events and request, from question to end", async (t) => {
  const widget = await open(t);
  assert.equal(await widget.element.getAttribute("data-state"), "idle");
  const steps = stepwise(answer());
  site.api.respondWith(steps);
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.becomes("busy");
  await widget.reply("pending");
  steps.step(2);
  const streaming = await widget.reply("streaming");
  assert.match(await textOf(streaming), /Refunds are paid/);
  assert.equal(await streaming.getAttribute("aria-busy"), "true");
  steps.step(10);
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  await widget.becomes("ready");
  assert.equal(await widget.all("marker").count(), 1);

  const [{ headers, body }] = site.api.questions();
  const request = JSON.parse(body);
  assert.equal(headers.authorization, `Bearer ${tokenFor("visitor")}`);
  assert.equal(request.message, QUESTION);
  assert.equal(request.embedding.length, 384);
  assert.equal(request.session_id, undefined);
  const [ready] = await widget.events("ready");
  assert.equal(request.model, ready.detail.fingerprint);
  const messages = (await widget.events("message")).map(({ detail }) => detail);
  assert.deepEqual(
    messages.map(({ role, text, citations }) => [role, text, citations.length]),
    [
      ["user", QUESTION, 0],
      ["assistant", "Refunds are paid within 5 days. [1]", 1],
    ],
  );
  const stages = (await widget.events("stage")).map(({ detail }) => detail);
  assert.deepEqual(
    stages.map(({ stage }) => stage),
    ["embedding", "embedded", "sent", "first_word", "complete"],
  );
  assert.deepEqual(
    stages,
    stages.toSorted((a, b) => a.milliseconds - b.milliseconds),
  );
  assert.equal(stages[2].requestBytes, Buffer.byteLength(body));
  assert.equal(stages[3].serverTiming.search, 21);

  await widget.ask("And how long does it take?");
  assert.equal(JSON.parse(sent()[1]).session_id, SESSION, "the next question continues the session");
});

test("a stream in single bytes gives the same answer as a whole one", async (t) => {
  const events = answer({
    deltas: ["Rücknahme: 5 € für Zelte ⛺", "️, 返品は", "5日以内です。 [", "1", "] Not a marker: \\[2", "\\]. [1]"],
    citations: [citation({ title: "Refunds – “all” of them 🎒" })],
  });
  site.api.respondWith(whole(events), byteByByte(events));
  const widget = await open(t);
  const expected = await textOf(await widget.ask(QUESTION));
  assert.match(expected, /返品は5日以内です。/);
  assert.equal(await textOf(await widget.ask(QUESTION)), expected);
});

test("a truncated answer stays, marked as incomplete, and its retry sends the same bytes", async (t) => {
  const widget = await open(t);
  site.api.respondWith(cutAfter(bytesUntil("answer_delta")), whole(answer()));
  const failed = await widget.ask(QUESTION, "failed");
  assert.match(await failed.locator("[data-role=answer]").innerText(), ANSWER);
  assert.match(await widget.role("incomplete").innerText(), /connection lost/i);
  assert.equal(await widget.role("error").getAttribute("data-code"), "connection_lost");
  await widget.becomes("error");
  assert.equal((await widget.events("error"))[0].detail.code, "connection_lost");

  await widget.role("retry").click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.deepEqual([await widget.all("error").count(), await widget.all("incomplete").count()], [0, 0]);
  assert.equal(await widget.all("assistant").count(), 1);
  assert.equal(await widget.all("marker").count(), 1);
  assertSentTwiceAlike();
});

test("a stream that is cut anywhere before its end is incomplete", async (t) => {
  const widget = await open(t);
  const { length } = Buffer.from(answer().map(frame).join(""));
  for (const bytes of [
    0,
    1,
    bytesUntil("answer_start"),
    bytesUntil("answer_delta") - 3,
    bytesUntil("sources"),
    length - 1,
  ]) {
    site.api.respondWith(cutAfter(bytes));
    await widget.ask(QUESTION, "failed");
    assert.equal(await widget.role("error").getAttribute("data-code"), "connection_lost", `after ${bytes} bytes`);
    await widget.call("clear");
  }
});

test("unknown events, comments and unusual line ends are ignored", async (t) => {
  const unusual = [
    "\ufeff: a comment\r\n",
    'event: telepathy\ndata: {"type":"telepathy"}\n\n',
    "event: answer_start\r\ndata: {}\r\n\r\n",
    "data: no name\n\n",
    'id: 7\nretry: 1\nevent: answer_delta\ndata: {\ndata: "text":"Refunds are paid within 5 days."}\n\n',
    ": heartbeat\n\n\n\n",
    "event: answer_end\rdata: {}\r\r",
  ];
  site.api.respondWith(raw(unusual.join("")));
  const widget = await open(t);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

test("a stream that violates the contract shows an error, and the next question works", async (t) => {
  const delta = frame(["answer_delta", { text: "Refunds are paid within 5 days." }]);
  const broken = {
    "no JSON": raw(`${delta}event: sources\ndata: {"citations":\n\n`),
    "no object": raw("event: answer_delta\ndata: [1]\n\n"),
    "an event without end": raw(`event: answer_delta\ndata: ${"x".repeat(2_200_000)}`),
    "no event stream": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Sign in</h1>"),
    "no text": whole(answer({ deltas: [" "] })),
    "no error JSON": (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad</h1>"),
  };
  const widget = await open(t);
  for (const [name, handler] of Object.entries(broken)) {
    site.api.respondWith(handler);
    await widget.ask(QUESTION, "failed");
    assert.equal(await widget.role("error").getAttribute("data-code"), "invalid_response", name);
  }
  site.api.respondWith(whole(answer()));
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

test("events out of order, duplicated or after the end are handled", async (t) => {
  const [start, first, second, third, sources, end] = answer();
  const orders = [
    [sources, start, first, second, third, end],
    [start, sources, first, second, sources, third, end],
    [start, first, second, third, sources, end, first, end, ...refusal()],
    [first, second, third, start, sources, end],
  ];
  const widget = await open(t);
  for (const order of orders) {
    site.api.respondWith(whole(order));
    const reply = await widget.ask(QUESTION);
    const names = order.map(([name]) => name).join(" ");
    const text = await reply.locator("[data-role=answer]").innerText();
    assert.match(text, /^Refunds are paid within 5 days\.\s*\[?1\]?$/, names);
    assert.equal(await reply.locator("[data-role=marker]:disabled").count(), 0, `a badge leads nowhere: ${names}`);
    assert.equal(await reply.locator("[data-role=source]").count(), 1, names);
  }
});

test("an answer whose sources never arrive has no enabled badge", async (t) => {
  site.api.respondWith(whole(answer().filter(([name]) => name !== "sources")));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  assert.match(await reply.innerText(), ANSWER);
  assert.equal(await reply.locator("[data-role=marker]:disabled").count(), 0);
});

test("an answer without sources has no badge and no error", async (t) => {
  site.api.respondWith(whole(answer({ citations: [] })));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  assert.match(await reply.innerText(), /within 5 days\.\s*\[1\]/);
  assert.equal(await widget.all("marker").count(), 0);
});

test("a silent server counts as a lost connection after 30 seconds", async (t) => {
  const widget = await openWithClock(t);
  site.api.respondWith(silence, stallAfter(answer().slice(0, 3)), whole(answer()));
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(() => site.api.questions().length === 1, "the question was sent");
  await widget.page.clock.fastForward(29_000);
  await widget.reply("pending");
  await widget.page.clock.fastForward(1_500);
  await widget.reply("failed");
  assert.equal(await widget.role("error").getAttribute("data-code"), "connection_lost");

  await widget.role("retry").click();
  await widget.until(async () => /within 5/.test(await widget.role("assistant").innerText()), "a part of the answer");
  await widget.page.clock.fastForward(30_500);
  const failed = await widget.reply("failed");
  assert.match(await failed.locator("[data-role=answer]").innerText(), /Refunds are paid within 5/);
  await widget.until(() => site.api.questions()[1].isCut, "the connection was closed");
  await widget.role("retry").click();
  await widget.reply("done");
  assert.equal(new Set(sent()).size, 1);
});

test("the retry button counts down after a rate limit and works at zero", async (t) => {
  const widget = await openWithClock(t);
  site.api.respondWith(
    failure(429, "rate_limited", { retryable: true, headers: { "retry-after": "12" } }),
    whole(answer()),
  );
  await widget.ask(QUESTION, "failed");
  assert.match(await widget.role("error-message").innerText(), /12 seconds/);
  const retry = widget.role("retry");
  assert.match(await retry.innerText(), /1[12] s/);
  assert.equal(await retry.isDisabled(), true);
  await widget.page.clock.runFor(5_000);
  assert.match(await retry.innerText(), /[67] s/);
  assert.equal(await retry.isDisabled(), true);
  await widget.page.clock.runFor(8_000);
  assert.equal(await retry.isDisabled(), false);
  await retry.click();
  await widget.reply("done");
  assertSentTwiceAlike();
});

test("the retry button counts down from ten seconds if the server gives no time", async (t) => {
  const widget = await openWithClock(t);
  site.api.respondWith(failure(429, "rate_limited", { retryable: true }), whole(answer()));
  await widget.ask(QUESTION, "failed");
  assert.match(await widget.role("error-message").innerText(), /\b10 seconds/);
  assert.equal(await widget.role("retry").isDisabled(), true);
  await widget.page.clock.runFor(8_000);
  assert.match(await widget.role("retry").innerText(), /[12] s/);
  await widget.page.clock.runFor(3_000);
  await widget.role("retry").click();
  await widget.reply("done");
  assertSentTwiceAlike();
});

test("the countdown continues while the element is moved or removed", async (t) => {
  const widget = await openWithClock(t);
  site.api.respondWith(
    failure(429, "rate_limited", { retryable: true, headers: { "retry-after": "12" } }),
    whole(answer()),
  );
  await widget.ask(QUESTION, "failed");
  const retry = widget.role("retry");
  await widget.page.clock.runFor(2_000);
  await widget.element.evaluate((element) => document.body.append(element));
  await widget.page.clock.runFor(2_000);
  assert.match(await retry.innerText(), /[78] s/);
  await widget.element.evaluate((element) => {
    globalThis.kept = element;
    element.remove();
  });
  await widget.page.clock.runFor(3_000);
  await widget.page.evaluate(() => document.body.append(globalThis.kept));
  await widget.page.clock.runFor(1_000);
  assert.match(await retry.innerText(), /[34] s/);
  await widget.page.clock.runFor(5_000);
  assert.equal(await retry.isDisabled(), false);
  await retry.click();
  await widget.reply("done");
  assertSentTwiceAlike();
});

test("an endpoint that is set late keeps the text in the question box", async (t) => {
  const widget = await open(t, { attributes: { endpoint: null } });
  await widget.role("input").fill("A draft");
  await widget.role("history-open").waitFor();
  await widget.element.evaluate((element, endpoint) => (element.endpoint = endpoint), site.api.endpoint);
  assert.equal(await widget.role("input").inputValue(), "A draft");
  await widget.role("input").press("Enter");
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
});

test("Stop keeps the text, closes the connection and offers a retry", async (t) => {
  const widget = await open(t);
  const steps = stepwise(answer());
  site.api.respondWith(steps, whole(answer()));
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  steps.step(2);
  await widget.reply("streaming");
  await widget.until(async () => /Refunds/.test(await widget.role("assistant").innerText()), "the first words");
  assert.equal(await widget.all("send").count(), 0, "the stop button replaces it");
  await widget.role("stop").click();
  const stopped = await widget.reply("stopped");
  assert.match(await stopped.innerText(), /Refunds are paid/);
  assert.match(await widget.role("incomplete").innerText(), /Stopped/);
  await widget.until(() => site.api.questions()[0].isCut, "the server noticed");
  assert.deepEqual([await widget.all("send").count(), await widget.all("stop").count()], [1, 0]);
  assert.deepEqual(await widget.events("error"), [], "stopping is not a failure");
  await widget.becomes("ready");

  await widget.role("retry").click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assertSentTwiceAlike();
});

test("Stop works before the first word", async (t) => {
  const widget = await open(t);
  site.api.respondWith(silence, whole(answer()));
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(() => site.api.questions().length === 1, "the question was sent");
  await widget.role("stop").click();
  await widget.reply("stopped");
  await widget.until(() => site.api.questions()[0].isCut, "the server noticed");
  assert.match(await (await widget.ask("Another one?")).innerText(), ANSWER);
});

test("a second question is not sent while one runs, and clear ends the first", async (t) => {
  const widget = await open(t);
  site.api.respondWith(silence, whole(answer()));
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(() => site.api.questions().length === 1, "the question was sent");
  await widget.role("input").fill("Me too?");
  await widget.role("input").press("Enter");
  await widget.call("ask", "And me?");
  assert.equal(await widget.role("input").inputValue(), "Me too?");
  assert.equal(await widget.all("user").count(), 1);
  await widget.call("clear");
  assert.deepEqual([await widget.all("user").count(), await widget.all("assistant").count()], [0, 0]);
  assert.equal(await widget.role("input").inputValue(), "");
  await widget.until(() => site.api.questions()[0].isCut, "the server noticed");
  assert.equal(sent().length, 1);
});

test("a lost network is shown, and a retry works when it is back", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  const context = widget.page.context();
  t.after(() => context.setOffline(false));
  await context.setOffline(true);
  await widget.role("offline").waitFor();
  await widget.ask(QUESTION, "failed");
  assert.equal(await widget.role("error").getAttribute("data-code"), "connection_lost");
  assert.match(await widget.role("error-message").innerText(), /The service cannot be reached/);
  await context.setOffline(false);
  await widget.role("offline").waitFor({ state: "detached" });
  await widget.role("retry").click();
  await widget.reply("done");
});

test("each server error has its text, and a retry only if it can help", async (t) => {
  const widget = await open(t);
  /** @type {[status: number, code: string, retryable: boolean][]} */
  const errors = [
    [400, "invalid_request", false],
    [403, "forbidden", false],
    [404, "unknown_assistant", false],
    [409, "conflict", false],
    [409, "model_mismatch", false],
    [413, "payload_too_large", false],
    [500, "internal", false],
    [503, "upstream_unavailable", true],
    [504, "upstream_timeout", true],
  ];
  const words = new Set();
  for (const [status, code, retryable] of errors) {
    site.api.respondWith(failure(status, code, { retryable }));
    await widget.ask(QUESTION, "failed");
    assert.equal(await widget.role("error").getAttribute("data-code"), code);
    words.add(await widget.role("error-message").innerText());
    const retries = await widget.role("assistant").locator("[data-role=retry]").count();
    assert.equal(retries, retryable ? 1 : 0, code);
  }
  assert.equal(words.size, errors.length - 3, "errors that only a bug can cause share the text of `internal`");
  const event = [["error", { code: "upstream_timeout", message: "Too slow.", retryable: true }]];
  site.api.respondWith(whole([...answer().slice(0, 3), ...event]));
  const failed = await widget.ask(QUESTION, "failed");
  assert.match(await failed.innerText(), /Refunds are paid within 5/, "an error in the stream keeps what came before");
  assert.equal(await widget.role("error").getAttribute("data-code"), "upstream_timeout");
});

test("a refusal shows its message, the nearest passages, and suggestions with actions", async (t) => {
  const { suggestions } = refusal()[0][1];
  const fields = { suggestions: [...suggestions, { type: "ask", text: "How do I return an order?" }] };
  site.api.respondWith(whole(refusal(fields)), whole(answer()));
  const widget = await open(t, { attributes: { "support-url": "mailto:help@shop.example" } });
  const reply = await widget.ask(QUESTION, "refused");
  assert.match(await widget.role("refusal-message").innerText(), /don't have enough information/);
  assert.match(await widget.role("nearest").innerText(), /Refunds\s+Deliveries › Abroad/);
  const suggestion = (text) => reply.locator("[data-role=suggestion]", { hasText: text });
  assert.match(await reply.locator("[data-role=contact]").getAttribute("href"), /^mailto:help@shop\.example\?subject=/);
  await suggestion("Rephrase").click();
  assert.equal(await widget.role("input").inputValue(), QUESTION);
  await widget.role("input").fill("");
  await suggestion("return an order").click();
  await widget.reply("done");
  assert.equal(await widget.all("user").last().innerText(), "How do I return an order?");
  await widget.becomes("ready");
  const [{ detail }] = await widget.events("refusal");
  const titles = detail.nearest.map(({ title }) => title);
  assert.deepEqual([detail.reason, titles], ["weak_evidence", ["Refunds", "Deliveries"]]);
  assert.deepEqual(await widget.events("error"), []);
});

test("greeting and suggested questions come from the server, and a click asks", async (t) => {
  site.api.config = {
    ...site.api.config,
    greeting: "Ask about our tents.",
    suggested_questions: ["Is it dry?", "Cold?"],
  };
  const widget = await open(t);
  await widget.role("input").hover();
  await widget.all("suggested").first().waitFor();
  assert.match(await widget.role("log").innerText(), /Ask about our tents\./);
  assert.deepEqual(await widget.all("suggested").allInnerTexts(), ["Is it dry?", "Cold?"]);
  await widget.all("suggested").first().click();
  await widget.reply("done");
  assert.equal(JSON.parse(sent()[0]).message, "Is it dry?");
  assert.equal(await widget.role("suggested").isVisible(), false);
});

test("malformed settings are ignored", async (t) => {
  site.api.config = { greeting: 7, suggested_questions: { no: "list" }, max_message_chars: "many" };
  const widget = await open(t);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

test("the page's greeting takes precedence over the server's", async (t) => {
  site.api.config = { ...site.api.config, greeting: "From the server" };
  const widget = await open(t, { attributes: { greeting: "From the page" } });
  await widget.ask(QUESTION);
  await widget.call("clear");
  assert.match(await widget.role("log").innerText(), /From the page/);
});

test("an answer that may not be saved says so, and the next question belongs to the same conversation", async (t) => {
  site.api.respondWith(whole(answer({ persisted: false })));
  const widget = await open(t);
  await widget.ask(QUESTION);
  assert.match(await widget.role("not-saved").innerText(), /may be missing/);
  assert.match(await widget.role("announcer").innerText(), /may be missing .* Refunds are paid/);
  await widget.ask("And now?");
  assert.equal(JSON.parse(sent()[1]).session_id, SESSION);
});

test("ask() resolves when any outcome is shown", async (t) => {
  const widget = await open(t);
  site.api.respondWith(
    whole(answer()),
    whole(refusal()),
    json(503, { code: "upstream_unavailable", message: "No.", retryable: true }),
  );
  for (const state of ["done", "refused", "failed"]) {
    await widget.call("ask", QUESTION);
    assert.equal(await widget.role("assistant").getAttribute("data-state"), state);
  }
});
