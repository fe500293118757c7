// The program of @evidence-chat/mcp, started by the reference client over stdio, with the real embedder, Worker and database.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, afterEach, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { startScriptedModel } from "../generation/support/scripted-model.mjs";
import { startStack } from "./support/stack.mjs";

const PROGRAM = fileURLToPath(new URL("../../packages/mcp/bin.mjs", import.meta.url));
const COVERED = "When are refunds paid?";
const OUT_OF_SCOPE = "Which planet has the most moons?";

let stack;
before(
  async () => {
    stack = await startStack({ CHAT_RATE_LIMIT: "3" });
  },
  { timeout: 120_000 },
);
after(() => stack?.close());

/** @type {Client[]} */
const clients = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

const sessionsOf = ({ id }) => stack.rest(`chat_sessions?user_id=eq.${id}`);

/** Starts the program as an MCP host does. */
async function start(env, { url = stack.worker.url } = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM],
    env: { EVIDENCE_CHAT_URL: url, ...env },
    stderr: "pipe",
  });
  let log = "";
  transport.stderr?.on("data", (bytes) => (log += bytes));
  const client = new Client({ name: "test", version: "0.0.0" });
  clients.push(client);
  await client.connect(transport);
  await client.listTools();
  /** @returns {Promise<any>} */
  const ask = (question, input = {}, options = undefined) =>
    client.callTool({ name: "ask", arguments: { question, ...input } }, undefined, options);
  /** @returns {Promise<any>} */
  const search = (query, input = {}) => client.callTool({ name: "search", arguments: { query, ...input } });
  return { client, ask, search, log: () => log };
}

describe("an agent with a user's token", () => {
  test("gets a cited answer, a refusal, and the next answer of the same conversation", async () => {
    const user = await stack.user();
    const agent = await start({ EVIDENCE_CHAT_TOKEN: user.token });
    const first = await agent.ask(COVERED);
    assert.match(first.content[0].text, /^```\nRefunds are paid within 5 days\. \[1\]\n```\n/);
    assert.match(first.content[0].text, /\n\[1\] Refunds\n```\nRefunds are paid within 5 days\.\n```/);
    const { type, citations, session_id } = first.structuredContent;
    assert.equal(type, "answer");
    const [{ excerpt, quotes }] = citations;
    for (const { start: from, end, text } of quotes) assert.equal(excerpt.slice(from, end), text);

    const refused = await agent.ask(OUT_OF_SCOPE, { session_id });
    assert.deepEqual([refused.isError, refused.structuredContent.type], [undefined, "refusal"]);
    assert.equal(refused.structuredContent.reason, "no_match");

    const shipping = await agent.ask("How long does standard shipping take?", { session_id });
    assert.match(shipping.content[0].text, /<https:\/\/shop\.test\/shipping>/);
    assert.equal((await sessionsOf(user)).length, 1);

    const limited = await agent.ask(COVERED);
    assert.match(limited.content[0].text, /^rate_limited: .*\nWait \d+ seconds/);
    assert.equal(agent.log(), "");
  });

  test("asks a follow-up with the question before it", async () => {
    const { token } = await stack.user();
    const agent = await start({ EVIDENCE_CHAT_TOKEN: token });
    const previous_question = "How many working days does standard shipping take?";
    const { content, structuredContent } = await agent.ask("How long?", { previous_question });
    assert.match(content[0].text, /three working days/);
    assert.equal(structuredContent.searched, `How long? ${previous_question}`);
  });

  test("cannot continue another user's conversation, nor ask with a token that is none", async () => {
    const [user, other] = [await stack.user(), await stack.user()];
    const agent = await start({ EVIDENCE_CHAT_TOKEN: user.token });
    const { session_id } = (await agent.ask(COVERED)).structuredContent;
    const stranger = await start({ EVIDENCE_CHAT_TOKEN: other.token });
    assert.match((await stranger.ask(COVERED, { session_id })).content[0].text, /^not_found: /);
    const forger = await start({ EVIDENCE_CHAT_TOKEN: "not.a.token" });
    const { content } = await forger.ask(COVERED);
    assert.match(content[0].text, /^unauthorized: /);
    assert.ok(!`${content[0].text}${forger.log()}`.includes("not.a.token"));
  });

  test("searches without asking: nothing is stored, and no question is used up", async () => {
    const user = await stack.user();
    const agent = await start({ EVIDENCE_CHAT_TOKEN: user.token });
    for (let searched = 0; searched < 5; searched++) {
      const { content, structuredContent } = await agent.search("free delivery", { limit: 1 });
      assert.match(content[0].text, /^1\. Shipping <https:\/\/shop\.test\/shipping>\n```\nOrders above 40 euros/);
      assert.equal(structuredContent.results.length, 1);
    }
    assert.deepEqual(await sessionsOf(user), []);
    assert.equal((await agent.ask(COVERED)).structuredContent.type, "answer");
  });

  test("describes itself: instructions, a version, and what each tool needs", async () => {
    const { token } = await stack.user();
    const agent = await start({ EVIDENCE_CHAT_TOKEN: token });
    assert.match(agent.client.getInstructions() ?? "", /verbatim quotes with citations/);
    assert.match(agent.client.getServerVersion()?.version ?? "", /^\d+\.\d+\.\d+/);
    const { tools } = await agent.client.listTools();
    const isHarmless = (/** @type {{ annotations?: any }} */ { annotations }) =>
      annotations?.readOnlyHint || annotations?.destructiveHint === false;
    assert.deepEqual(
      tools.map((tool) => [tool.name, tool.inputSchema.required, isHarmless(tool)]),
      [
        ["ask", ["question"], true],
        ["search", ["query"], true],
      ],
    );
    assert.ok(tools.every(({ description, outputSchema }) => description && outputSchema));
  });
});

test("a cancelled call stops the model that writes", async () => {
  const model = await startScriptedModel("no-first-token");
  const writing = await startStack(
    { CHAT_LLM_URL: model.url, CHAT_LLM_MODEL: "m" },
    { settings: { answer_mode: "endpoint" } },
  );
  try {
    const { token } = await writing.user();
    const agent = await start({ EVIDENCE_CHAT_TOKEN: token }, { url: writing.worker.url });
    const cancel = new AbortController();
    const isWriting = Promise.withResolvers();
    const asked = agent.ask(COVERED, {}, { signal: cancel.signal, onprogress: isWriting.resolve });
    await isWriting.promise;
    while (model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    cancel.abort();
    await assert.rejects(asked);
    await model.requests[0].ended;
    assert.ok(model.requests[0].isAborted);
    assert.ok(await agent.client.ping());
  } finally {
    await writing.close();
    await model.close();
  }
});

describe("the program", () => {
  const run = async (args, env = {}) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { env });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (bytes) => (stdout += bytes));
    child.stderr.on("data", (bytes) => (stderr += bytes));
    child.stdin.end();
    const [code] = await once(child, "close");
    return { code, stdout, stderr };
  };

  test("ends with 1 and says which variable is missing, and with 2 for an argument", async () => {
    assert.deepEqual(await run([]), {
      code: 1,
      stdout: "",
      stderr:
        "error: EVIDENCE_CHAT_URL is not set: set it to the address of your Worker, such as https://chat.example.com\n",
    });
    const { code, stderr } = await run(["--token", "secret"]);
    assert.equal(code, 2);
    assert.ok(!stderr.includes("secret"));
    assert.match((await run(["--help"])).stdout, /^Usage: [^]*EVIDENCE_CHAT_TOKEN_FILE/);
    assert.match((await run(["--version"])).stdout, /^\d+\.\d+\.\d+/);
  });

  test("ends with 0 when its client ends, and skips lines that are no messages", async () => {
    const env = { EVIDENCE_CHAT_URL: stack.worker.url, EVIDENCE_CHAT_TOKEN: "t" };
    assert.equal((await run([], env)).code, 0);
    const child = spawn(process.execPath, [PROGRAM], { env, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.write('not JSON\n{"jsonrpc":"2.0"}\n[]\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const [line] = await once(child.stdout, "data");
    assert.deepEqual(JSON.parse(line), { jsonrpc: "2.0", id: 1, result: {} });
    child.stdin.end();
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });
});
