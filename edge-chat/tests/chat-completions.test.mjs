// The API for OpenAI clients: the same questions and outcomes as /api/chat, in another form. `replyOf` has checked each reply
// against openapi.yaml: a role, text, one last chunk with everything else, [DONE].
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { startScriptedModel } from "../../tests/generation/support/scripted-model.mjs";
import {
  ask,
  assertError,
  complete,
  completionQuestion,
  eventually,
  headerOf,
  question,
  send,
} from "./support/client.mjs";
import { openRaw } from "./support/raw.mjs";
import { accessToken } from "./support/tokens.mjs";
import { DOCUMENT_ID, passage, sentence, startUpstream, weakPassage } from "./support/upstream.mjs";
import { closePair, ORIGIN, startTestWorker, withWorker } from "./support/worker.mjs";

const MODEL = "scripted-model";
const SHIPPING_ID = "d0000000-0000-4000-8000-000000000002";
const SHIPPING = "Orders above 40 euros are shipped free of charge.";
const REFUNDS = "Refunds are paid within 5 days.";
const PIECES = [`${SHIPPING} [2]`, ` ${REFUNDS} [1]`, " Refunds are paid within 99 days. [1]"];
const HEDGE = "These passages are about this, but may not answer it.\n\n";
const STREAMED = { stream: true };

let upstream;
let model;
let worker;
let writer;

const MODEL_VARIABLES = () => ({
  CHAT_LLM_URL: model.url,
  CHAT_LLM_MODEL: MODEL,
  CHAT_LLM_TIMEOUT_MS: "8000",
  CHAT_LLM_FIRST_TOKEN_MS: "6000",
});

before(async () => {
  upstream = await startUpstream();
  upstream.settings.answer_mode = "endpoint";
  model = await startScriptedModel();
  worker = await startTestWorker(upstream);
  writer = await startTestWorker(upstream, MODEL_VARIABLES(), { direct: true });
});

after(async () => {
  await writer?.close();
  await closePair({ upstream, worker });
  await model?.close();
});

beforeEach(() => model.play({ scenario: "ok", deltas: PIECES }));

function newUser(/** @type {unknown[]} */ rows = [passage(), shipping()]) {
  const user = crypto.randomUUID();
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: rows }) });
  return user;
}

const shipping = () =>
  passage({
    document_id: SHIPPING_ID,
    document_name: "shipping.md",
    document_meta: { title: "Shipping", url: "https://shop.test/shipping" },
    content: SHIPPING,
    meta: {},
    sentences: [sentence(SHIPPING, SHIPPING, 0.7)],
  });

const contentOf = ({ chunks }) => chunks.map(({ choices }) => choices[0].delta.content ?? "").join("");
const deltasOf = ({ events }) => events.filter(({ type }) => type === "answer_delta").map(({ text }) => text);
const only = ({ events }, type) => events.find((event) => event.type === type);
const withoutTime = (chunks) => chunks.map(({ created: _, ...chunk }) => chunk);

describe("an answer of quotes", () => {
  test("has the facts of /api/chat, in chunks and as one document", async () => {
    const user = newUser();
    const ours = await ask(worker.url, user);
    const streamed = await complete(worker.url, user, completionQuestion(STREAMED));
    const { json: whole, headers } = await complete(worker.url, user);
    assert.match(headerOf(headers, "content-type"), /^application\/json/);
    const last = streamed.chunks.at(-1);
    for (const facts of [last, whole]) {
      const { citations, referenced_indices, also_found } = only(ours, "sources");
      assert.deepEqual(facts.citations.sources, citations);
      assert.deepEqual(facts.citations.referenced_indices, referenced_indices);
      assert.deepEqual(facts.retrieval.also_found, also_found);
      assert.equal(facts.retrieval.hedged, only(ours, "answer_start").hedged);
      assert.deepEqual([facts.retrieval.strength, facts.retrieval.refusal], [citations[0].strength, undefined]);
      assert.deepEqual([facts.persisted, facts.mode, facts.generation], [true, undefined, undefined]);
      assert.deepEqual(facts.usage, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
    }
    assert.equal(contentOf(streamed), deltasOf(ours).join(""));
    assert.equal(whole.choices[0].message.content, deltasOf(ours).join(""));
    assert.deepEqual(whole.choices[0].message.annotations, last.choices[0].delta.annotations);
  });

  test("is in the history of the user", async () => {
    const user = newUser();
    const { session_id, message_id } = (await complete(worker.url, user)).json;
    const { messages } = (await send(worker.url, `/api/sessions/${session_id}/messages`, { user })).json;
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content.split(" [")[0]]),
      [
        ["user", "When are refunds paid?"],
        ["assistant", REFUNDS],
      ],
    );
    assert.equal(messages[1].id, message_id);
    const more = completionQuestion({ session_id });
    assert.equal((await complete(worker.url, user, more)).json.session_id, session_id);
  });

  test("names each document with an address, or with its id", async () => {
    const user = newUser();
    const { json } = await complete(worker.url, user);
    const { content, annotations } = json.choices[0].message;
    const byIndex = new Map(json.citations.sources.map((source) => [source.index, source]));
    assert.deepEqual(
      annotations.map(({ url_citation: { title, url } }) => [title, url]),
      [...byIndex.keys()].sort().map((index) => {
        const { document_id, title } = byIndex.get(index);
        return [title, document_id === SHIPPING_ID ? "https://shop.test/shipping" : `urn:uuid:${DOCUMENT_ID}`];
      }),
    );
    for (const [at, { url_citation: found }] of annotations.entries()) {
      assert.equal([...content].slice(found.start_index, found.end_index).join(""), `[${at + 1}]`);
    }
  });

  test("has no markers, sources and annotations if the client wants none", async () => {
    const reply = await complete(worker.url, newUser(), completionQuestion({ ...STREAMED, include_citations: false }));
    const last = reply.chunks.at(-1);
    assert.doesNotMatch(contentOf(reply), /\[\d\]/);
    assert.deepEqual([last.citations, last.choices[0].delta], [undefined, {}]);
  });

  test("has the model's name that the client sent, and the id of the question", async () => {
    const message_id = crypto.randomUUID();
    const { json } = await complete(worker.url, newUser(), completionQuestion({ message_id, model: "any" }));
    assert.deepEqual([json.id, json.model], [`chatcmpl-${message_id}`, "any"]);
    assert.ok(Math.abs(json.created - Date.now() / 1000) < 60);
  });
});

describe("a refusal", () => {
  test("is a message of the assistant without citations", async () => {
    const user = newUser([weakPassage()]);
    const ours = only(await ask(worker.url, user), "refusal");
    const streamed = await complete(worker.url, user, completionQuestion(STREAMED));
    const { json: whole } = await complete(worker.url, user);
    assert.deepEqual([contentOf(streamed), whole.choices[0].message.content], [ours.message, ours.message]);
    for (const facts of [streamed.chunks.at(-1), whole]) {
      const { reason, suggestions, nearest = [] } = facts.retrieval.refusal;
      assert.deepEqual([reason, suggestions], [ours.reason, ours.suggestions]);
      assert.deepEqual(nearest, ours.nearest ?? []);
      assert.deepEqual([facts.citations, facts.usage, facts.message_id], [undefined, undefined, undefined]);
      assert.equal(facts.persisted, true);
    }
    await eventually(() => upstream.history.refusalsOf(user).length === 3);
  });
});

describe("a written answer", () => {
  test("comes sentence by sentence, and its report and usage in the end", async () => {
    const user = newUser();
    const reply = await complete(writer.url, user, completionQuestion(STREAMED));
    assert.match(reply.text, /^: writing\n\n/);
    const texts = reply.chunks.map(({ choices }) => choices[0].delta.content).filter(Boolean);
    assert.deepEqual(texts, [`${SHIPPING} [1]`, ` ${REFUNDS} [2]`], "the unsupported sentence is left out");
    const last = reply.chunks.at(-1);
    assert.deepEqual([last.mode, last.generation.dropped], ["generated", { number: 1 }]);
    assert.deepEqual(last.usage, { prompt_tokens: 321, completion_tokens: 3, total_tokens: 324 });
    assert.equal(last.citations.sources[0].supports[0].text, SHIPPING);
    const { json } = await complete(writer.url, user);
    assert.equal(json.choices[0].message.content, texts.join(""));
    assert.deepEqual([json.mode, json.usage], [last.mode, last.usage]);
  });

  test("consists of quotes after a fault of the model, and where the client wants quotes", async () => {
    const user = newUser();
    const quoted = await complete(writer.url, user, completionQuestion({ ...STREAMED, mode: "extractive" }));
    assert.equal(quoted.chunks.at(-1).generation, undefined);
    model.play("server-error");
    const fallback = await complete(writer.url, user, completionQuestion(STREAMED));
    const last = fallback.chunks.at(-1);
    assert.deepEqual([last.mode, last.generation.fallback, last.usage], [undefined, "error", undefined]);
    assert.equal(contentOf(fallback), contentOf(quoted));
  });

  test("is a refusal where the model declines and the site says so", async () => {
    await withWorker(upstream, { ...MODEL_VARIABLES(), CHAT_LLM_DECLINE: "refuse" }, async ({ url }) => {
      model.play("declined");
      const reply = await complete(url, newUser(), completionQuestion(STREAMED));
      assert.equal(reply.chunks.at(-1).retrieval.refusal.reason, "weak_evidence");
      assert.equal(reply.chunks.at(-1).usage, undefined, "the model has used some");
    });
  });

  for (const when of ["before", "after"]) {
    test(`the model is stopped if the client leaves ${when} the first sentence, and a repeat is answered whole`, async () => {
      const user = newUser();
      const sent = completionQuestion({ ...STREAMED, message_id: crypto.randomUUID() });
      const isBefore = when === "before";
      model.play(isBefore ? "no-first-token" : { scenario: "stall", deltas: PIECES, after: 2 });
      const known = model.requests.length;
      const body = Buffer.from(JSON.stringify(sent));
      const headers = [
        ["Authorization", `Bearer ${accessToken(user)}`],
        ["Content-Type", "application/json"],
        ["Content-Length", String(body.length)],
      ];
      const socket = openRaw(writer.url, { method: "POST", target: "/v1/chat/completions", headers, pieces: [body] });
      let text = "";
      socket.on("data", (bytes) => (text += bytes.toString()));
      await eventually(() => text.includes(isBefore ? ": writing" : SHIPPING));
      await eventually(() => model.requests.length > known);
      await sleep(50);
      socket.resetAndDestroy();
      const request = model.requests[known];
      await request.ended;
      assert.ok(request.isAborted);
      model.play({ scenario: "ok", deltas: PIECES });
      const repeat = await complete(writer.url, user, sent);
      assert.equal(contentOf(repeat), `${SHIPPING} [1] ${REFUNDS} [2]`);
    });
  }
});

test("a hedged answer says so in the text, because OpenAI clients do not show it otherwise", async () => {
  const content = "Ships sail to Norway.";
  const query_terms = ["ships", "sail", "iceland"].map((word) => ({ word, weight: 2 }));
  const user = newUser([passage({ content, sentences: [sentence(content, content, 0.8)], query_terms })]);
  const messages = [{ role: "user", content: "Do ships sail to Iceland?" }];
  const reply = await complete(worker.url, user, completionQuestion({ ...STREAMED, messages }));
  assert.equal(contentOf(reply), `${HEDGE}${content} [1]`);
  const last = reply.chunks.at(-1);
  assert.equal(last.retrieval.hedged, true);
  const { start_index, end_index } = last.choices[0].delta.annotations[0].url_citation;
  assert.equal([...contentOf(reply)].slice(start_index, end_index).join(""), "[1]");
});

describe("a repeat", () => {
  test("is identical but for the time, in either form, and costs nothing", async () => {
    const user = newUser();
    const sent = completionQuestion({ ...STREAMED, message_id: crypto.randomUUID() });
    const first = await complete(worker.url, user, sent);
    const second = await complete(worker.url, user, sent);
    assert.deepEqual(withoutTime(second.chunks), withoutTime(first.chunks));
    const { json } = await complete(worker.url, user, { ...sent, stream: false });
    assert.equal(json.choices[0].message.content, contentOf(first));
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
    assert.equal(second.headers.get("ratelimit-remaining"), first.headers.get("ratelimit-remaining"));
  });

  test("of a question of /api/chat has its outcome", async () => {
    const user = newUser();
    const sent = question();
    const ours = await ask(worker.url, user, sent);
    const { message_id } = sent;
    const theirs = await complete(worker.url, user, completionQuestion({ ...STREAMED, message_id }));
    assert.deepEqual(theirs.chunks.at(-1).citations.sources, only(ours, "sources").citations);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
    const other = completionQuestion({ message_id, messages: [{ role: "user", content: "Why?" }] });
    assertError(await complete(worker.url, user, other), 409, "conflict");
  });

  test("without a message_id is a new question", async () => {
    const user = newUser();
    const sent = completionQuestion();
    const [one, other] = [await complete(worker.url, user, sent), await complete(worker.url, user, sent)];
    assert.notEqual(one.json.id, other.json.id);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 2);
  });
});

describe("errors", () => {
  const paramOf = ({ json }) => json.error.param;

  test("a question without a vector says what to send and what to use", async () => {
    for (const embedding of [undefined, null]) {
      const reply = await complete(worker.url, newUser(), completionQuestion({ embedding }));
      assertError(reply, 400, "invalid_request");
      assert.equal(paramOf(reply), "embedding");
      assert.match(reply.json.error.message, /embedding_model.*adapter/);
    }
  });

  test("a body with a wrong field names it", async () => {
    const vector = question().embedding;
    for (const [param, overrides] of Object.entries({
      embedding: { embedding: vector.slice(1) },
      embedding_model: { embedding_model: undefined },
      messages: { messages: [{ role: "assistant", content: "Hello" }] },
      model: { model: 5 },
      stream: { stream: "yes" },
      n: { n: 2 },
      tools: { tools: [{ type: "function", function: { name: "f" } }] },
      response_format: { response_format: { type: "json_object" } },
      message_id: { message_id: "1" },
      session_id: { session_id: "1" },
      include_citations: { include_citations: "no" },
      mode: { mode: "endpoint" },
    })) {
      const reply = await complete(worker.url, newUser(), completionQuestion(overrides));
      assertError(reply, 400, "invalid_request");
      assert.deepEqual([paramOf(reply), reply.json.error.type], [param, "invalid_request_error"]);
      assert.equal(reply.headers.get("x-should-retry"), "false");
    }
  });

  test("hostile bodies are rejected at once, and long conversations are not", async () => {
    const user = newUser();
    const many = Array.from({ length: 1000 }, (_, at) => ({ role: at % 2 ? "user" : "assistant", content: "Hi" }));
    const { json } = await complete(worker.url, user, completionQuestion({ messages: many }));
    assert.equal(json.object, "chat.completion");
    const before = upstream.callsOf(user, "rpc/match_chunks").length;
    const huge = [{ role: "user", content: "x".repeat(70_000) }];
    assertError(await complete(worker.url, user, completionQuestion({ messages: huge })), 413, "payload_too_large");
    const nested = "[".repeat(30_000);
    for (const body of ["", "{", "null", "[]", "5", `{"messages":${nested}`, '{"n":1,"n":1}', "{'a':1}"]) {
      const reply = await complete(worker.url, user, body, { headers: { "content-type": "application/json" } });
      assertError(reply, 400, "invalid_request");
      assert.equal(paramOf(reply), null);
    }
    for (const messages of [{}, "Why?", [], [[]], [null], [{ role: [] }], [{ role: "user", content: {} }]]) {
      const reply = await complete(worker.url, user, completionQuestion({ messages }));
      assertError(reply, 400, "invalid_request");
      assert.equal(paramOf(reply), "messages");
    }
    const text = { headers: { "content-type": "text/plain" } };
    assertError(await complete(worker.url, user, "{}", text), 415, "unsupported_media_type");
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, before);
  });

  test("another embedding model is a mismatch that is not retried", async () => {
    for (const overrides of [
      { embedding_model: "another-model" },
      { embedding_model: undefined, model: "another-model" },
    ]) {
      const reply = await complete(worker.url, newUser(), completionQuestion({ ...STREAMED, ...overrides }));
      assertError(reply, 409, "model_mismatch");
      assert.equal(reply.headers.get("x-should-retry"), "false");
    }
    const inItsPlace = completionQuestion({ embedding_model: undefined, model: "test-model" });
    assert.equal((await complete(worker.url, newUser(), inItsPlace)).status, 200);
  });

  test("a user without a valid token is asked to authenticate", async () => {
    for (const path of ["/v1/models", "/v1/chat/completions"]) {
      const method = path.endsWith("models") ? "GET" : "POST";
      const body = method === "POST" ? completionQuestion() : undefined;
      for (const options of [{ token: "sk-1234" }, {}]) {
        const reply = await send(worker.url, path, { method, body, ...options });
        assertError(reply, 401, "unauthorized");
        assert.equal(reply.json.error.type, "authentication_error");
        assert.equal(reply.headers.get("www-authenticate"), "Bearer");
      }
    }
  });

  test("both routes share the limit of questions, and the 429 says when to come back", async () => {
    await withWorker(upstream, { CHAT_RATE_LIMIT: "2" }, async ({ url }) => {
      const user = newUser();
      assert.equal((await ask(url, user)).status, 200);
      const reply = await complete(url, user, completionQuestion(STREAMED));
      assert.deepEqual([reply.status, reply.headers.get("ratelimit-remaining")], [200, "0"]);
      const limited = await complete(url, user, completionQuestion(STREAMED));
      assertError(limited, 429, "rate_limited");
      assert.equal(limited.json.error.type, "rate_limit_error");
      assert.ok(Number(limited.headers.get("retry-after")) > 0);
      assert.equal(limited.headers.get("x-should-retry"), "true");
    });
  });

  test("faults of Supabase are errors of the server, and another user's conversation is not found", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ status: 500, body: {} }) });
    const reply = await complete(worker.url, user);
    assertError(reply, 503, "upstream_unavailable");
    assert.equal(reply.json.error.type, "server_error");
    const session_id = crypto.randomUUID();
    assertError(await complete(worker.url, newUser(), completionQuestion({ session_id })), 404, "not_found");
  });

  test("pages of other origins cannot read a response", async () => {
    for (const origin of [ORIGIN, "https://evil.test"]) {
      const reply = await complete(worker.url, newUser(), completionQuestion(), { headers: { origin } });
      assert.equal(reply.headers.get("access-control-allow-origin"), origin === ORIGIN ? ORIGIN : null);
    }
  });
});

test("/v1/models lists one model with the fingerprint of the knowledge base", async () => {
  const { json } = await send(worker.url, "/v1/models", { user: newUser() });
  assert.deepEqual(
    json.data.map(({ id, embedding_model, dimensions }) => [id, embedding_model, dimensions]),
    [["evidence-chat", "test-model", 384]],
  );
});

describe("OpenAI's library", () => {
  const client = (user, options = {}) =>
    new OpenAI({ apiKey: accessToken(user), baseURL: `${worker.url}/v1`, maxRetries: 0, ...options });
  /** The library passes fields that it does not know. */
  const body = (overrides = {}) => /** @type {any} */ (completionQuestion(overrides));

  test("reads a completion, its stream and the models", async () => {
    const user = newUser();
    const whole = await client(user).chat.completions.create(body());
    assert.match(whole.choices[0].message.content ?? "", /^Refunds are paid within 5 days\. \[1\]/);
    const stream = client(user).chat.completions.stream(body());
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0].message.content, whole.choices[0].message.content);
    assert.deepEqual(final.usage, whole.usage);
    const { citations } = /** @type {any} */ (chunks.at(-1));
    assert.deepEqual(citations.referenced_indices, /** @type {any} */ (whole).citations.referenced_indices);
    const models = [];
    for await (const { id } of client(user).models.list()) models.push(id);
    assert.deepEqual(models, ["evidence-chat"]);
  });

  test("raises our errors as its own, and does not repeat what cannot succeed", async () => {
    const user = newUser();
    const asked = client(user).chat.completions.create(body({ embedding: undefined }));
    await assert.rejects(asked, (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.deepEqual(
        [error.code, error.param, error.type],
        ["invalid_request", "embedding", "invalid_request_error"],
      );
      return true;
    });
    await assert.rejects(client("x", { apiKey: "sk-1" }).models.list(), OpenAI.AuthenticationError);
    const retrying = client(user, { maxRetries: 3 });
    await assert.rejects(
      retrying.chat.completions.create(body({ embedding_model: "another-model" })),
      OpenAI.ConflictError,
    );
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
  });
});
