// What a visitor sees of everything that can happen to a question. Real Chromium, real embedder; the API is played.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  answer,
  byteByByte,
  bytesUntil,
  citation,
  cutAfter,
  failure,
  frame,
  gate,
  json,
  raw,
  refusal,
  SESSION,
  silence,
  stallAfter,
  stepwise,
  whole,
} from "./support/answers.mjs";
import { ANSWER, QUESTION, startSuite } from "./support/suite.mjs";
import { tokenFor } from "./support/widget-page.mjs";

const { site, browser, open } = await startSuite();
/** With a clock that the test can put forward. */
const openWithClock = (t, options) => open(t, { ...options, setUp: (page) => page.clock.install() });
const sent = () => site.api.questions().map(({ body }) => body);
const textOf = (locator) => locator.evaluate((element) => element.textContent);

/** The one repeat has to be the same to the byte: the server knows a question by its id and its body. */
function assertSentTwiceAlike() {
  const [first, second, ...others] = sent();
  assert.equal(second, first);
  assert.deepEqual(others, []);
}

test("an answer from question to end: states, events, and what is sent", async (t) => {
  const widget = await open(t);
  assert.equal(await widget.element.getAttribute("data-state"), "idle");
  const steps = stepwise(answer());
  site.api.play(steps);
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
  assert.equal(JSON.parse(sent()[1]).session_id, SESSION, "the next question goes on in the session");
});

test("a stream that comes byte by byte gives the same answer as one that comes whole", async (t) => {
  const events = answer({
    deltas: ["Rücknahme: 5 € für Zelte ⛺", "️, 返品は", "5日以内です。 [", "1", "] Not a marker: \\[2", "\\]. [1]"],
    citations: [citation({ title: "Refunds – “all” of them 🎒" })],
  });
  site.api.play(whole(events), byteByByte(events));
  const widget = await open(t);
  const expected = await textOf(await widget.ask(QUESTION));
  assert.match(expected, /返品は5日以内です。/);
  assert.equal(await textOf(await widget.ask(QUESTION)), expected);
});

test("what is there of a cut answer stays, marked as incomplete, and a retry sends the same bytes", async (t) => {
  const widget = await open(t);
  site.api.play(cutAfter(bytesUntil("answer_delta")), whole(answer()));
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

test("a stream that is cut anywhere before its end is no answer", async (t) => {
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
    site.api.play(cutAfter(bytes));
    await widget.ask(QUESTION, "failed");
    assert.equal(await widget.role("error").getAttribute("data-code"), "connection_lost", `after ${bytes} bytes`);
    await widget.call("clear");
  }
});

test("events of unknown names, comments and odd line ends are no trouble", async (t) => {
  const odd = [
    "\ufeff: a comment\r\n",
    'event: telepathy\ndata: {"type":"telepathy"}\n\n',
    "event: answer_start\r\ndata: {}\r\n\r\n",
    "data: no name\n\n",
    'id: 7\nretry: 1\nevent: answer_delta\ndata: {\ndata: "text":"Refunds are paid within 5 days."}\n\n',
    ": heartbeat\n\n\n\n",
    "event: answer_end\rdata: {}\r\r",
  ];
  site.api.play(raw(odd.join("")));
  const widget = await open(t);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

test("a stream that breaks the contract is told so, and the next question works", async (t) => {
  const delta = frame(["answer_delta", { text: "Refunds are paid within 5 days." }]);
  const broken = {
    "no JSON": raw(`${delta}event: sources\ndata: {"citations":\n\n`),
    "no object": raw("event: answer_delta\ndata: [1]\n\n"),
    "an event without end": raw(`event: answer_delta\ndata: ${"x".repeat(1_100_000)}`),
    "no event stream": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Sign in</h1>"),
    "no error JSON": (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad</h1>"),
  };
  const widget = await open(t);
  for (const [name, handler] of Object.entries(broken)) {
    site.api.play(handler);
    await widget.ask(QUESTION, "failed");
    assert.equal(await widget.role("error").getAttribute("data-code"), "invalid_response", name);
  }
  site.api.play(whole(answer()));
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

test("events in a wrong order, doubled or after the end make no mess", async (t) => {
  const [start, first, second, third, sources, end] = answer();
  const orders = [
    [sources, start, first, second, third, end],
    [start, sources, first, second, sources, third, end],
    [start, first, second, third, sources, end, first, end, ...refusal()],
    [first, second, third, start, sources, end],
  ];
  const widget = await open(t);
  for (const order of orders) {
    site.api.play(whole(order));
    const reply = await widget.ask(QUESTION);
    const names = order.map(([name]) => name).join(" ");
    const text = await reply.locator("[data-role=answer]").innerText();
    assert.match(text, /^Refunds are paid within 5 days\.\s*\[?1\]?$/, names);
    assert.equal(await reply.locator("[data-role=marker]:disabled").count(), 0, `a badge leads nowhere: ${names}`);
    assert.equal(await reply.locator("[data-role=source]").count(), 1, names);
  }
});

test("an answer whose sources never come has no badge that leads nowhere", async (t) => {
  site.api.play(whole(answer().filter(([name]) => name !== "sources")));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  assert.match(await reply.innerText(), ANSWER);
  assert.equal(await reply.locator("[data-role=marker]:disabled").count(), 0);
});

test("an answer without sources has no badge and is no error", async (t) => {
  site.api.play(whole(answer({ citations: [] })));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  assert.match(await reply.innerText(), /within 5 days\.\s*\[1\]/);
  assert.equal(await widget.all("marker").count(), 0);
});

test("a server that never answers, or falls silent, counts as cut after half a minute", async (t) => {
  const widget = await openWithClock(t);
  site.api.play(silence, stallAfter(answer().slice(0, 3)), whole(answer()));
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

test("beyond the rate limit, the retry button counts down and works at zero", async (t) => {
  const widget = await openWithClock(t);
  site.api.play(failure(429, "rate_limited", { retryable: true, headers: { "retry-after": "12" } }), whole(answer()));
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

test("where the server does not say how long to wait, the retry button counts down from ten seconds", async (t) => {
  const widget = await openWithClock(t);
  site.api.play(failure(429, "rate_limited", { retryable: true }), whole(answer()));
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

test("the countdown goes on while the element is moved, and while it is off the page", async (t) => {
  const widget = await openWithClock(t);
  site.api.play(failure(429, "rate_limited", { retryable: true, headers: { "retry-after": "12" } }), whole(answer()));
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

test("a token that has expired is asked for once more, and then the visitor is told", async (t) => {
  const widget = await open(t);
  /** Each call gives another token of the same user. */
  const countTokens = () =>
    widget.element.evaluate((element, token) => {
      let calls = 0;
      element.tokenProvider = async () => `${token}-${++calls}`;
    }, tokenFor("visitor"));
  const tokensSent = () => site.api.questions().map(({ headers }) => headers.authorization);

  await countTokens();
  site.api.play(failure(401, "unauthorized"), whole(answer()));
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  assert.equal(new Set(tokensSent()).size, 2);
  assertSentTwiceAlike();

  site.api.play(failure(401, "unauthorized"));
  await widget.ask(QUESTION, "failed");
  assert.equal(new Set(tokensSent()).size, 2, "twice, not for ever");
  assert.equal(tokensSent().length, 2);
  assert.match(await widget.role("error-message").innerText(), /sign out and in again/);
});

test("who is not signed in is told so, and nothing is sent", async (t) => {
  const widget = await open(t, { token: null });
  await widget.ask(QUESTION, "failed");
  assert.match(await widget.role("error-message").innerText(), /sign in/);
  assert.deepEqual(sent(), []);
});

/** Ways for the widget to learn of another visitor no sooner than the next question. */
const CHANGES = {
  "": async () => undefined,
  ", also after a new chat": (widget) => widget.role("new").click(),
  ", also where tokens take 700 ms": (widget) =>
    widget.element.evaluate((element) => {
      element.tokenProvider = async () => {
        await new Promise((resolve) => setTimeout(resolve, 700));
        return sessionStorage.getItem("token");
      };
    }),
};

for (const [when, prepare] of Object.entries(CHANGES)) {
  test(`another visitor's question is answered, with nothing of the one before${when}`, async (t) => {
    const widget = await open(t);
    await widget.ask("A private question?");
    await prepare(widget);
    await widget.page.evaluate((token) => sessionStorage.setItem("token", token), tokenFor("somebody else"));
    await widget.role("input").fill("Whose turn is it?");
    await widget.role("input").press("Enter");
    await widget.element.getByText("Whose turn is it?").waitFor();
    await widget.until(() => sent().length === 2, "the question was sent");
    assert.match(await (await widget.reply("done")).innerText(), ANSWER);
    assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
    assert.equal(await widget.all("assistant").count(), 1);
    assert.equal(site.api.questions()[1].headers.authorization, `Bearer ${tokenFor("somebody else")}`);
    assert.equal(JSON.parse(sent()[1]).session_id, undefined);
    assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
    await widget.becomes("ready");
  });
}

test("an answer that is still coming when another visitor signs in is gone, and not asked again for that one", async (t) => {
  const widget = await open(t);
  const steps = stepwise(answer());
  site.api.play(steps, whole(answer()));
  await widget.ask("A private question?", "pending");
  steps.step(2);
  await widget.reply("streaming");
  await widget.page.evaluate((token) => {
    sessionStorage.setItem("token", token);
    dispatchEvent(new Event("focus"));
  }, tokenFor("somebody else"));
  await widget.until(async () => (await widget.all("assistant").count()) === 0, "the answer is gone");
  await widget.until(() => site.api.questions()[0].isCut, "the connection is closed");
  await widget.becomes("ready");
  assert.equal(sent().length, 1);
  assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
});

test("a question that waits for the model when its visitor signs out is not asked for the next one", async (t) => {
  await site.forgetModel(browser);
  const held = gate();
  site.interfere = async (path) => {
    if (path.startsWith("/model/")) await held.opened;
    return false;
  };
  const widget = await open(t);
  await widget.ask("A private question?", "pending");
  await widget.until(async () => (await widget.page.evaluate(() => tokens.length)) > 0, "who asks is known");
  await widget.page.evaluate((token) => sessionStorage.setItem("token", token), tokenFor("somebody else"));
  held.open();
  await widget.until(async () => (await widget.all("assistant").count()) === 0, "the question is gone");
  assert.deepEqual(sent(), []);
  assert.doesNotMatch(await textOf(widget.element.locator(".root")), /private/);
});

test("what somebody has typed and not sent is not there for the next visitor", async (t) => {
  const widget = await open(t);
  await widget.ask("A private question?");
  await widget.role("input").fill("A private draft");
  await widget.page.evaluate((token) => sessionStorage.setItem("token", token), tokenFor("somebody else"));
  await widget.call("ask", "Whose turn is it?");
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
  assert.equal(await widget.role("input").inputValue(), "");
});

test("an endpoint that the page tells late takes nothing that is being typed", async (t) => {
  const widget = await open(t, { attributes: { endpoint: null } });
  await widget.role("input").fill("A draft");
  await widget.role("history-open").waitFor();
  await widget.element.evaluate((element, endpoint) => (element.endpoint = endpoint), site.api.endpoint);
  assert.equal(await widget.role("input").inputValue(), "A draft");
  await widget.role("input").press("Enter");
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
});

test("stopping keeps what is there, closes the connection, and can be taken back", async (t) => {
  const widget = await open(t);
  const steps = stepwise(answer());
  site.api.play(steps, whole(answer()));
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  steps.step(2);
  await widget.reply("streaming");
  await widget.until(async () => /Refunds/.test(await widget.role("assistant").innerText()), "the first words");
  assert.equal(await widget.all("send").count(), 0, "the stop button stands in its place");
  await widget.role("stop").click();
  const stopped = await widget.reply("stopped");
  assert.match(await stopped.innerText(), /Refunds are paid/);
  assert.match(await widget.role("incomplete").innerText(), /Stopped/);
  await widget.until(() => site.api.questions()[0].isCut, "the server noticed");
  assert.deepEqual([await widget.all("send").count(), await widget.all("stop").count()], [1, 0]);
  assert.deepEqual(await widget.events("error"), [], "that was no failure");
  await widget.becomes("ready");

  await widget.role("retry").click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assertSentTwiceAlike();
});

test("stopping before the first word works as well", async (t) => {
  const widget = await open(t);
  site.api.play(silence, whole(answer()));
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(() => site.api.questions().length === 1, "the question was sent");
  await widget.role("stop").click();
  await widget.reply("stopped");
  await widget.until(() => site.api.questions()[0].isCut, "the server noticed");
  assert.match(await (await widget.ask("Another one?")).innerText(), ANSWER);
});

test("while one question runs, another is not sent; clearing ends it", async (t) => {
  const widget = await open(t);
  site.api.play(silence, whole(answer()));
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

test("without a network the visitor is told, and a retry works when it is back", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  const context = widget.page.context();
  t.after(() => context.setOffline(false));
  await context.setOffline(true);
  await widget.role("offline").waitFor();
  await widget.ask(QUESTION, "failed");
  assert.equal(await widget.role("error").getAttribute("data-code"), "connection_lost");
  await context.setOffline(false);
  await widget.role("offline").waitFor({ state: "detached" });
  await widget.role("retry").click();
  await widget.reply("done");
});

test("errors of the server: words for each, and a retry only where it can help", async (t) => {
  const widget = await open(t);
  const errors = [
    [400, "invalid_request", false],
    [403, "forbidden", false],
    [409, "conflict", false],
    [409, "model_mismatch", false],
    [413, "payload_too_large", false],
    [500, "internal", false],
    [503, "upstream_unavailable", true],
    [504, "upstream_timeout", true],
  ];
  const words = new Set();
  for (const [status, code, retryable] of errors) {
    site.api.play(failure(status, code, { retryable }));
    await widget.ask(QUESTION, "failed");
    assert.equal(await widget.role("error").getAttribute("data-code"), code);
    words.add(await widget.role("error-message").innerText());
    const retries = await widget.role("assistant").locator("[data-role=retry]").count();
    assert.equal(retries, retryable ? 1 : 0, code);
  }
  assert.equal(words.size, errors.length);
  const event = [["error", { code: "upstream_timeout", message: "Too slow.", retryable: true }]];
  site.api.play(whole([...answer().slice(0, 3), ...event]));
  const failed = await widget.ask(QUESTION, "failed");
  assert.match(await failed.innerText(), /Refunds are paid within 5/, "an error in the stream keeps what came before");
  assert.equal(await widget.role("error").getAttribute("data-code"), "upstream_timeout");
});

test("a model that cannot be loaded is told, and the question waits for a retry that works", async (t) => {
  await site.forgetModel(browser);
  let isDown = true;
  site.interfere = (path, response) => {
    if (!isDown || !path.startsWith("/model/")) return false;
    response.writeHead(404).end();
    return true;
  };
  const widget = await open(t);
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.role("model-retry").waitFor();
  await widget.becomes("error");
  assert.equal(await widget.role("status").getAttribute("role"), "alert");
  assert.equal((await widget.events("error"))[0].detail.code, "network");
  isDown = false;
  await widget.role("model-retry").click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  await widget.becomes("ready");
  assert.equal(await widget.all("status").count(), 0);
});

test("the first loading shows percent and megabytes; 15 s without progress time out, with a retry that works", async (t) => {
  await site.forgetModel(browser);
  const { opened, open: release } = gate();
  site.interfere = async (path, response) => {
    if (!path.startsWith("/model/")) return false;
    if (site.modelRequests().length > 1) {
      await opened;
      return false;
    }
    // A third, and then nothing.
    response.writeHead(200, { "content-length": 23_325_735 });
    response.write(Buffer.alloc(7_700_000));
    // The embedder tells at most every 50 ms.
    await sleep(200);
    response.write(Buffer.alloc(100_000));
    return true;
  };
  const widget = await openWithClock(t);
  await widget.role("input").click();
  await widget.becomes("loading");
  await widget.until(async () => /33\s?%/.test(await widget.role("status").innerText()), "a third");
  assert.match(await widget.role("status").innerText(), /7\.8 of 23\.3 MB/);
  await widget.page.clock.fastForward(14_000);
  await widget.becomes("loading");
  await widget.page.clock.fastForward(1_500);
  await widget.role("model-retry").waitFor();
  assert.match(await widget.role("status").innerText(), /Connection Timed Out/);
  await widget.becomes("error");
  await widget.role("model-retry").click();
  await widget.becomes("loading");
  release();
  await widget.becomes("ready");
  assert.equal(await widget.all("status").count(), 0);
});

test("a browser that cannot do it is told before a question is typed, without an exception", async (t) => {
  const widget = await open(t, { init: () => delete globalThis.WebAssembly });
  await widget.role("input").hover();
  await widget.role("status").waitFor();
  assert.match(await widget.role("status").innerText(), /Browser Not Supported[^]*Chrome, Edge, Firefox or Safari/);
  assert.equal(await widget.role("input").isDisabled(), true);
  await widget.becomes("error");
  assert.deepEqual([site.modelRequests(), await widget.all("model-retry").count()], [[], 0]);
  assert.equal((await widget.events("error"))[0].detail.code, "unsupported_browser");
});

test("a question longer than the model reads is warned about, by its tokens and not its characters", async (t) => {
  const widget = await open(t);
  const input = widget.role("input");
  await input.click();
  await widget.becomes("ready");
  const words = (count) => Array(count).fill("word").join(" ");
  await input.fill(words(255));
  await widget.role("too-long").waitFor();
  assert.match(await widget.role("too-long").innerText(), /\b(99|100)\s?%/);
  await input.fill(words(254));
  await widget.role("too-long").waitFor({ state: "detached" });
  await input.fill(words(600));
  await widget.role("too-long").waitFor();
  assert.match(await widget.role("too-long").innerText(), /\b42\s?%/);
  await input.fill("short");
  await widget.role("too-long").waitFor({ state: "detached" });
  // 700 characters that are few tokens.
  await input.fill("internationalization ".repeat(33));
  await widget.page.waitForTimeout(400);
  assert.equal(await widget.all("too-long").count(), 0);
});

test("near the longest question a counter appears, with the limit that the server gives", async (t) => {
  site.api.config = { ...site.api.config, max_message_chars: 100 };
  const widget = await open(t);
  const input = widget.role("input");
  await input.click();
  await widget.until(async () => (await input.getAttribute("maxlength")) === "100", "the settings have come");
  await input.fill("x".repeat(89));
  assert.equal(await widget.role("count").innerText(), "");
  await input.fill("x".repeat(90));
  assert.match(await widget.role("count").innerText(), /90 \/ 100/);
  await input.press("End");
  await input.pressSequentially("y".repeat(12));
  assert.equal((await input.inputValue()).length, 100);
});

test("a refusal shows its words, what came closest, and suggestions that do something", async (t) => {
  const fields = { suggestions: ["Contact support", "Rephrase your question", "How do I return an order?"] };
  site.api.play(whole(refusal(fields)), whole(answer()));
  const widget = await open(t, { attributes: { "support-url": "mailto:help@shop.example" } });
  const reply = await widget.ask(QUESTION, "refused");
  assert.match(await widget.role("refusal-message").innerText(), /don't have enough information/);
  assert.match(await widget.role("nearest").innerText(), /Refunds\s+Deliveries/);
  const suggestion = (text) => reply.locator("[data-role=suggestion]", { hasText: text });
  assert.equal(await suggestion("Contact support").getAttribute("href"), "mailto:help@shop.example");
  await suggestion("Rephrase").click();
  assert.equal(await widget.role("input").inputValue(), QUESTION);
  await widget.role("input").fill("");
  await suggestion("return an order").click();
  assert.equal(await widget.role("input").inputValue(), "How do I return an order?");
  await widget.becomes("ready");
  const [{ detail }] = await widget.events("refusal");
  assert.deepEqual([detail.reason, detail.nearest], ["weak_evidence", ["Refunds", "Deliveries"]]);
  assert.deepEqual(await widget.events("error"), []);
});

test("a site's own words of refusal are shown as they are, whatever the language, also from the history", async (t) => {
  const message = "Bitte fragen Sie <b>unsere</b> Fachleute.";
  withConversation([
    { role: "user", content: QUESTION },
    { role: "assistant", content: message, refusal: "weak_evidence" },
  ]);
  site.api.play(whole(refusal({ message })));
  const widget = await open(t, { attributes: { lang: "fr" } });
  await widget.ask(QUESTION, "refused");
  assert.equal(await widget.role("refusal-message").innerText(), message);
  assert.equal(await widget.role("announcer").innerText(), message);

  await openConversation(widget);
  const restored = await widget.reply("refused");
  assert.equal(await restored.locator("[data-role=refusal-message]").innerText(), message);
  assert.equal(await restored.locator("[data-role=copy]").count(), 0);
});

/** Lets the messages of a conversation come only when the function that it gives is called. */
function holdMessages() {
  const { opened, open } = gate();
  site.api.interfere = async ({ path }) => {
    if (path.endsWith("/messages")) await opened;
    return false;
  };
  return open;
}

for (const how of ["the page", "the visitor"]) {
  test(`a question that ${how} asks while a conversation is being opened is not lost, and goes on with that one`, async (t) => {
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
    if (how === "the visitor") {
      await widget.becomes("ready");
      assert.equal(await widget.role("input").inputValue(), QUESTION);
      await widget.role("input").press("Enter");
    }
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

test("a conversation that is left while it is being opened does not come after all", async (t) => {
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

test("a conversation that cannot be opened is told with a retry, until the next question is asked", async (t) => {
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

/** Opens the one conversation of the history. */
async function openConversation(widget) {
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.role("session-open").click();
}

/** Gives the history one conversation with these messages, as the API has them. */
function withConversation(messages) {
  const at = "2026-11-01T10:00:00Z";
  const session = { id: SESSION.replace(/.$/, "0"), title: "Of old", created_at: at, updated_at: at };
  const stored = messages.map((message, index) => ({
    id: SESSION.replace(/.$/, String(index + 1)),
    citations: [],
    created_at: at,
    ...message,
  }));
  site.api.sessions = [session];
  site.api.messages.set(session.id, stored);
  return session;
}

test("greeting and suggested questions come from the server, and one press asks", async (t) => {
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

test("settings of a wrong form are no trouble", async (t) => {
  site.api.config = { greeting: 7, suggested_questions: { no: "list" }, max_message_chars: "many" };
  const widget = await open(t);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

test("a page's own greeting wins over the server's", async (t) => {
  site.api.config = { ...site.api.config, greeting: "From the server" };
  const widget = await open(t, { attributes: { greeting: "From the page" } });
  await widget.ask(QUESTION);
  await widget.call("clear");
  assert.match(await widget.role("log").innerText(), /From the page/);
});

test("an answer that could not be saved says so, and begins no session", async (t) => {
  site.api.play(whole(answer({ persisted: false })));
  const widget = await open(t);
  await widget.ask(QUESTION);
  await widget.role("not-saved").waitFor();
  await widget.ask("And now?");
  assert.equal(JSON.parse(sent()[1]).session_id, undefined);
});

test("ask() resolves when the outcome is shown, whatever it is", async (t) => {
  const widget = await open(t);
  site.api.play(
    whole(answer()),
    whole(refusal()),
    json(503, { code: "upstream_unavailable", message: "No.", retryable: true }),
  );
  for (const state of ["done", "refused", "failed"]) {
    await widget.call("ask", QUESTION);
    assert.equal(await widget.role("assistant").getAttribute("data-state"), state);
  }
});
