// Answers that a language model writes, with a scripted model: what is sent, and what every fault of the model ends in.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startScriptedModel } from "../../tests/generation/support/scripted-model.mjs";
import { ask, eventually, open, parseEvents, question, send } from "./support/client.mjs";
import { openRaw } from "./support/raw.mjs";
import { accessToken } from "./support/tokens.mjs";
import { passage, sentence, startUpstream, weakPassage } from "./support/upstream.mjs";
import { closePair, startTestWorker, withSettings, withWorker } from "./support/worker.mjs";

const KEY = "key-of-the-model-server";
const MODEL = "scripted-model";
/** Time for a whole answer, and until the first word. */
const TIMEOUT_MS = 2500;
const FIRST_TOKEN_MS = 1000;
/** For everything but the model, on a busy machine. */
const MARGIN_MS = 2500;

const SHIPPING_ID = "d0000000-0000-4000-8000-000000000002";
const SHIPPING = "Orders above 40 euros are shipped free of charge.";
/** Two sentences that the sources support, from two documents, the second document first. */
const SUPPORTED = [SHIPPING, "Refunds are paid within 5 days."];
/** The extractive answer. */
const QUOTES = ["Refunds are paid within 5 days."];
/** In pieces such that the first sentence is complete after the second piece. */
const PIECES = [`${SHIPPING} [2]`, " Refunds are ", "paid within 5 days. [1]"];
/** Nothing of it may ever leave. */
const UNSUPPORTED = "Refunds are paid within 99 days. [1] The founder lives on the moon. [7]";

let upstream;
let model;
let worker;

const variables = (changes = {}) => ({
  CHAT_LLM_URL: model.url,
  CHAT_LLM_MODEL: MODEL,
  CHAT_LLM_KEY: KEY,
  CHAT_LLM_TIMEOUT_MS: String(TIMEOUT_MS),
  CHAT_LLM_FIRST_TOKEN_MS: String(FIRST_TOKEN_MS),
  CHAT_LLM_DAILY_TOKENS_USER: "1000000",
  CHAT_LLM_DAILY_TOKENS_SITE: "1000000000",
  CHAT_RATE_LIMIT: "1000",
  ...changes,
});

before(async () => {
  upstream = await startUpstream();
  upstream.settings.answer_mode = "endpoint";
  upstream.defaults["rpc/match_chunks"] = () => ({ body: rows() });
  model = await startScriptedModel();
  worker = await startTestWorker(upstream, variables());
});

after(async () => {
  await closePair({ upstream, worker });
  await model?.close();
});

beforeEach(() => model.play({ scenario: "ok", deltas: PIECES }));

function rows() {
  const shipping = {
    document_id: SHIPPING_ID,
    document_name: "shipping.md",
    document_meta: { title: "Shipping" },
    content: SHIPPING,
    meta: {},
    sentences: [sentence(SHIPPING, SHIPPING, 0.7)],
  };
  return [passage(), passage(shipping)];
}

const newUser = () => crypto.randomUUID();
const deltasOf = ({ events }) => events.filter(({ type }) => type === "answer_delta").map(({ text }) => text);
const startOf = ({ events }) => events.find(({ type }) => type === "answer_start");
const sourcesOf = ({ events }) => events.find(({ type }) => type === "sources");
const generationOf = ({ events }) => events.at(-1).generation;
const asJson = { headers: { accept: "application/json" } };
const requestsFor = async (use) => {
  const earlier = model.requests.length;
  await use();
  return model.requests.slice(earlier);
};

/**
 * Asserts what holds for every written answer; `replyOf` has checked that supports stand in their excerpts. `quotes` are those
 * of the extractive answer that follow the written sentences.
 */
function assertWritten(reply, sentences, quotes = []) {
  assert.equal(reply.status, 200);
  assert.equal(startOf(reply).mode, "generated");
  const deltas = deltasOf(reply);
  const plain = deltas.map((delta) => delta.replaceAll(/ \[\d+\]/g, "").trim());
  assert.deepEqual(plain, [...sentences, ...quotes]);
  const { citations, referenced_indices: indices } = sourcesOf(reply);
  const markers = deltas.map((delta) => [...delta.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number)));
  assert.deepEqual(indices, [...new Set(markers.flat())].sort());
  assert.ok(markers.every((numbers) => numbers.length > 0));
  for (const [at, numbers] of markers.entries()) {
    const supporting = citations.filter(({ supports }) => supports.some((support) => support.sentence === at));
    assert.deepEqual([...new Set(supporting.map(({ index }) => index))].sort(), [...numbers].sort());
  }
  const end = reply.events.at(-1);
  assert.deepEqual([end.type, end.persisted], ["answer_end", true]);
  assert.deepEqual(
    [end.generation.model, end.generation.sentences, end.generation.quotes ?? 0, end.generation.fallback],
    [MODEL, sentences.length, quotes.length, undefined],
  );
}

/** The answer without a model. */
const extractive = async (user = newUser()) => ask(worker.url, user, question({ mode: "extractive" }));

/** Asserts that a reply is the extractive answer after all. */
async function assertFallback(reply, fallback) {
  assert.equal(reply.status, 200);
  assert.deepEqual(deltasOf(reply), deltasOf(await extractive()));
  assert.equal(startOf(reply).mode, undefined);
  const end = reply.events.at(-1);
  assert.deepEqual([end.type, end.persisted], ["answer_end", true]);
  assert.ok(fallback.split(" or ").includes(end.generation.fallback), end.generation.fallback);
  assert.equal(end.generation.sentences, 0);
}

describe("a written answer", () => {
  test("consists of the model's sentences with our markers and the words behind them", async () => {
    const reply = await ask(worker.url, newUser());
    assertWritten(reply, SUPPORTED);
    assert.deepEqual(
      reply.events.map(({ type }) => type),
      ["progress", "answer_start", "answer_delta", "answer_delta", "sources", "answer_end"],
    );
    assert.deepEqual(deltasOf(reply), [`${SHIPPING} [1]`, ` ${SUPPORTED[1]} [2]`]);
    const { citations } = sourcesOf(reply);
    assert.deepEqual(
      citations.map(({ document_id, quotes, supports }) => [document_id === SHIPPING_ID, quotes, supports[0].text]),
      [
        [true, [], SHIPPING],
        [false, [], SUPPORTED[1]],
      ],
    );
    const { prompt_tokens, completion_tokens } = generationOf(reply);
    assert.deepEqual([prompt_tokens, completion_tokens], [321, PIECES.length]);
  });

  test("has no sentence that the sources do not support", async () => {
    model.play({ scenario: "ok", text: `${UNSUPPORTED} ${SUPPORTED[1]} [1]` });
    const reply = await ask(worker.url, newUser());
    assertWritten(reply, [SUPPORTED[1]]);
    assert.equal(
      Object.values(generationOf(reply).dropped).reduce((sum, count) => sum + count),
      2,
    );
    assert.equal(generationOf(reply).invalid_markers, 1);
  });

  test("is the same however the model's output is cut", async (t) => {
    // A busy machine takes seconds to read thousands of pieces.
    const patient = await startTestWorker(upstream, variables({ CHAT_LLM_TIMEOUT_MS: "15000" }));
    t.after(() => patient.close());
    const text = PIECES.join("");
    const body = { deltas: "characters" };
    for (const step of [{ deltas: "tokens" }, { deltas: "characters" }, { ...body, writes: "bytes" }]) {
      model.play({ scenario: "ok", text, ...step });
      assertWritten(await ask(patient.url, newUser()), SUPPORTED);
    }
  });

  test("is replayed event for event, and a repeat never calls the model", async () => {
    const user = newUser();
    const sent = question();
    const first = await ask(worker.url, user, sent);
    const calls = await requestsFor(async () => {
      const repeat = await ask(worker.url, user, sent);
      assert.deepEqual(repeat.events, first.events.slice(1));
      const document = await ask(worker.url, user, sent, asJson);
      assert.equal(document.json.text, deltasOf(first).join(""));
    });
    assert.equal(calls.length, 0);
  });

  test("is waited for by a repeat, which gets identical deltas", async () => {
    model.play({ scenario: "ok", deltas: PIECES, delayMs: 100 });
    const user = newUser();
    const sent = question();
    const calls = await requestsFor(async () => {
      const first = ask(worker.url, user, sent);
      await sleep(150);
      const [one, other] = await Promise.all([first, ask(worker.url, user, sent)]);
      assertWritten(one, SUPPORTED);
      assert.deepEqual(other.events, one.events.slice(1));
    });
    assert.equal(calls.length, 1);
  });

  test("has the same facts as one JSON document", async () => {
    const user = newUser();
    const streamed = await ask(worker.url, user);
    const { json } = await ask(worker.url, user, question(), asJson);
    const withoutIds = (citations) => citations.map(({ chunk_id: _, ...citation }) => citation);
    assert.equal(json.mode, "generated");
    assert.equal(json.text, deltasOf(streamed).join(""));
    assert.deepEqual(withoutIds(json.citations), withoutIds(sourcesOf(streamed).citations));
    assert.deepEqual(json.referenced_indices, sourcesOf(streamed).referenced_indices);
    assert.deepEqual(json.generation, generationOf(streamed));
    assert.equal(json.persisted, true);
  });

  test("has no markers and sources if the client wants none", async () => {
    const reply = await ask(worker.url, newUser(), question({ include_citations: false }));
    assert.equal(deltasOf(reply).join(""), SUPPORTED.join(" "));
    const { citations, also_found, referenced_indices } = sourcesOf(reply);
    assert.deepEqual([citations, also_found, referenced_indices], [[], [], []]);
  });

  test("that ends too early says so wherever it is sent or kept", async () => {
    model.play({ scenario: "cut", deltas: PIECES, after: 2 });
    const user = newUser();
    const sent = question();
    const reply = await ask(worker.url, user, sent);
    assert.equal(generationOf(reply).cut, true);
    assert.equal(generationOf(await ask(worker.url, user, sent)).cut, true, "a repeat");
    assert.equal((await ask(worker.url, user, sent, asJson)).json.generation.cut, true);
    await ask(worker.url, user, question({ session_id: startOf(reply).session_id }));
    const { session_id } = startOf(reply);
    const { messages } = (await send(worker.url, `/api/sessions/${session_id}/messages`, { user })).json;
    model.play({ scenario: "ok", deltas: PIECES });
    const whole = await ask(worker.url, user, question({ session_id }));
    assert.equal("cut" in generationOf(whole), false);
    const { sessions } = (await send(worker.url, "/api/me/export", { user })).json;
    const marks = (rows) => rows.map(({ cut }) => cut);
    assert.deepEqual(marks(messages), [undefined, true, undefined, true]);
    assert.deepEqual(marks(sessions[0].messages), [undefined, true, undefined, true, undefined, undefined]);
  });

  test("is in the history and in the export with its mode and supports", async () => {
    const user = newUser();
    const written = await ask(worker.url, user);
    const quoted = await extractive(user);
    const assertStored = async (reply, /** @type {string | undefined} */ mode) => {
      const { session_id } = startOf(reply);
      const { messages } = (await send(worker.url, `/api/sessions/${session_id}/messages`, { user })).json;
      const [, answer] = messages;
      assert.deepEqual([messages[0].mode, answer.mode, answer.content], [undefined, mode, deltasOf(reply).join("")]);
      const shown = answer.citations.map(({ available: _, ...citation }) => citation);
      assert.deepEqual(shown, sourcesOf(reply).citations);
    };
    await assertStored(written, "generated");
    await assertStored(quoted, undefined);
    const { sessions } = (await send(worker.url, "/api/me/export", { user })).json;
    const exported = sessions.flatMap(({ messages }) => messages.filter(({ role }) => role === "assistant"));
    assert.deepEqual(new Set(exported.map(({ mode }) => mode)), new Set(["generated", undefined]));
    const { citations } = exported.find(({ mode }) => mode === "generated");
    assert.equal(citations[0].supports[0].text, SHIPPING);
  });

  test("is not kept if the user's data are erased while it is written", async () => {
    model.play({ scenario: "ok", deltas: PIECES, delayMs: 150 });
    const user = newUser();
    const sent = question();
    const asked = ask(worker.url, user, sent);
    await eventually(() => upstream.callsOf(user, "rpc/match_chunks").length > 0);
    await sleep(100);
    assert.equal((await send(worker.url, "/api/me", { method: "DELETE", user })).status, 204);
    const reply = await asked;
    assert.deepEqual([deltasOf(reply).length, reply.events.at(-1).persisted], [2, false]);
    assert.deepEqual(upstream.history.sessionsOf(user), []);
    const calls = await requestsFor(() => ask(worker.url, user, sent));
    assert.equal(calls.length, 1, "a repeat is a new question");
  });

  test("costs nothing where the client wants quotes or there is not enough evidence", async () => {
    const calls = await requestsFor(async () => {
      const quoted = await extractive();
      assert.equal(generationOf(quoted), undefined);
      assert.deepEqual(
        quoted.events.map(({ type }) => type).filter((type) => type !== "answer_delta"),
        ["answer_start", "sources", "answer_end"],
      );
      for (const found of [[], [weakPassage()]]) {
        const user = newUser();
        upstream.behave(user, { "rpc/match_chunks": () => ({ body: found }) });
        const refused = await ask(worker.url, user);
        assert.deepEqual(
          refused.events.map(({ type }) => type),
          ["refusal"],
        );
      }
    });
    assert.equal(calls.length, 0);
  });
});

/** How soon the model must be stopped: a connection that was closed is noticed at the second heartbeat, one a second. */
const GONE_MS = 2500;
const WAYS_TO_GO = { resets: (socket) => socket.resetAndDestroy(), closes: (socket) => socket.destroy() };

/** Asks, and breaks the connection after the first event of this type. */
async function leaveAfter(url, user, sent, type, go) {
  const body = Buffer.from(JSON.stringify(sent));
  const headers = [
    ["Authorization", `Bearer ${accessToken(user)}`],
    ["Content-Type", "application/json"],
    ["Content-Length", String(body.length)],
  ];
  const socket = openRaw(url, { method: "POST", target: "/api/chat", headers, pieces: [body] });
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString()));
  await eventually(() => text.includes(`event: ${type}\n`));
  await sleep(50);
  go(socket);
}

for (const [verb, go] of Object.entries(WAYS_TO_GO)) {
  describe(`a client that ${verb} its connection`, () => {
    let direct;
    before(async () => {
      // The proxy in front of the other Worker hides what happens to a connection.
      const patient = { CHAT_LLM_TIMEOUT_MS: "8000", CHAT_LLM_FIRST_TOKEN_MS: "6000" };
      direct = await startTestWorker(upstream, variables(patient), { direct: true });
    });
    after(() => direct?.close());

    /** The request to the model, which must end long before a deadline. */
    async function stopped(user, sent, type) {
      const [request] = await requestsFor(() => leaveAfter(direct.url, user, sent, type, go));
      const started = performance.now();
      await request.ended;
      assert.ok(request.isAborted);
      const ms = performance.now() - started;
      assert.ok(ms < GONE_MS, `stopped after ${ms} ms`);
    }

    test("before the first sentence: the model is stopped, and a repeat asks it again", async () => {
      const user = newUser();
      const sent = question();
      model.play("no-first-token");
      await stopped(user, sent, "progress");
      model.play({ scenario: "ok", deltas: PIECES });
      assertWritten(await ask(direct.url, user, sent), SUPPORTED);
      assert.equal(upstream.history.messagesOf(user).length, 2);
    });

    test("before the first sentence: a repeat that waits takes over", async () => {
      const user = newUser();
      const sent = question();
      model.play(["no-first-token", { scenario: "ok", deltas: PIECES }]);
      const repeats = [];
      await leaveAfter(direct.url, user, sent, "progress", (socket) => {
        repeats.push(ask(direct.url, user, sent));
        setTimeout(() => go(socket), 200);
      });
      const started = performance.now();
      const [repeat] = await Promise.all(repeats);
      assertWritten(repeat, SUPPORTED);
      assert.ok(performance.now() - started < GONE_MS + MARGIN_MS);
    });

    test("after a sentence: the model is stopped, nothing is kept, and a repeat is answered whole", async () => {
      const user = newUser();
      const sent = question();
      model.play({ scenario: "stall", deltas: PIECES, after: 2 });
      await stopped(user, sent, "answer_delta");
      model.play({ scenario: "ok", deltas: PIECES });
      assertWritten(await ask(direct.url, user, sent), SUPPORTED);
      const [, answer, ...others] = upstream.history.messagesOf(user);
      assert.deepEqual([answer.content, answer.cut, others], [`${SHIPPING} [1] ${SUPPORTED[1]} [2]`, false, []]);
    });
  });
}

/** @import { Step } from "../../tests/generation/support/scenarios.mjs" */

/**
 * Faults from which no sentence comes, and the reason that the answer consists of quotes.
 * @type {[string | Step, string][]}
 */
const FAULTS = [
  ["connect-refused", "error"],
  ["unauthorized", "error"],
  ["forbidden", "error"],
  [{ scenario: "rate-limited", retryAfter: "" }, "error"],
  [{ scenario: "rate-limited", retryAfter: "0" }, "error"],
  ["bad-request", "error"],
  ["server-error", "error"],
  ["unavailable", "error"],
  ["gateway-page", "error"],
  ["redirect", "error"],
  ["wrong-content-type", "error"],
  ["empty-stream", "error"],
  [{ scenario: "cut", deltas: PIECES, after: 1 }, "error"],
  [{ scenario: "reset", deltas: PIECES, after: 1 }, "error"],
  [{ scenario: "malformed-json", deltas: PIECES, after: 1 }, "error"],
  [{ scenario: "not-a-chunk", deltas: PIECES, after: 1 }, "error"],
  [{ scenario: "error-in-stream", deltas: PIECES, after: 1 }, "error"],
  ["no-headers", "timeout"],
  ["no-first-token", "timeout"],
  ["only-comments", "timeout"],
  [{ scenario: "stall", deltas: PIECES, after: 1 }, "timeout"],
  [{ scenario: "ok", text: SHIPPING.repeat(20), deltas: "characters", delayMs: 20 }, "timeout"],
  ["declined", "declined"],
  ["content-null", "unsupported"],
  ["empty-content", "unsupported"],
  ["tool-calls", "unsupported"],
  ["open-think-block", "unsupported"],
  ["flood", "unsupported"],
  [{ scenario: "endless-bracket", characters: 3000 }, "unsupported"],
  // It is too long for a sentence long before the response is too large.
  ["endless-bracket", "unsupported"],
  [{ scenario: "endless-repetition", text: UNSUPPORTED }, "unsupported"],
  [{ scenario: "length", text: "Refunds are paid within" }, "unsupported"],
  [{ scenario: "ok", text: UNSUPPORTED }, "unsupported"],
  [{ scenario: "ok", text: "<b>Refunds</b> are paid within 5 days." }, "unsupported"],
];

/** Faults after the first sentence. */
const LATE_FAULTS = ["stall", "cut", "reset", "malformed-json", "not-a-chunk", "error-in-stream", "content-filter"];

describe("a fault of the model", () => {
  for (const [fault, fallback] of FAULTS) {
    const step = typeof fault === "string" ? { scenario: fault } : fault;
    const details = step.text ? `: ${step.text.slice(0, 30)}` : "";
    test(`${step.scenario}${details} ends in the extractive answer (${fallback})`, async () => {
      const user = newUser();
      const { reply, ms } = await faulty(step, user);
      await assertFallback(reply, fallback);
      const limit = fallback.includes("timeout") ? TIMEOUT_MS : 0;
      assert.ok(ms < limit + MARGIN_MS, `${ms} ms`);
      assertNothingLeaks();
      assert.deepEqual(model.redirected, [], "the passages went elsewhere");
      model.play({ scenario: "ok", deltas: PIECES });
      assertWritten(await ask(worker.url, user), SUPPORTED);
    });
  }

  for (const scenario of LATE_FAULTS) {
    test(`${scenario} after the first sentence leaves that sentence, and quotes follow`, async () => {
      const user = newUser();
      const { reply, ms } = await faulty({ scenario, deltas: PIECES, after: 2 }, user);
      assertWritten(reply, [SHIPPING], QUOTES);
      assert.ok(ms < TIMEOUT_MS + MARGIN_MS, `${ms} ms`);
      model.play({ scenario: "ok", deltas: PIECES });
      assertWritten(await ask(worker.url, user), SUPPORTED);
    });
  }

  test("a model that repeats itself is stopped", async () => {
    model.play({ scenario: "endless-repetition", text: PIECES.join("") });
    const [request] = await requestsFor(async () => assertWritten(await ask(worker.url, newUser()), SUPPORTED));
    await request.ended;
    assert.ok(request.isAborted);
  });

  test("a limit of tokens in mid-sentence drops that sentence", async () => {
    model.play({ scenario: "length", text: `${PIECES.join("")} Refunds are paid` });
    assertWritten(await ask(worker.url, newUser()), SUPPORTED);
  });

  test("variants of the protocol are read", async () => {
    for (const scenario of [
      "reasoning-content",
      "think-block",
      "usage-with-last-choice",
      "no-usage",
      "role-first",
      "no-role",
      "comments",
      "crlf-and-bom",
      "no-space-after-colon",
      "json-answer",
    ]) {
      model.play({ scenario, text: PIECES.join("") });
      const reply = await ask(worker.url, newUser());
      assertWritten(reply, SUPPORTED);
    }
  });

  test("a prompt that is too long is sent once more, with half of the passages", async () => {
    const user = newUser();
    const filler = Array.from({ length: 60 }, (_, at) => `Room ${at} of the museum has a window and a door.`);
    const content = [...SUPPORTED, ...filler].join(" ");
    const sentences = [...SUPPORTED, ...filler].map((text) => sentence(content, text, 0.8));
    const long = passage({ content, sentences });
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [long] }) });
    model.play(["context-exceeded", { scenario: "ok", text: SUPPORTED.map((text) => `${text} [1]`).join(" ") }]);
    const calls = await requestsFor(async () => assertWritten(await ask(worker.url, user), SUPPORTED));
    const [whole, half] = calls.map(({ json }) => json.messages[1].content.length);
    assert.equal(calls.length, 2);
    assert.ok(half < whole * 0.7, `${half} of ${whole}`);

    model.play("context-exceeded");
    const again = await requestsFor(async () =>
      assert.equal(generationOf(await ask(worker.url, user)).fallback, "error"),
    );
    assert.equal(again.length, 2);
  });

  test("after five users' failures the model is left alone for a moment", async () => {
    await withWorker(upstream, variables(), async (other) => {
      model.play("server-error");
      const calls = await requestsFor(async () => {
        for (let asked = 0; asked < 8; asked++) {
          assert.equal(generationOf(await ask(other.url, newUser())).fallback, "error");
        }
      });
      assert.equal(calls.length, 5);
    });
  });

  test("a model that says when to come back is left alone until then", async () => {
    const play = (retryAfter) =>
      model.play([
        { scenario: "rate-limited", retryAfter },
        { scenario: "ok", deltas: PIECES },
      ]);
    await withWorker(upstream, variables(), async (other) => {
      play("30");
      const calls = await requestsFor(async () => {
        for (let asked = 0; asked < 3; asked++) {
          assert.equal(generationOf(await ask(other.url, newUser())).fallback, "error");
        }
      });
      assert.equal(calls.length, 1);
    });
    await withWorker(upstream, variables(), async (other) => {
      play("1");
      assert.equal(generationOf(await ask(other.url, newUser())).fallback, "error");
      await sleep(1100);
      assertWritten(await ask(other.url, newUser()), SUPPORTED);
    });
  });

  /** Asks while the model has this fault. */
  async function faulty(step, user) {
    model.play(step.scenario === "connect-refused" ? "ok" : step);
    const started = performance.now();
    const reply = step.scenario === "connect-refused" ? await withoutServer(user) : await ask(worker.url, user);
    return { reply, ms: performance.now() - started };
  }

  async function withoutServer(user) {
    const closed = await startScriptedModel("connect-refused");
    return withWorker(upstream, variables({ CHAT_LLM_URL: closed.url }), ({ url }) => ask(url, user));
  }
});

/** Key, question and passages are not in the log, and the key goes to the model only. */
function assertNothingLeaks() {
  const log = worker.log.join("\n");
  for (const secret of [KEY, "When are refunds", "paid within", "shipped free"]) {
    assert.ok(!log.includes(secret), secret);
  }
  assert.ok(!JSON.stringify(upstream.calls.map(({ headers }) => headers)).includes(KEY));
}

describe("the request to the model", () => {
  test("has the question, the passages and the key, and nothing of the user", async () => {
    const user = newUser();
    const sent = question();
    const [request, ...others] = await requestsFor(() => ask(worker.url, user, sent));
    assert.deepEqual(others, []);
    assert.equal(request.headers.authorization, `Bearer ${KEY}`);
    const { messages, ...options } = request.json;
    assert.deepEqual(options, {
      model: MODEL,
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      max_tokens: 200,
    });
    const text = JSON.stringify(messages);
    for (const part of ["When are refunds paid?", ...SUPPORTED]) assert.ok(text.includes(part), part);
    const whole = JSON.stringify([request.headers, request.body]);
    for (const secret of [user, sent.message_id, "publishable-key"]) assert.ok(!whole.includes(secret), secret);
    assert.equal(request.headers.cookie, undefined);
    assertNothingLeaks();
  });

  test("has the question before only where both were searched together, and then no other one", async () => {
    const [OLDEST, BEFORE, FOLLOW_UP] = ["Do you sell maps?", "When are refunds paid?", "How long?"];
    const found = (terms) => rows().map((row) => ({ ...row, query_terms: terms.map((word) => ({ word, weight: 3 })) }));
    const nothing = { body: [{ ...weakPassage({ similarity: 0.1 }), query_terms: [] }] };
    const both = `${FOLLOW_UP} ${BEFORE}`;
    const promptOf = async (searches, sent) => {
      const user = newUser();
      upstream.behave(user, { "rpc/match_chunks": ({ body }) => searches[body.query_text] ?? nothing });
      await ask(worker.url, user, question({ message: OLDEST }));
      const [request] = await requestsFor(() => ask(worker.url, user, question(sent)));
      assert.ok(!request.body.includes(OLDEST), request.body);
      return request.body;
    };
    const embedding = Array.from({ length: 384 }, (_, index) => (index === 1 ? 1 : 0));
    const followUp = { message: FOLLOW_UP, previous: { message: BEFORE, embedding } };
    const words = { body: found(["refunds", "paid"]) };
    const joined = await promptOf({ [both]: words }, followUp);
    assert.ok(joined.includes(`Question: ${both}\\n`), joined);
    const alone = await promptOf({ [FOLLOW_UP]: words, [both]: words }, followUp);
    assert.ok(alone.includes(`Question: ${FOLLOW_UP}\\n`) && !alone.includes(BEFORE), alone);
    const first = await promptOf({ [BEFORE]: words }, { message: BEFORE });
    assert.ok(first.includes(`Question: ${BEFORE}\\n`), first);
  });

  test("has no key where none is set", async () => {
    await withWorker(upstream, variables({ CHAT_LLM_KEY: "" }), async ({ url }) => {
      const [request] = await requestsFor(async () => assertWritten(await ask(url, newUser()), SUPPORTED));
      assert.equal(request.headers.authorization, undefined);
    });
  });
});

describe("a model that declines", () => {
  test("gets the refusal where the site says so", async () => {
    await withWorker(upstream, variables({ CHAT_LLM_DECLINE: "refuse" }), async ({ url, lineOf }) => {
      model.play("declined");
      const user = newUser();
      const sent = question();
      const reply = await ask(url, user, sent);
      const [progress, refusal] = reply.events;
      assert.deepEqual([reply.events.length, progress.type, refusal.type], [2, "progress", "refusal"]);
      assert.deepEqual([refusal.reason, refusal.persisted], ["weak_evidence", true]);
      assert.ok(refusal.nearest.length > 0);
      assert.deepEqual((await lineOf(reply)).outcome, "weak_evidence");
      assert.deepEqual((await ask(url, user, sent)).events, [refusal]);
      const [, answer] = upstream.history.messagesOf(user);
      assert.deepEqual([answer.refusal, answer.mode, answer.citations], ["weak_evidence", "extractive", []]);
      await eventually(() => upstream.history.refusalsOf(user).length === 1);
      // A fault is no decision of the model.
      model.play("server-error");
      assert.equal(generationOf(await ask(url, user)).fallback, "error");
    });
  });

  test("is counted as the refusal that the client got, and not as an answer", async () => {
    const entry = fileURLToPath(new URL("./support/analytics-worker.mjs", import.meta.url));
    const start = variables({ CHAT_LLM_DECLINE: "refuse" });
    await withWorker(
      upstream,
      start,
      async ({ url }) => {
        const points = async () => (await fetch(url, { headers: { "x-test-analytics": "yes" } })).json();
        const cases = /** @type {[string, object, string][]} */ ([
          ["declined", {}, "weak_evidence"],
          ["declined", asJson, "weak_evidence"],
          ["ok", {}, "answer"],
        ]);
        for (const [at, [scenario, options, outcome]] of cases.entries()) {
          model.play({ scenario, ...(scenario === "ok" && { deltas: PIECES }) });
          await ask(url, newUser(), question(), options);
          const point = await eventually(async () => (await points())[at]);
          assert.deepEqual(point.blobs, ["/api/chat", outcome, "POST", "default"]);
          assert.deepEqual([point.indexes, point.doubles[0]], [["/api/chat"], 200]);
        }
      },
      { entry },
    );
  });
});

describe("what clients and operators are told", () => {
  const configOf = async (url) => (await send(url, "/api/config")).json;
  const warningsOf = async (url) => (await send(url, "/api/ready")).json.warnings ?? [];

  test("/api/config names the mode and who gets the question", async () => {
    const { host } = new URL(model.url);
    const config = await configOf(worker.url);
    assert.deepEqual([config.answer_mode, config.sends_to], ["endpoint", host]);
    for (const [setting, changes, mode] of [
      ["extractive", {}, "extractive"],
      ["on_device", {}, "on_device"],
      ["endpoint", { CHAT_LLM_URL: "" }, "extractive"],
    ]) {
      const asked = async ({ url }) => {
        const { answer_mode, sends_to } = await configOf(url);
        assert.deepEqual([answer_mode, sends_to], [mode, undefined]);
        const calls = await requestsFor(async () => assert.equal(startOf(await ask(url, newUser())).mode, undefined));
        assert.equal(calls.length, 0);
      };
      await withSettings(upstream, { answer_mode: setting }, asked, variables(changes));
    }
  });

  test("/api/ready warns of a missing model and of one that rejects the configuration", async () => {
    await withWorker(upstream, variables({ CHAT_LLM_URL: "" }), async ({ url }) => {
      assert.match((await warningsOf(url)).join(), /CHAT_LLM_URL is not set/);
    });
    await withWorker(upstream, variables({ CHAT_LLM_PROVIDER: "workers_ai" }), async ({ url }) => {
      assert.match((await warningsOf(url)).join(), /the binding AI is missing/);
      await assertFallback(await ask(url, newUser()), "error");
    });
    assert.deepEqual(await warningsOf(worker.url), []);
    const user = newUser();
    model.play("unauthorized");
    await ask(worker.url, user);
    assert.match((await warningsOf(worker.url)).join(), /not written by the model: HTTP 401/);
    assert.ok(worker.log.some((line) => line.includes("rejects the configuration")));
    model.play({ scenario: "ok", deltas: PIECES });
    await ask(worker.url, user);
    assert.deepEqual(await warningsOf(worker.url), []);
  });

  test("the log line has the report of the writing and none of its text", async () => {
    const line = await worker.lineOf(await ask(worker.url, newUser()));
    assert.deepEqual([line.generation.model, line.generation.sentences], [MODEL, 2]);
    assert.equal(typeof line.stages.generation, "number");
    assertNothingLeaks();
  });
});

describe("Workers AI", () => {
  const entry = fileURLToPath(new URL("./support/ai-worker.mjs", import.meta.url));
  const NAME = "@cf/meta/llama-3.1-8b-instruct";
  const piece = (response) => `data: ${JSON.stringify({ response, p: "abc" })}\n\n`;
  const last = [
    `data: ${JSON.stringify({ response: "", usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } })}\n\n`,
    "data: [DONE]\n\n",
  ];
  let other;

  before(async () => {
    const provider = { CHAT_LLM_PROVIDER: "workers_ai", CHAT_LLM_URL: "", CHAT_LLM_KEY: "", CHAT_LLM_MODEL: NAME };
    other = await startTestWorker(upstream, variables(provider), { entry });
  });
  after(() => other?.close());

  const script = async (value) => {
    const body = value && JSON.stringify(value);
    const method = value ? "POST" : "GET";
    return (await fetch(other.url, { method, headers: { "x-test-ai": "yes" }, body })).json();
  };

  test("writes answers through the binding", async () => {
    await script({ chunks: [...PIECES.map(piece), ...last] });
    const reply = await ask(other.url, newUser());
    assert.deepEqual(deltasOf(reply), [`${SHIPPING} [1]`, ` ${SUPPORTED[1]} [2]`]);
    const { model: name, prompt_tokens, completion_tokens } = generationOf(reply);
    assert.deepEqual([name, prompt_tokens, completion_tokens], [NAME, 7, 5]);
    const [call] = await script();
    const { messages, ...options } = call.input;
    assert.deepEqual([call.model, options], [NAME, { stream: true, temperature: 0, max_tokens: 200 }]);
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["system", "user"],
    );
    assert.equal((await send(other.url, "/api/config")).json.sends_to, "Cloudflare Workers AI");
  });

  test("its faults end in the extractive answer, and the input is not logged", async () => {
    for (const [fault, fallback] of [
      [{ throws: "AiError: 5007: No such model When are refunds paid?" }, "error"],
      [{ throws: "AiError: 3040: Capacity exceeded: When are refunds paid?" }, "error"],
      [{ result: { response: SHIPPING } }, "error"],
      [{ chunks: [], stalls: true }, "timeout"],
      [{ chunks: last }, "unsupported"],
    ]) {
      await script(fault);
      const user = newUser();
      await assertFallback(await ask(other.url, user), fallback);
      await script({ chunks: [...PIECES.map(piece), ...last] });
      assert.equal(startOf(await ask(other.url, user)).mode, "generated");
    }
    assert.ok(!other.log.join("\n").includes("When are refunds"));
    assert.match(other.log.join("\n"), /no such model \(error 5007\)/);
    const calls = await script();
    assert.deepEqual(
      calls.map(({ isCancelled }) => isCancelled).filter(Boolean),
      [true],
      "only the stalled stream is cancelled",
    );
  });

  test("a prompt that is too long is shortened once", async () => {
    const before = (await script({ throws: "AiError: 5021: … exceeded this model context window limit (8000)." }))
      .length;
    await assertFallback(await ask(other.url, newUser()), "error");
    assert.equal((await script()).length, before + 2);
  });
});

test("an answer comes with heartbeats while the model is silent", { timeout: 30_000 }, async () => {
  const slow = variables({ CHAT_LLM_TIMEOUT_MS: "12000", CHAT_LLM_FIRST_TOKEN_MS: "10500" });
  await withWorker(upstream, slow, async ({ url }) => {
    model.play("no-first-token");
    const response = await open(url, "/api/chat", { method: "POST", user: newUser(), body: question() });
    const text = await response.text();
    assert.match(text, /^event: progress\n/);
    assert.match(text, /\n: heartbeat\n\nevent: answer_start/);
    assert.equal(parseEvents(text).at(-1).generation.fallback, "timeout");
  });
});

test("large search results do not hold back others while the model writes", { timeout: 30_000 }, async () => {
  const patient = variables({ CHAT_LLM_TIMEOUT_MS: "20000", CHAT_LLM_FIRST_TOKEN_MS: "20000" });
  const large = rows().map((row) => ({ ...row, meta: { padding: "x".repeat(100_000) } }));
  // More than an isolate has permits for.
  const users = Array.from({ length: 6 }, newUser);
  for (const user of users) upstream.behave(user, { "rpc/match_chunks": () => ({ body: large }) });
  await withWorker(upstream, patient, async ({ url }) => {
    const earlier = model.requests.length;
    const { promise: held, resolve: release } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
    model.play({ scenario: "ok", deltas: PIECES, held });
    const answers = users.map((user) => ask(url, user));
    try {
      await eventually(() => model.requests.length === earlier + users.length);
    } finally {
      release();
    }
    for (const answer of answers) assertWritten(await answer, SUPPORTED);
  });
});
