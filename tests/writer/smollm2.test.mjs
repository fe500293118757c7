// The real model as WebAssembly beside llama.cpp's server: both read the same file, in their own arithmetic. A text differs once
// two tokens were almost equally likely, so only the first words are compared, of several answers.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { startModelServer } from "../generation/support/model-server.mjs";
import { loadModel, openWriter } from "./support/writer.mjs";

const LIMIT = { timeout: 240_000 };
const MAX_TOKENS = 24;
const SOURCE =
  "Refunds are paid to your card within 5 days. Orders above 40 euros are shipped free of charge. Gift cards cannot be refunded.";
const QUESTIONS = [
  "Which orders are shipped free of charge?",
  "What is the capital of France?",
  "Name three colours.",
  "Count from one to ten.",
  "How many days are in a week?",
];
const chats = QUESTIONS.map((question) => [
  { role: "system", content: "Answer in one short sentence." },
  { role: "user", content: `${SOURCE}\n\nQuestion: ${question}` },
]);

let server, writer, model;

before(async () => {
  server = await startModelServer();
  writer = await openWriter();
  const file = await readFile(process.env.MODEL_SERVER_MODEL);
  model = loadModel(writer, file, 1 << 20);
}, LIMIT);
after(async () => {
  model?.free();
  await server?.stop();
});

function write(messages) {
  const session = model.start(JSON.stringify(messages), MAX_TOKENS);
  let text = "";
  for (let piece; (piece = session.next()) !== undefined;) text += piece;
  const promptTokens = session.promptTokens();
  session.free();
  return { text, promptTokens };
}

async function writeOnServer(messages) {
  const response = await fetch(`${server.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages, temperature: 0, seed: 1, max_tokens: MAX_TOKENS, cache_prompt: false }),
  });
  assert.equal(response.status, 200);
  const { choices, usage } = /** @type {any} */ (await response.json());
  return { text: choices[0].message.content, promptTokens: usage.prompt_tokens };
}

test("the tokens of a prompt are those of llama.cpp, and most answers begin with the same words", LIMIT, async (t) => {
  let same = 0;
  // The server first: our model blocks this thread, so long that the server would close a connection that waits.
  const onServer = [];
  for (const messages of chats) onServer.push(await writeOnServer(messages));
  for (const [number, theirs] of onServer.entries()) {
    const ours = write(chats[number]);
    t.diagnostic(JSON.stringify([ours.text, theirs.text]));
    assert.equal(ours.promptTokens, theirs.promptTokens);
    same += Number(ours.text.slice(0, 20).trim() === theirs.text.slice(0, 20).trim());
  }
  assert.ok(same >= QUESTIONS.length / 2, `only ${same} of ${QUESTIONS.length} begin with the same words`);
});

test("the file is never in memory twice", LIMIT, async () => {
  const { length } = await readFile(process.env.MODEL_SERVER_MODEL);
  assert.ok(writer.memory.buffer.byteLength < 2 * length, `${writer.memory.buffer.byteLength} bytes`);
});
