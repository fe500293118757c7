import { once } from "node:events";
import { createServer } from "node:http";

/**
 * A stand-in for Supabase's REST interface, for the faults the real one does not produce on demand. Each user can get
 * an own behaviour: `behave(userId, { "rpc/match_chunks": (call) => ({ status, body, hang }) })`.
 */
export async function startUpstream() {
  const behaviours = new Map();
  const calls = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://upstream");
    const resource = pathname.replace("/rest/v1/", "");
    const call = {
      method: request.method,
      resource,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      user: userOf(request.headers.authorization),
      body: await readJson(request),
    };
    calls.push(call);
    const handler = behaviours.get(call.user)?.[resource] ?? DEFAULTS[resource];
    const { status = 200, body = [], hang = false } = await handler(call);
    if (hang) return;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    behave: (user, behaviour) => behaviours.set(user, behaviour),
    callsOf: (user, resource) =>
      calls.filter((call) => call.user === user && (!resource || call.resource === resource)),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A passage as `match_chunks` returns it, for the question of `client.mjs`. */
export function passage(overrides = {}) {
  const content = "# Refunds\n\nRefunds are paid within 5 days. Our shop opened in 1990.";
  return {
    ...olderPassage({ content }),
    lexical: 0.7,
    score: 0.77,
    sentences: [
      sentence(content, "Refunds are paid within 5 days.", 0.8),
      sentence(content, "Our shop opened in 1990.", 0.2),
    ],
    query_terms: [
      { word: "refunds", weight: 2.5 },
      { word: "paid", weight: 2.1 },
    ],
    ...overrides,
  };
}

/** A passage as `match_chunks` returned it before it looked at sentences and words. */
export function olderPassage(overrides = {}) {
  return {
    chunk_id: crypto.randomUUID(),
    document_id: crypto.randomUUID(),
    document_name: "refunds.md",
    document_meta: { title: "Refunds" },
    ordinal: 0,
    content: "Refunds are paid within 5 days.",
    meta: { section: "Refunds" },
    model: "test-model",
    similarity: 0.8,
    ...overrides,
  };
}

/** A sentence of a passage, by its offsets in code points. */
export function sentence(content, text, similarity) {
  const start = [...content.slice(0, content.indexOf(text))].length;
  return { start, end: start + [...text].length, similarity };
}

const DEFAULTS = {
  "rpc/match_chunks": () => ({ body: [passage()] }),
  kb_documents: () => ({ body: [{ id: crypto.randomUUID() }] }),
  chat_sessions: (call) => ({ status: call.method === "POST" ? 201 : 200, body: [{ id: crypto.randomUUID() }] }),
  chat_messages: () => ({ status: 201, body: [] }),
  chat_refusals: () => ({ status: 201, body: [] }),
};

function userOf(authorization = "") {
  const payload = authorization.split(".")[1];
  return payload && JSON.parse(Buffer.from(payload, "base64url").toString()).sub;
}

async function readJson(request) {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  return text ? JSON.parse(text) : undefined;
}
