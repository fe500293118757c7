// A stand-in for Supabase that can produce faults on demand.
import { once } from "node:events";
import { createServer } from "node:http";
import { createHistory } from "./upstream/history.mjs";
import { createLibrary } from "./upstream/library.mjs";
import { DOCUMENT_ID, passage } from "./upstream/passages.mjs";
import { BadQuery } from "./upstream/postgrest.mjs";
import { respond } from "./upstream/respond.mjs";

export { DOCUMENT_ID, passage, sentence, weakPassage } from "./upstream/passages.mjs";

/** The reply of the database for an assistant that does not exist for the caller. */
export const unknownAssistant = () => ({
  status: 404,
  body: { code: "PT404", message: "There is no assistant of this name that you may use.", details: null, hint: null },
});

/** The user of calls without a user's token: settings and keys. */
export const NOBODY = undefined;

/** The settings of `chat_config` in a new database. */
export const DEFAULT_SETTINGS = {
  title: null,
  allowed_origins: null,
  evidence_threshold: null,
  evidence_confidence: null,
  match_count: null,
  link_mode: "none",
  citations: true,
  answer_mode: "extractive",
  refusal_message: null,
  refusal_suggestions: null,
  support_url: null,
  greeting: null,
  suggested_questions: [],
  log_questions: false,
};

/**
 * Starts the stand-in. Each user can have a separate behaviour, `behave(user, { "rpc/match_chunks": (call) => reply })`;
 * `respond.mjs` describes replies. `NOBODY` is the user of calls without a user's token.
 */
export async function startUpstream({ keepsConnections = true } = {}) {
  const behaviours = new Map();
  const calls = [];
  const history = createHistory();
  const settings = { ...DEFAULT_SETTINGS };
  const library = createLibrary({ id: DOCUMENT_ID }, settings);
  const keys = [];
  const defaults = {
    /** @type {(call: Call) => any} */
    "rpc/match_chunks": () => ({ body: [passage()] }),
    "rpc/chat_config": (/** @type {Call} */ { body: { assistant } }) =>
      /** @type {any} */ (assistant === "default" ? { body: { model: "test-model", settings } } : unknownAssistant()),
    jwks: () => ({ body: { keys } }),
    ...history.handlers,
    ...library.handlers,
  };

  const serve = async (request, response) => {
    const call = await read(request).catch((error) => {
      // The Worker may cancel while it is sending.
      if (!request.destroyed) throw error;
      return undefined;
    });
    if (!call) return;
    calls.push(call);
    response.on("close", () => (call.closed = true));
    const handler = behaviours.get(call.user)?.[call.resource] ?? defaults[call.resource];
    const unknown = { status: 404, body: { message: `nothing at ${call.resource}` } };
    await respond(call, response, handler ? await answer(handler, call) : unknown);
  };
  const server = createServer((request, response) => void serve(request, response));
  if (!keepsConnections) server.maxRequestsPerSocket = 1;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    history,
    library,
    /** The settings of `chat_config`. Tests may change them. */
    settings,
    /** The keys of the JWKS. Tests may change them. */
    keys,
    calls,
    /** The default behaviour of each resource. */
    defaults,
    behave: (user, behaviour) => behaviours.set(user, behaviour),
    callsOf: (user, resource) =>
      calls.filter((call) => call.user === user && (!resource || call.resource === resource)),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(handler, call) {
  try {
    return await handler(call);
  } catch (error) {
    if (error instanceof BadQuery) return { status: 400, body: { code: "PGRST100", message: error.message } };
    throw error;
  }
}

/**
 * @typedef {object} Call
 * @property {string} method
 * @property {string} resource
 * @property {string} [path] of a file in Storage
 * @property {URLSearchParams} search
 * @property {Record<string, string>} query
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {string | undefined} user
 * @property {any} body
 * @property {boolean} [closed] whether the connection of the response is closed
 * @property {number} [sent] the bytes sent of a `huge` reply
 */

/** @returns {Promise<Call>} */
async function read(request) {
  const { pathname, searchParams } = new URL(request.url, "http://upstream");
  return {
    method: request.method,
    ...resourceOf(pathname),
    search: searchParams,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    user: userOf(request.headers.authorization),
    body: await readJson(request),
  };
}

function resourceOf(pathname) {
  const [, object] = /^\/storage\/v1\/object\/(?:authenticated\/)?kb\/(.+)$/.exec(pathname) ?? [];
  if (object) return { resource: "storage/object", path: object };
  if (pathname === "/storage/v1/object/sign/kb") return { resource: "storage/sign" };
  if (pathname === "/auth/v1/.well-known/jwks.json") return { resource: "jwks" };
  return { resource: pathname.replace("/rest/v1/", "") };
}

function userOf(authorization = "") {
  const payload = authorization.split(".")[1];
  return payload && JSON.parse(Buffer.from(payload, "base64url").toString()).sub.toLowerCase();
}

async function readJson(request) {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  return text ? JSON.parse(text) : undefined;
}
