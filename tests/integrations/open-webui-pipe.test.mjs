// The Open WebUI pipe against the real adapter, embedder, Worker and database, and against servers that misbehave.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { listen } from "../../local/service.mjs";
import { startScriptedModel } from "../generation/support/scripted-model.mjs";
import { bodyOf, runPipe } from "./support/pipe.mjs";
import { QUESTION_FOR_BOTH, startStack } from "./support/stack.mjs";

const SEARCHING = ["Searching the documents", false, false];

let stack;
let adapter;
let model;

before(
  async () => {
    model = await startScriptedModel();
    stack = await startStack(
      { CHAT_LLM_URL: model.url, CHAT_LLM_MODEL: "m" },
      { settings: { answer_mode: "endpoint" } },
    );
    adapter = await stack.adapter();
  },
  { timeout: 120_000 },
);
after(async () => {
  await stack?.close();
  await model?.close();
});

/** Asks as a user. Without `deltas` the model fails, so the answer consists of quotes. */
async function ask(content, { deltas, user, ...options } = /** @type {any} */ ({})) {
  model.play(deltas ? { scenario: "ok", deltas } : "server-error");
  const { token } = user ?? (await stack.user());
  return runPipe({ valves: { url: adapter.baseURL, api_key: token }, body: bodyOf(content), ...options });
}

describe("an answer", () => {
  test("is text with markers, then one source a document in the order of the numbers", async () => {
    const { text, sources, statuses, kinds } = await ask(QUESTION_FOR_BOTH);
    assert.equal(sources.length, 2);
    const numbers = [...text.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number));
    assert.deepEqual(
      [...new Set(numbers)].sort(),
      sources.map((_, at) => at + 1),
      text,
    );
    for (const { source, document, metadata, distances } of sources) {
      assert.ok(["Refunds", "Shipping"].includes(source.name));
      assert.equal(source.url, source.name === "Shipping" ? "https://shop.test/shipping" : undefined);
      assert.deepEqual([document.length, metadata.length, distances.length], [1, 1, 1]);
      assert.equal(metadata[0].source, source.id, "Open WebUI groups by it");
      assert.equal(metadata[0].name, source.name);
      assert.ok(distances[0] > 0.3 && distances[0] <= 1);
    }
    const first = text.split(" [1]")[0].split(": ").at(-1);
    assert.ok(sources[0].document[0].includes(first), `${first} stands in the first source`);
    assert.deepEqual([statuses[0], statuses.at(-1)], [SEARCHING, ["Answered from the documents", true, true]]);
    assert.ok(kinds.lastIndexOf("out") < kinds.indexOf("source"));
    assert.equal(kinds.at(-1), "status");
  });

  test("written by a model says so", async () => {
    const deltas = ["Refunds are paid within 5 days. [1]", " Refunds are paid within 99 days. [1]"];
    const { text, statuses, sources } = await ask("When are refunds paid?", { deltas });
    assert.match(text, /^Refunds are paid within 5 days\. \[1\]/);
    assert.doesNotMatch(text, /99/);
    assert.equal(sources[0].source.name, "Refunds");
    assert.deepEqual(
      statuses.map(([description]) => description),
      ["Searching the documents", "Writing and checking the answer", "Written by a language model from the documents"],
    );
  });

  test("is asked with the user's own token if there is one, and with parts of text", async () => {
    const user = await stack.user();
    const content = [{ type: "text", text: "When are refunds paid?" }];
    const asked = { valves: { url: adapter.baseURL, api_key: "wrong" }, own_key: user.token, body: bodyOf(content) };
    assert.match((await runPipe(asked)).text, /5 days/);
    assert.equal((await stack.rest(`chat_sessions?user_id=eq.${user.id}`)).length, 1);
  });

  test("to a follow-up is searched together with the question before it, and says so", async () => {
    const before = "How many working days does standard shipping take?";
    const { text, statuses } = await ask("How long?", { body: bodyOf("How long?", {}, before) });
    assert.match(text, /three working days/);
    const together = "Answered from the documents; searched together with the question before";
    assert.deepEqual(statuses.at(-1), [together, true, false]);
  });

  test("says that the question is longer than the model reads", async () => {
    const { statuses } = await ask("refunds ".repeat(260));
    assert.match(statuses.at(-1)[0], /; the question is longer than the AI reads$/);
  });

  test("that nobody reads any more is not written on", async () => {
    model.play({ scenario: "stall", deltas: ["Refunds are paid within 5 days. [1]", " Refunds"], after: 2 });
    const { token } = await stack.user();
    const known = model.requests.length;
    const body = bodyOf("When are refunds paid?");
    const { text } = await runPipe({ valves: { url: adapter.baseURL, api_key: token }, body, stop_after: 1 });
    assert.match(text, /^Refunds are paid within 5 days/);
    await model.requests[known].ended;
    assert.ok(model.requests[known].isAborted);
  });
});

test("a refusal is a text without sources", async () => {
  const { text, sources, statuses } = await ask("Which planet has the most moons?");
  assert.match(text, /don't have enough information/);
  assert.deepEqual(sources, []);
  assert.deepEqual(statuses.at(-1), ["Not enough evidence for an answer", true, false]);
});

test("a task of Open WebUI is not a question", async () => {
  const user = await stack.user();
  const { kinds } = await ask("### Task:\nGenerate a title.", { user, task: "title_generation" });
  assert.deepEqual(kinds, []);
  assert.deepEqual(await stack.rest(`chat_sessions?user_id=eq.${user.id}`), []);
});

describe("the request", () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1000)}` } };
  const text = (/** @type {string} */ text) => ({ type: "text", text });
  for (const { name, messages, sent } of [
    {
      name: "has the last question and the one before it",
      messages: bodyOf("Why?").messages,
      sent: ["Hello!", "Why?"],
    },
    {
      name: "has a question in parts",
      messages: bodyOf("Why?", {}, [text("Hi")]).messages,
      sent: [[text("Hi")], "Why?"],
    },
    { name: "has no earlier images", messages: bodyOf("Why?", {}, [text("See"), image]).messages, sent: ["Why?"] },
    { name: "has no long earlier text", messages: bodyOf("Why?", {}, "x".repeat(4001)).messages, sent: ["Why?"] },
    { name: "has no earlier message without text", messages: bodyOf("Why?", {}, null).messages, sent: ["Why?"] },
    { name: "has the first question alone", messages: [{ role: "user", content: "Why?" }], sent: ["Why?"] },
    { name: "has no message where the chat has none", messages: [], sent: [] },
  ]) {
    test(name, async () => {
      let body = "";
      const server = createServer((request, response) => {
        request.on("data", (piece) => (body += piece));
        request.on("end", () => response.writeHead(500).end());
      });
      const url = await listen(server, 0);
      try {
        await runPipe({ valves: { url, api_key: "k" }, body: { stream: true, messages } });
      } finally {
        server.close();
      }
      assert.deepEqual(
        JSON.parse(body).messages.map(({ content }) => content),
        sent,
      );
    });
  }
});

describe("an error", () => {
  const detailOf = ({ all }) => all("out").at(-1)?.error?.detail;

  test("of the server is an error of the message with the server's words", async () => {
    const reply = await ask("When are refunds paid?", { user: { token: "sk-1" } });
    assert.match(detailOf(reply), /sign in/i);
    assert.deepEqual(reply.statuses.at(-1), [detailOf(reply), true, false]);
    const plain = await ask(" ", { body: bodyOf(" ", { stream: false }) });
    assert.match(plain.text, /message is empty/, "as text where there is no stream");
  });

  /** A server that answers with this. */
  async function from(status, body, headers = {}) {
    const server = createServer((_, response) => response.writeHead(status, headers).end(body));
    const url = await listen(server, 0);
    try {
      const valves = { url, api_key: "k" };
      return await runPipe({ valves, body: bodyOf("Why?") });
    } finally {
      server.close();
    }
  }
  const chunk = (delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;

  for (const [name, reply, message] of /** @type {[string, Parameters<typeof from>, RegExp][]} */ ([
    ["a page of a proxy", [502, "<html>"], /status 502/],
    ["a redirect", [302, "", { location: "http://127.0.0.1:1/" }], /status 302/],
    ["a stream that is cut", [200, chunk({ content: "Half" })], /connection was lost/],
    ["a stream that is not JSON", [200, "data: {\n\n"], /cannot be reached/],
    ["a stream without an end of line", [200, "x".repeat(5_000_000)], /cannot be reached/],
    ["an error in the stream", [200, 'data: {"error":{"message":"Sorry."}}\n\n'], /^Sorry\.$/],
  ])) {
    test(`${name} says so`, async () => {
      const failed = await from(...reply);
      assert.match(detailOf(failed), message);
      assert.equal(failed.statuses.at(-1)[1], true, "nothing goes on");
    });
  }

  test("no server says so", async () => {
    const valves = { url: "http://127.0.0.1:9/v1", api_key: "k" };
    assert.match(detailOf(await runPipe({ valves, body: bodyOf("Why?") })), /cannot be reached/);
  });
});
