// A stand-in for Supabase that answers after a fixed latency and records its own time. A local service (see
// local/service.mjs). Environment: PORT, QUESTIONS (its rows are what `match_chunks` answers), LATENCY_MS,
// SETTINGS (JSON; of the assistant).
//
// GET /calls returns the calls since the last GET /calls: [{ user, resource, question, ms }].
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen, runService } from "../../local/service.mjs";
import { largestMessages, largestRows } from "./lib/largest.mjs";
import { loadQuestions } from "./lib/questions.mjs";
import { setting } from "./lib/settings.mjs";

const CONFIG = {
  evidence_threshold: null,
  evidence_confidence: null,
  match_count: null,
  link_mode: "none",
  citations: true,
  refusal_message: null,
  refusal_suggestions: null,
  support_url: null,
  greeting: null,
  suggested_questions: [],
  log_questions: false,
};

const latency = Number(setting("LATENCY_MS"));
const questions = loadQuestions();
const rows = new Map(questions.map(({ text, rows }) => [text, JSON.stringify(rows)]));
const answered = questions.find(({ rows }) => rows.length > 0);
if (!answered) throw new Error("no question has rows");
for (const [text, largest] of largestRows(answered.rows[0])) rows.set(text, JSON.stringify(largest));
const MAX_MESSAGES = 201;
const messages = largestMessages(MAX_MESSAGES).map((message) => JSON.stringify(message));
const config = JSON.stringify({
  model: questions[0].model,
  settings: { ...CONFIG, ...JSON.parse(setting("SETTINGS")) },
});

let calls = [];

const answers = {
  "/rest/v1/rpc/match_chunks": ({ query_text: text }) => rows.get(text) ?? "[]",
  "/rest/v1/rpc/chat_config": () => config,
  "/rest/v1/rpc/chat_record_turn": () => undefined,
  "/rest/v1/rpc/chat_record_refusal": () => undefined,
  "/rest/v1/rpc/chat_has_documents": () => "true",
  "/rest/v1/rpc/chat_documents": () => "[]",
  // The messages of the one session that all users share.
  "/rest/v1/chat_sessions": () => '[{"id":""}]',
  "/rest/v1/chat_messages": (_, search) => `[${messages.slice(0, Number(search.get("limit"))).join(",")}]`,
};

await runService({ serve });

async function serve(port, ready) {
  const server = createServer((request, response) => void answer(request, response));
  const url = await listen(server, port);
  try {
    await ready(url);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function answer(request, response) {
  if (request.url === "/calls") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(calls));
    calls = [];
    return;
  }
  const startedAt = performance.now();
  const { pathname: resource, searchParams } = new URL(request.url, "http://stand-in");
  const body = await readJson(request);
  await sleep(latency);
  const text = answers[resource]?.(body, searchParams);
  if (resource in answers) {
    response.writeHead(text === undefined ? 204 : 200, { "content-type": "application/json" });
  } else {
    response.writeHead(404);
  }
  response.end(text, () => {
    calls.push({
      user: userId(request),
      resource,
      question: body?.turn?.question_id,
      ms: performance.now() - startedAt,
    });
  });
}

async function readJson(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return pieces.length ? JSON.parse(Buffer.concat(pieces).toString()) : undefined;
}

function userId({ headers: { authorization = "" } }) {
  const payload = authorization.split(".")[1];
  return payload && JSON.parse(Buffer.from(payload, "base64url").toString()).sub;
}
