// OpenAI's own library against the adapter, with the real embedder, Worker and database behind it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import OpenAI from "openai";
import { signIn } from "@evidence-chat/openai-adapter";
import { startScriptedModel } from "../generation/support/scripted-model.mjs";
import { modelFolder } from "../lib/embedder.mjs";
import { PASSWORD, QUESTION_FOR_BOTH, startStack } from "./support/stack.mjs";

const SERVER = fileURLToPath(new URL("../../integrations/openai/server.mjs", import.meta.url));
const MODEL = "evidence-chat";
const KEY = "a-key-that-is-long-enough";
const COVERED = "When are refunds paid?";
const messagesOf = (content) => [{ role: /** @type {const} */ ("user"), content }];

let stack;
let adapter;

before(
  async () => {
    stack = await startStack({ CHAT_RATE_LIMIT: "5" });
    adapter = await stack.adapter();
  },
  { timeout: 120_000 },
);
after(() => stack?.close());

const library = (apiKey, baseURL = adapter.baseURL, maxRetries = 0) => new OpenAI({ apiKey, baseURL, maxRetries });
const sessionsOf = ({ id }) => stack.rest(`chat_sessions?user_id=eq.${id}`);

describe("a client with a user's token", () => {
  test("gets an answer with its sources, streamed and whole", async () => {
    const user = await stack.user();
    const { chat } = library(user.token);
    const stream = chat.completions.stream({ model: MODEL, messages: messagesOf(COVERED) });
    const chunks = [];
    for await (const chunk of stream) chunks.push(/** @type {any} */ (chunk));
    const text = (await stream.finalChatCompletion()).choices[0].message.content;
    assert.match(text, /^Refunds are paid within 5 days\. \[1\]/);
    const last = chunks.at(-1);
    assert.equal(last.citations.sources[0].title, "Refunds");
    assert.ok(chunks.slice(0, -1).every(({ citations }) => citations === undefined));
    const whole = await chat.completions.create({ model: MODEL, messages: messagesOf(COVERED) });
    assert.equal(whole.choices[0].message.content, text);
    assert.equal((await sessionsOf(user)).length, 2);
    const { data } = await library(user.token).models.list();
    assert.deepEqual(
      data.map(({ id }) => id),
      [MODEL],
    );
  });

  test("gets each source with an address, or with its id", async () => {
    const { token } = await stack.user();
    const messages = messagesOf(QUESTION_FOR_BOTH);
    const answer = /** @type {any} */ (await library(token).chat.completions.create({ model: MODEL, messages }));
    const { content, annotations } = answer.choices[0].message;
    const addresses = new Map(annotations.map(({ url_citation: { title, url } }) => [title, url]));
    assert.equal(addresses.get("Shipping"), "https://shop.test/shipping");
    assert.match(addresses.get("Refunds"), /^urn:uuid:[0-9a-f-]{36}$/);
    for (const [at, { url_citation: found }] of annotations.entries())
      assert.equal(content.slice(found.start_index, found.end_index), `[${at + 1}]`);
    const options = /** @type {any} */ ({ include_citations: false });
    const plain = await library(token).chat.completions.create({ model: MODEL, messages, ...options });
    assert.doesNotMatch(plain.choices[0].message.content ?? "", /\[\d\]/);
    assert.deepEqual([/** @type {any} */ (plain).citations, plain.choices[0].message.annotations], [undefined, []]);
  });

  test("may repeat a question, and continue a conversation", async () => {
    const user = await stack.user();
    const { chat } = library(user.token);
    const ask = async (/** @type {any} */ overrides) =>
      /** @type {any} */ (await chat.completions.create({ model: MODEL, messages: messagesOf(COVERED), ...overrides }));
    const message_id = crypto.randomUUID();
    const first = await ask({ message_id, model: "any" });
    assert.deepEqual([first.id, first.model], [`chatcmpl-${message_id}`, "any"]);
    assert.ok(Math.abs(first.created - Date.now() / 1000) < 60);
    assert.deepEqual({ ...(await ask({ message_id, model: "any" })), created: 0 }, { ...first, created: 0 });
    let text = "";
    for await (const chunk of await ask({ message_id, stream: true })) text += chunk.choices[0].delta.content ?? "";
    assert.equal(text, first.choices[0].message.content);
    assert.equal((await stack.rest(`chat_messages?session_id=eq.${first.session_id}`)).length, 2);
    const more = await ask({ session_id: first.session_id });
    assert.notEqual(more.id, first.id);
    assert.equal(more.session_id, first.session_id);
    assert.equal((await sessionsOf(user)).length, 1);
    const repeating = library(user.token, adapter.baseURL, 3).chat.completions;
    const other = /** @type {any} */ ({ model: MODEL, messages: messagesOf("Why?"), message_id });
    await assert.rejects(repeating.create(other), (error) => {
      assert.ok(error instanceof OpenAI.ConflictError);
      assert.deepEqual([error.code, error.headers?.get("x-should-retry")], ["conflict", "false"]);
      return true;
    });
  });

  test("asks the last question of a long conversation, and only that is sent to the Worker", async () => {
    const user = await stack.user();
    const long = "Tell me everything. ".repeat(10_000);
    const messages = [
      { role: /** @type {const} */ ("system"), content: long },
      ...messagesOf(long),
      { role: /** @type {const} */ ("assistant"), content: long },
      ...messagesOf([
        { type: "text", text: "How long does" },
        { type: "text", text: "standard shipping take?" },
      ]),
    ];
    const answer = await library(user.token).chat.completions.create({ model: MODEL, messages });
    assert.match(answer.choices[0].message.content, /three working days/);
    assert.equal((await sessionsOf(user)).length, 1);
  });

  test("may ask a follow-up, which is searched together with the question before it", async () => {
    const { chat } = library((await stack.user()).token);
    const ask = async (messages) => {
      const answer = await chat.completions.create({ model: MODEL, messages });
      const { retrieval } = /** @type {any} */ (answer);
      return { text: answer.choices[0].message.content, searched: retrieval.searched };
    };
    const first = messagesOf("How many working days does standard shipping take?");
    const followUp = messagesOf("How long?");
    const after = await ask([...first, { role: "assistant", content: "Three. [1]" }, ...followUp]);
    assert.match(after.text, /three working days/);
    assert.equal(after.searched, "How long? How many working days does standard shipping take?");
    const long = await ask([...messagesOf("How long? ".repeat(10_000)), ...followUp]);
    assert.equal(long.searched, undefined, "the model cannot read both");
    for (const before of ["### Task:\nGenerate a title.", "a\0b", "\u{1f9ca}".repeat(4001), "\ud800"]) {
      const messages = [...messagesOf(before), ...messagesOf(COVERED)];
      const other = library((await stack.user()).token).chat.completions;
      const { content } = (await other.create({ model: MODEL, messages })).choices[0].message;
      assert.match(content ?? "", /within 5 days/, "the question before does not harm");
    }
    const truncated = await chat.completions.create({ model: MODEL, messages: messagesOf("refunds ".repeat(260)) });
    assert.equal(/** @type {any} */ (truncated).retrieval.truncated, true);
  });

  test("gets what search and reader decide together, and what the search decides if the reader fails", async () => {
    const { token } = await stack.user();
    const decidedBy = async (reader) => {
      const { baseURL } = await stack.adapter({ reader });
      const { chat } = library(token, baseURL);
      const answer = await chat.completions.create({ model: MODEL, messages: messagesOf(COVERED) });
      return /** @type {any} */ (answer).retrieval.decided_by;
    };
    const { embedder } = stack;
    await embedder.loadReader();
    let decider = await decidedBy(embedder);
    // On a busy computer, reading may take longer than a question waits.
    for (let tries = 0; decider !== "reader" && tries < 3; tries++) decider = await decidedBy(embedder);
    assert.equal(decider, "reader");
    const readPassages = () => Promise.reject(new Error("crashed"));
    assert.equal(await decidedBy({ readerFingerprint: embedder.readerFingerprint, readPassages }), "search");
  });

  test("gets a refusal as a message", async () => {
    const { token } = await stack.user();
    const messages = messagesOf("Which planet has the most moons?");
    const refused = /** @type {any} */ (await library(token).chat.completions.create({ model: MODEL, messages }));
    assert.match(refused.choices[0].message.content, /don't have enough information/);
    assert.deepEqual([refused.citations, refused.retrieval.refusal.reason], [undefined, "no_match"]);
  });

  test("gets the Worker's errors in the form of OpenAI's", async () => {
    const { token } = await stack.user();
    const { chat } = library(token);
    const question = { model: MODEL, messages: messagesOf(COVERED) };
    const ask = (/** @type {any} */ overrides = {}) => chat.completions.create({ ...question, ...overrides });
    for (const asked of [library("sk-1").models.list(), library("sk-1").chat.completions.create(question)])
      await assert.rejects(asked, (error) => {
        assert.ok(error instanceof OpenAI.AuthenticationError);
        assert.deepEqual([error.type, error.headers?.get("www-authenticate")], ["authentication_error", "Bearer"]);
        return true;
      });
    await assert.rejects(ask({ n: 2 }), ({ status, param }) => status === 400 && param === "n");
    await assert.rejects(ask({ messages: [] }), ({ param }) => param === "messages");
    await assert.rejects(ask({ model: { toString: 1 } }), ({ status, param }) => status === 400 && param === "model");
    await assert.rejects(ask({ messages: messagesOf("x".repeat(5000)) }), /at most 4000 characters/);
    for (let asked = 0; asked < 5; asked++) await ask();
    await assert.rejects(ask(), (error) => {
      assert.ok(error instanceof OpenAI.RateLimitError);
      assert.ok(Number(error.headers?.get("retry-after")) > 0);
      assert.deepEqual(
        ["ratelimit-remaining", "x-should-retry"].map((name) => error.headers?.get(name)),
        ["0", "true"],
      );
      return true;
    });
  });

  test("is told that a conversation or an assistant does not exist", async () => {
    const { chat } = library((await stack.user()).token);
    const ask = (/** @type {any} */ overrides) =>
      chat.completions.create({ model: MODEL, messages: messagesOf(COVERED), ...overrides });
    await assert.rejects(ask({ session_id: "1" }), /session_id must be a UUID/);
    await assert.rejects(ask({ session_id: crypto.randomUUID() }), OpenAI.NotFoundError);
    await assert.rejects(ask({ model: `${MODEL}/no-such-assistant` }), ({ code }) => code === "unknown_assistant");
    await assert.rejects(ask({ model: `${MODEL}/No` }), OpenAI.BadRequestError);
  });

  test("needs a token before anything is embedded", async () => {
    const { fingerprint } = stack.embedder;
    const embedder = { fingerprint, embed: () => assert.fail("embedded") };
    const { baseURL } = await stack.adapter({ embedder });
    const body = JSON.stringify({ model: MODEL, messages: messagesOf(COVERED) });
    const response = await fetch(`${baseURL}/chat/completions`, { method: "POST", body });
    assert.deepEqual([response.status, (await response.json()).error.code], [401, "unauthorized"]);
    const { token } = await stack.user();
    const long = library(token, baseURL).chat.completions.create({
      model: MODEL,
      messages: messagesOf("x".repeat(9000)),
    });
    await assert.rejects(long, /at most 4000 characters/);
  });

  test("is not one of the tasks that Open WebUI sends by itself: those are refused and not stored", async () => {
    const user = await stack.user();
    const messages = messagesOf("### Task:\nGenerate a concise title summarizing the chat history.");
    await assert.rejects(library(user.token).chat.completions.create({ model: MODEL, messages }), /tasks/);
    assert.deepEqual(await sessionsOf(user), []);
  });
});

describe("an answer that a language model writes", () => {
  const [SUPPORTED, UNSUPPORTED] = ["Refunds are paid within 5 days. [1]", " Refunds are paid within 99 days. [1]"];
  let model;
  let writing;
  let baseURL;

  before(
    async () => {
      model = await startScriptedModel();
      writing = await startStack(
        { CHAT_LLM_URL: model.url, CHAT_LLM_MODEL: "m" },
        { settings: { answer_mode: "endpoint" } },
      );
      ({ baseURL } = await writing.adapter());
    },
    { timeout: 120_000 },
  );
  after(async () => {
    await writing?.close();
    await model?.close();
  });

  const body = { model: MODEL, messages: messagesOf(COVERED) };
  const ask = async (/** @type {any} */ overrides = {}) => {
    const { token } = await writing.user();
    return /** @type {any} */ (await library(token, baseURL).chat.completions.create({ ...body, ...overrides }));
  };

  test("comes sentence by sentence, with its report and usage in the end", async () => {
    model.play({ scenario: "ok", deltas: [SUPPORTED, UNSUPPORTED] });
    const chunks = [];
    for await (const chunk of await ask({ stream: true })) chunks.push(chunk);
    const texts = chunks.map(({ choices }) => choices[0].delta.content).filter(Boolean);
    assert.equal(texts[0], SUPPORTED);
    assert.doesNotMatch(texts.join(""), /99/);
    const { mode, generation, usage } = chunks.at(-1);
    assert.deepEqual([mode, generation.dropped], ["generated", { number: 1 }]);
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
    assert.ok(usage.prompt_tokens > 0);
    const whole = await ask();
    assert.deepEqual([whole.choices[0].message.content, whole.mode], [texts.join(""), mode]);
  });

  test("consists of quotes after a fault of the model, and where the client wants quotes", async () => {
    model.play("server-error");
    const fallback = await ask();
    assert.deepEqual([fallback.mode, fallback.generation.fallback, fallback.usage], [undefined, "error", undefined]);
    const quoted = await ask({ mode: "extractive" });
    assert.equal(quoted.generation, undefined);
    assert.equal(quoted.choices[0].message.content, fallback.choices[0].message.content);
  });

  for (const [when, scenario, seen] of /** @type {[string, any, string][]} */ ([
    ["before", "no-first-token", ": writing"],
    ["after", { scenario: "stall", deltas: [SUPPORTED, " Refunds"], after: 2 }, "5 days"],
  ])) {
    test(`is not written on if the client leaves ${when} the first sentence`, async () => {
      model.play(scenario);
      const known = model.requests.length;
      const { token } = await writing.user();
      const left = new AbortController();
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ ...body, stream: true }),
        signal: left.signal,
      });
      let text = "";
      for await (const bytes of response.body ?? []) {
        text += Buffer.from(bytes).toString();
        if (text.includes(seen)) break;
      }
      while (model.requests.length === known) await sleep(10);
      left.abort();
      await model.requests[known].ended;
      assert.ok(model.requests[known].isAborted);
    });
  }
});

describe("an adapter with an account of its own", () => {
  const accountOf = ({ email }) =>
    signIn({ url: stack.supabase.url, publishableKey: stack.supabase.keys.publishable_key, email, password: PASSWORD });

  test("asks as that account for every client with the key", async () => {
    const user = await stack.user();
    const own = await stack.adapter({ account: await accountOf(user), apiKey: KEY });
    const answer = await library(KEY, own.baseURL).chat.completions.create({
      model: MODEL,
      messages: messagesOf(COVERED),
    });
    assert.match(answer.choices[0].message.content, /5 days/);
    assert.equal((await sessionsOf(user)).length, 1);
    for (const wrong of ["another-key-that-is-long", user.token, KEY.slice(1)]) {
      await assert.rejects(library(wrong, own.baseURL).models.list(), OpenAI.AuthenticationError);
    }
  });

  test("is not started without a key", async () => {
    const account = await accountOf(await stack.user());
    await assert.rejects(stack.adapter({ account }), /would be open to everybody/);
  });

  test("says why it cannot sign in", async () => {
    await assert.rejects(accountOf({ email: "nobody@example.com" }), /does not let the adapter sign in/);
  });
});

describe("the command", () => {
  const start = (environment) => {
    const { PATH } = process.env;
    const child = spawn(process.execPath, [SERVER], { env: { PATH, PORT: "0", ...environment } });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output += bytes));
    return { child, output: () => output, ended: once(child, "close") };
  };

  test("prints the base URL, which is on this computer only, and ends on SIGTERM", async () => {
    const EMBEDDER_MODEL_URL = pathToFileURL(`${modelFolder()}/all-MiniLM-L6-v2-int8.safetensors`).href;
    const { child, output, ended } = start({ EVIDENCE_CHAT_URL: stack.worker.url, EMBEDDER_MODEL_URL });
    while (!output().includes("ready") && child.exitCode === null) await sleep(20);
    const [, baseURL] = /^ready (http:\/\/127\.0\.0\.1:\d+\/v1)$/m.exec(output()) ?? assert.fail(output());
    const { token } = await stack.user();
    assert.equal((await library(token, baseURL).models.list()).data[0].id, MODEL);
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
  });

  test("says which variable is missing or wrong", async () => {
    const project = { SUPABASE_URL: stack.supabase.url, SUPABASE_PUBLISHABLE_KEY: "x", SUPABASE_EMAIL: "a@b.c" };
    const EVIDENCE_CHAT_URL = stack.worker.url;
    for (const [environment, message] of /** @type {[object, RegExp][]} */ ([
      [{}, /EVIDENCE_CHAT_URL is not set/],
      [{ EVIDENCE_CHAT_URL, ...project }, /Set both of SUPABASE_EMAIL and SUPABASE_PASSWORD/],
    ])) {
      const { output, ended } = start(environment);
      assert.equal((await ended)[0], 1);
      assert.match(output(), message);
    }
  });
});
