// Simulates the chat API on a separate origin. A test scripts POST /api/chat; the other routes work in memory.
import { listen } from "../../../../tests/lib/listen.mjs";
import { answer, json, whole } from "./answers.mjs";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "accept-ranges, content-disposition, content-range, etag, ratelimit-limit, ratelimit-remaining, ratelimit-reset, " +
    "retry-after, server-timing, x-request-id",
  vary: "Origin",
};

const PREFLIGHT = {
  "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
  "access-control-allow-headers": "authorization, content-type, if-none-match, if-range, range",
  "access-control-max-age": "7200",
};

const CONFIG = {
  greeting: null,
  suggested_questions: [],
  citations: true,
  link_mode: "none",
  model: null,
  dimensions: 384,
  max_message_chars: 4000,
};

/**
 * Starts the API. `api.respondWith(…)` sets one handler for each of the next questions, the last one for all further ones, and
 * clears the recorded requests. A handler gets the response and the recorded request. Requests are recorded as
 * `{method, path, query, headers, body, isCut}`; `isCut` is set if the client leaves before the answer is complete.
 * `api.search` is the handler of searches while a question is typed, which are recorded in `api.searches`; `api.findStatements` that of
 * searches for what the reader reads, in `api.statementSearches`.
 * `api.citationUses` has the counts of POST /api/citation-use.
 * `api.interfere`, if set, gets the requests of the other routes first and returns whether it has answered them.
 */
export async function startChatApi() {
  const api = { requests: [] };
  let handlers = [];
  api.respondWith = (...next) => {
    handlers = next;
    api.requests.length = 0;
  };
  /** Resets everything. */
  api.reset = () => {
    api.config = CONFIG;
    api.interfere = undefined;
    /** The listed sessions, the newest first. */
    api.sessions = [];
    api.largestPage = 200;
    /** Messages by session id, the oldest first. */
    api.messages = new Map();
    api.respondWith(whole(answer()));
    /** The recorded counts of the use of citations. */
    api.citationUses = [];
    /** The recorded searches, and the handler of all of them. */
    api.searches = [];
    api.search = json(200, { results: [] });
    api.statementSearches = [];
    api.findStatements = json(200, { question: "", passages: [] });
  };
  /** The recorded questions. */
  api.questions = () => api.requests.filter(({ method, path }) => method === "POST" && path === "/api/chat");
  api.reset();

  const respond = async (request, response) => {
    for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
    if (request.method === "OPTIONS") return response.writeHead(204, PREFLIGHT).end();
    const recorded = await record(request, response);
    // Not among the other requests: how many there are depends on how fast somebody types.
    if (recorded.path === "/api/search") {
      const isForReader = JSON.parse(recorded.body).statements === true;
      (isForReader ? api.statementSearches : api.searches).push(recorded);
      return (isForReader ? api.findStatements : api.search)(response, recorded);
    }
    // Nor these: they are sent when a page is left.
    if (recorded.path === "/api/citation-use") {
      api.citationUses.push(recorded);
      return response.writeHead(204).end();
    }
    api.requests.push(recorded);
    const { method, path } = recorded;
    if (method === "POST" && path === "/api/chat") {
      const handler = handlers[Math.min(api.questions().length, handlers.length) - 1];
      response.setHeader("x-request-id", `request-${api.requests.length}`);
      response.setHeader("server-timing", "auth;dur=1, admission;dur=4, settings;dur=0, search;dur=21, total;dur=26");
      return handler(response, recorded);
    }
    if (await api.interfere?.(recorded, response)) return;
    return answerOther(api, recorded, response);
  };
  const { origin, close } = await listen(respond);
  return Object.assign(api, { origin, endpoint: `${origin}/api/chat`, close });
}

async function record(request, response) {
  const { pathname: path, searchParams } = new URL(request.url, "http://x");
  const { method, headers } = request;
  let body = "";
  for await (const piece of request) body += piece;
  const recorded = { method, path, query: Object.fromEntries(searchParams), headers, body, isCut: false };
  response.on("close", () => (recorded.isCut = !response.writableFinished));
  return recorded;
}

/**
 * Settings, conversations and the user's data, as docs/api.md describes them. A cursor is the number of the next entry; no page
 * has more entries than `api.largestPage`.
 */
function answerOther(api, { method, path, query, body }, response) {
  if (path === "/api/config") return json(200, api.config)(response);
  if (path === "/api/sessions")
    return json(200, pageOf("sessions", api.sessions, query, 20, api.largestPage))(response);
  if (path === "/api/me" && method === "DELETE") {
    api.sessions = [];
    api.messages.clear();
    return response.writeHead(204).end();
  }
  const [, id, isMessages] = /^\/api\/sessions\/([\w-]+)(\/messages)?$/.exec(path) ?? [];
  const session = api.sessions.find((session) => session.id === id);
  if (!session) return json(404, { code: "not_found", message: "Not found.", retryable: false })(response);
  if (isMessages)
    return json(200, pageOf("messages", api.messages.get(id) ?? [], query, 50, api.largestPage))(response);
  if (method === "PATCH") return json(200, Object.assign(session, JSON.parse(body)))(response);
  if (method === "DELETE") {
    api.sessions = api.sessions.filter((other) => other !== session);
    return response.writeHead(204).end();
  }
  return json(200, session)(response);
}

function pageOf(name, entries, { limit, cursor = 0 }, defaultLimit, largest) {
  const start = Number(cursor);
  const end = start + Math.min(Number(limit ?? defaultLimit), largest);
  return { [name]: entries.slice(start, end), next_cursor: end < entries.length ? String(end) : null };
}
