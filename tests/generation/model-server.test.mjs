// The real model server and the real model, as the demo and other tests use them. Only properties are asserted: the text of a
// model differs from one processor to another.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MODEL_NAME, startModelServer } from "./support/model-server.mjs";
import { readStream } from "./support/read-stream.mjs";

/** Loading the model takes a second, and a prompt some seconds on a busy machine. */
const LIMIT = { timeout: 120_000 };

/** @type {Awaited<ReturnType<typeof startModelServer>>} */
let server;

before(async () => {
  server = await startModelServer();
}, LIMIT);
after(() => server?.stop());

const complete = (more = {}, init = {}) =>
  fetch(`${server.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: MODEL_NAME,
      messages: [
        { role: "system", content: "Answer in one short sentence." },
        { role: "user", content: "What colour is the sky?" },
      ],
      temperature: 0,
      seed: 1,
      max_tokens: 40,
      stream: true,
      stream_options: { include_usage: true },
      // A cached prompt is computed in other steps, which may round differently.
      cache_prompt: false,
      ...more,
    }),
    ...init,
  });

test("a streamed completion has a role first, deltas that join to the text, and the usage last", LIMIT, async () => {
  const response = await complete();
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type"), /^text\/event-stream/);
  const { chunks, text, isDone, finishReason, usage } = await readStream(response);
  assert.equal(isDone, true);
  assert.equal(chunks[0].choices[0].delta.role, "assistant");
  for (const { object, model } of chunks) assert.deepEqual([object, model], ["chat.completion.chunk", MODEL_NAME]);
  assert.ok(["stop", "length"].includes(finishReason), finishReason);
  assert.deepEqual(chunks.at(-1).choices, []);
  assert.equal(chunks.at(-1).usage, usage);
  assert.ok(usage.prompt_tokens > 10 && usage.completion_tokens > 0 && usage.completion_tokens <= 40);
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  assert.match(text, /\p{L}/u);

  // At temperature 0 the whole answer is the one that was streamed.
  const { choices } = /** @type {any} */ (await (await complete({ stream: false })).json());
  assert.equal(choices[0].message.content, text);
});

test("a prompt longer than the context is rejected with its length", LIMIT, async () => {
  const content = "The sky is blue. ".repeat(1200);
  const response = await complete({ messages: [{ role: "user", content }] });
  assert.equal(response.status, 400);
  const { error } = /** @type {any} */ (await response.json());
  assert.equal(error.type, "exceed_context_size_error");
  assert.equal(error.n_ctx, 4096);
  assert.ok(error.n_prompt_tokens > error.n_ctx);
});

test("a client that leaves stops the model", LIMIT, async () => {
  const leaving = new AbortController();
  const messages = [{ role: "user", content: "Count from one to one thousand." }];
  const response = await complete({ messages, max_tokens: 3000, ignore_eos: true }, { signal: leaving.signal });
  await response.body.getReader().read();
  leaving.abort();
  // It answers one request at a time, and 3000 tokens take most of a minute.
  const started = Date.now();
  await readStream(await complete({ max_tokens: 1 }));
  assert.ok(Date.now() - started < 20_000, `${Date.now() - started} ms`);
});

test("it accepts no request from pages of other origins", LIMIT, async () => {
  const origin = "https://other.example";
  const preflight = { origin, "access-control-request-method": "POST" };
  const response = await fetch(`${server.url}/chat/completions`, { method: "OPTIONS", headers: preflight });
  assert.notEqual(response.headers.get("access-control-allow-origin"), origin);
  assert.notEqual(response.headers.get("access-control-allow-origin"), "*");
});

test("it ends with its parent, and on a signal in the middle of an answer", LIMIT, async (t) => {
  const other = await startModelServer();
  t.after(() => other.stop());
  assert.equal(await other.stop("end of parent"), 0);

  const busy = await startModelServer();
  t.after(() => busy.stop());
  const response = await fetch(`${busy.url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ messages: [{ role: "user", content: "Count." }], max_tokens: 3000, stream: true }),
  });
  const answer = response.text().catch(() => "");
  const started = Date.now();
  assert.equal(await busy.stop("SIGTERM"), 0);
  assert.ok(Date.now() - started < 10_000, "it does not wait for the end of the answer");
  await answer;
});

test("a file that is no model is an error that names it", LIMIT, async (t) => {
  const model = process.env.MODEL_SERVER_MODEL;
  t.after(() => (process.env.MODEL_SERVER_MODEL = model));
  process.env.MODEL_SERVER_MODEL = import.meta.filename;
  await assert.rejects(startModelServer(), /llama\.cpp cannot serve .*model-server\.test\.mjs on port 0/);
  process.env.MODEL_SERVER_MODEL = "/no/such.gguf";
  await assert.rejects(startModelServer(), /no such file; `cargo xtask setup --generation` installs a model/);
  delete process.env.MODEL_SERVER_MODEL;
  await assert.rejects(startModelServer(), /MODEL_SERVER_MODEL is not set: .*`cargo xtask test node`/);
});
