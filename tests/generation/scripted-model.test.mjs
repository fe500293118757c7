// The scripted model does what its scenarios say, as seen by the fetch of Node.js.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readStream } from "./support/read-stream.mjs";
import { DEFAULT_TEXT, SCENARIOS, bodyOf, eachSplit } from "./support/scenarios.mjs";
import { startScriptedModel } from "./support/scripted-model.mjs";

/** @type {Awaited<ReturnType<typeof startScriptedModel>>} */
let model;

before(async () => {
  model = await startScriptedModel();
});
after(() => model.close());

const ask = (init = {}, url = model.url) =>
  fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer a-key" },
    body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Can I return it?" }] }),
    ...init,
  });

/** The answer to one request in this scenario. */
async function play(scenario, options = {}) {
  model.play({ scenario, ...options });
  return ask();
}

const last = () => model.requests.at(-1);

test("a good stream has the shape of llama.cpp's: a role, deltas, a reason, the usage and [DONE]", async () => {
  const response = await play("ok");
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const { chunks, text, isDone, finishReason, usage } = await readStream(response);
  assert.equal(text, DEFAULT_TEXT);
  assert.deepEqual(chunks[0].choices[0].delta, { role: "assistant", content: null });
  assert.deepEqual(chunks.at(-1).choices, []);
  assert.deepEqual([isDone, finishReason], [true, "stop"]);
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ""));
  const marker = deltas.indexOf("[");
  assert.deepEqual(deltas.slice(marker - 1, marker + 3), [" ", "[", "1", "]"], "a marker is four deltas");
});

test("a text can be cut into deltas at every character", async () => {
  const text = "Größe 5 €. [1] 🙂";
  let splits = 0;
  for (const deltas of eachSplit(text)) {
    const { chunks, text: read } = await readStream(await play("ok", { deltas }));
    assert.equal(read, text);
    assert.equal(chunks.length, deltas.length + 3);
    splits++;
  }
  assert.equal(splits, [...text].length + 1);
});

test("a body can be cut into packets at any byte", async () => {
  const step = { text: "5 €. [1]", deltas: ["5 €", ". [1]"] };
  const body = bodyOf(step);
  for (let place = 0; place <= body.length; place += 7) {
    const response = await play("ok", { ...step, writes: [place] });
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), body, `cut at ${place}`);
  }
  const response = await play("ok", { ...step, writes: "bytes" });
  const packets = [];
  for await (const packet of response.body) packets.push(packet);
  assert.ok(packets.length > body.length / 10, `${packets.length} packets for ${body.length} bytes`);
  assert.deepEqual(Buffer.concat(packets), body);
});

test("requests are recorded with their headers and body", async () => {
  const before = model.requests.length;
  await (await play("ok")).text();
  assert.equal(model.requests.length, before + 1);
  assert.equal(last().headers.authorization, "Bearer a-key");
  assert.equal(last().json.messages[0].content, "Can I return it?");
  await last().ended;
  assert.equal(last().isAborted, false);
});

test("steps are played one a request, and the last one stays", async () => {
  model.play(["context-exceeded", { scenario: "ok", text: "Yes." }]);
  const first = await ask();
  assert.equal(first.status, 400);
  const { error } = /** @type {any} */ (await first.json());
  assert.equal(error.type, "exceed_context_size_error");
  assert.ok(error.n_prompt_tokens > error.n_ctx);
  for (let i = 0; i < 2; i++) assert.equal((await readStream(await ask())).text, "Yes.");
});

test("an unknown scenario is an error that lists the known ones", () => {
  assert.throws(() => model.play("okay"), /no scenario "okay"; there are ok, /);
});

test("errors have their status, and too many requests say when to come again", async () => {
  for (const [scenario, status] of Object.entries({
    unauthorized: 401,
    forbidden: 403,
    "bad-request": 400,
    "server-error": 500,
    unavailable: 503,
    "gateway-page": 502,
  })) {
    const response = await play(scenario);
    assert.equal(response.status, status, scenario);
    await response.text();
  }
  const response = await play("rate-limited");
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), "7");
  await response.text();
});

test("nobody listens on a refused connection's port", async () => {
  const { url } = await startScriptedModel("connect-refused");
  await assert.rejects(ask({}, url), ({ cause }) => cause.code === "ECONNREFUSED");
});

test("a client that follows a redirect is noticed", async () => {
  model.play("redirect");
  assert.equal((await ask({ redirect: "manual" })).status, 302);
  assert.equal(model.redirected.length, 0);
  await (await ask({ redirect: "follow" })).text();
  assert.equal(model.redirected.length, 1);
});

test("a client that gives up on a stall is recorded as gone", { timeout: 20_000 }, async () => {
  for (const scenario of ["no-headers", "no-first-token", "only-comments", "stall"]) {
    model.play(scenario);
    await assert.rejects(
      ask({ signal: AbortSignal.timeout(200) }).then((response) => response.text()),
      { name: "TimeoutError" },
      scenario,
    );
    await last().ended;
    assert.equal(last().isAborted, true, scenario);
  }
});

test("a stream can end early, break, be empty or be broken", async () => {
  const cut = await readStream(await play("cut"));
  assert.equal(cut.isDone, false);
  assert.ok(cut.text && DEFAULT_TEXT.startsWith(cut.text) && cut.text !== DEFAULT_TEXT);
  await assert.rejects(play("reset").then((response) => response.text()));
  await last().ended;
  assert.equal(last().isAborted, false, "the server broke it, not the client");
  assert.equal(await (await play("empty-stream")).text(), "");
  await assert.rejects(play("malformed-json").then(readStream), SyntaxError);
  const { chunks } = await readStream(await play("error-in-stream"));
  assert.equal(chunks.at(-1).error.type, "server_error");
});

test("an answer of another type is not an event stream", async () => {
  assert.match((await play("wrong-content-type")).headers.get("content-type"), /^text\/html/);
  const response = await play("json-answer");
  assert.equal(response.headers.get("content-type"), "application/json");
  const { choices } = /** @type {any} */ (await response.json());
  assert.equal(choices[0].message.content, DEFAULT_TEXT);
});

test("a model can say nothing, stop in the middle, or be stopped", async () => {
  for (const scenario of ["content-null", "empty-content", "tool-calls"]) {
    assert.equal((await readStream(await play(scenario))).text, "", scenario);
  }
  const { text, finishReason } = await readStream(await play("length"));
  assert.equal(finishReason, "length");
  assert.doesNotMatch(text, /[.\]]$/);
  assert.equal((await readStream(await play("content-filter"))).finishReason, "content_filter");
  assert.equal((await readStream(await play("declined"))).text, "NO_ANSWER");
});

test("a flood is as long as wanted, and stops when the client leaves", async () => {
  const { text } = await readStream(await play("flood"));
  assert.ok(text.length >= 10_000_000);
  const endless = await readStream(await play("endless-bracket", { characters: 2_000 }));
  assert.match(endless.text, /\[1{2000}$/);
  model.play("endless-bracket");
  const leaving = new AbortController();
  const response = await ask({ signal: leaving.signal });
  const reader = response.body.getReader();
  await reader.read();
  leaving.abort();
  await last().ended;
  assert.equal(last().isAborted, true);
});

test("what a model thinks is apart from its text, or in a block of its own", async () => {
  const reasoning = await readStream(await play("reasoning-content"));
  assert.equal(reasoning.text, DEFAULT_TEXT);
  assert.ok(reasoning.chunks.some(({ choices }) => choices[0]?.delta.reasoning_content));
  assert.match((await readStream(await play("think-block"))).text, /^<think>\n.*\n<\/think>\n\n./s);
  assert.doesNotMatch((await readStream(await play("open-think-block"))).text, /<\/think>/);
});

test("the forms of a good stream differ, and its text does not", async () => {
  for (const scenario of [
    "usage-last",
    "usage-with-last-choice",
    "no-usage",
    "role-first",
    "no-role",
    "comments",
    "crlf-and-bom",
    "no-space-after-colon",
  ]) {
    const { text, isDone, finishReason, usage } = await readStream(await play(scenario));
    assert.deepEqual([text, isDone, finishReason], [DEFAULT_TEXT, true, "stop"], scenario);
    assert.equal(usage === undefined, scenario === "no-usage", scenario);
  }
});

test("every scenario answers within its limits, or is one that never ends", { timeout: 60_000 }, async () => {
  const endless = ["no-headers", "no-first-token", "only-comments", "stall"];
  for (const scenario of Object.keys(SCENARIOS)) {
    if (endless.includes(scenario)) continue;
    model.play({ scenario, characters: 10_000 });
    await ask({ redirect: "manual", signal: AbortSignal.timeout(10_000) })
      .then((response) => response.text())
      .catch((error) => assert.equal(scenario, "reset", error));
  }
});

test("as a program it is controlled over HTTP and ends with its parent", { timeout: 20_000 }, async (t) => {
  const program = fileURLToPath(new URL("support/scripted-model.mjs", import.meta.url));
  const env = { ...process.env, PORT: "0" };
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  const [line] = await once(child.stdout, "data");
  const url = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line.toString())[1];
  const post = (path, body) => fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  assert.equal((await post("/play", ["unavailable", "ok"])).status, 200);
  assert.equal((await post("/play", "okay")).status, 400, "which changes nothing");
  assert.equal((await post("/v1/chat/completions", {})).status, 503);
  assert.equal((await readStream(await post("/v1/chat/completions", {}))).text, DEFAULT_TEXT);
  const { requests } = /** @type {any} */ (await (await fetch(`${url}/requests`)).json());
  assert.deepEqual(
    requests.map(({ body, isAborted }) => ({ body, isAborted })),
    [
      { body: "{}", isAborted: false },
      { body: "{}", isAborted: false },
    ],
  );
  child.stdin.end();
  assert.equal((await once(child, "exit"))[0], 0);
});
