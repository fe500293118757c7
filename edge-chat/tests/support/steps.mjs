// The steps that call Supabase: the call that can fail, and the response if it does.
import assert from "node:assert/strict";
import { ask, question, search, searchBody, send } from "./client.mjs";
import { DAY, SECOND, START, tokenOf } from "./clock.mjs";
import { signingKey } from "./tokens.mjs";
import { NOBODY, weakPassage } from "./upstream.mjs";

const finds = (rows) => ({ "rpc/match_chunks": () => ({ body: rows }) });
const citationOf = ({ events }) => events.find(({ type }) => type === "sources").citations[0];

/** The key of the tokens that need the JWKS. */
export const key = signingKey("ES256");
const FAR_FUTURE = (START + 1000 * DAY) / SECOND;

/**
 * @typedef {object} Step
 * @property {string} resource the call that fails
 * @property {string} [user] the user of the call, if it is not the asking user
 * @property {boolean} isIdempotent whether it may be sent twice
 * @property {object} [around] other behaviour of the stand-in
 * @property {string} [linkMode] the link mode of the database, if it is not `none`
 * @property {(worker, user, upstream) => Promise<Reply>} request sends the client's request
 * @property {boolean} [isAfterwards] whether the call is made after the response
 * @property {(reply: Reply) => void} [survives] checks the response if the step fails; without it, the response is an error
 * @property {number} [hanging] the status if the call hangs, if it is not 504
 * @property {number} [shrinks] the number of attempts with fewer and fewer rows while responses are too large
 * @property {boolean} [readsBody] false if only the status of the response counts
 * @property {(fault: import("./faults.mjs").Fault) => unknown} [skip] whether a fault does not apply
 *
 * @typedef {import("./client.mjs").Reply} Reply
 */

/** @type {Record<string, Step>} */
export const STEPS = {
  "keys (JWKS)": {
    resource: "jwks",
    user: NOBODY,
    isIdempotent: true,
    // If the keys hang or fail, the token cannot be verified.
    hanging: 503,
    request: (worker, user) =>
      send(worker.url, "/api/sessions", { token: key.token(user, { claims: { iat: 0, exp: FAR_FUTURE } }) }),
  },
  settings: { resource: "rpc/chat_config", user: NOBODY, isIdempotent: true, request: askQuestion() },
  readiness: {
    resource: "rpc/chat_config",
    user: NOBODY,
    isIdempotent: true,
    request: (worker) => send(worker.url, "/api/ready"),
  },
  search: { resource: "rpc/match_chunks", isIdempotent: true, request: askQuestion() },
  "search while typing": {
    resource: "rpc/match_chunks",
    isIdempotent: true,
    request: (worker, user) => search(worker.url, user, searchBody(), { token: tokenAt(user) }),
  },
  "session check": {
    resource: "chat_sessions",
    isIdempotent: true,
    request: (worker, user, upstream) =>
      askQuestion({ session_id: upstream.history.addSession(user).id })(worker, user),
  },
  "look for documents": {
    resource: "rpc/chat_has_documents",
    isIdempotent: true,
    around: finds([]),
    request: askQuestion(),
  },
  "document links": {
    resource: "rpc/chat_documents",
    isIdempotent: true,
    linkMode: "authenticated",
    request: askQuestion(),
    survives: (reply) => assert.equal(citationOf(reply).download_url, undefined),
  },
  signing: {
    resource: "storage/sign",
    isIdempotent: true,
    linkMode: "public",
    request: askQuestion(),
    survives: (reply) => assert.equal(citationOf(reply).download_url, undefined),
  },
  "history write": {
    resource: "rpc/chat_record_turn",
    isIdempotent: true,
    readsBody: false,
    request: askQuestion(),
    survives: ({ events }) => assert.deepEqual([events.at(-1).type, events.at(-1).persisted], ["answer_end", false]),
  },
  "refusal note": {
    resource: "rpc/chat_record_refusal",
    isIdempotent: true,
    isAfterwards: true,
    readsBody: false,
    around: finds([weakPassage()]),
    request: askQuestion(),
    survives: ({ events }) => assert.deepEqual([events[0].type, events[0].persisted], ["refusal", true]),
  },
  "list of sessions": {
    resource: "chat_sessions",
    isIdempotent: true,
    request: (worker, user) => send(worker.url, "/api/sessions", { token: tokenAt(user) }),
  },
  "list of messages": {
    resource: "chat_messages",
    isIdempotent: true,
    // 51, 26, 13, 7, 4, 2 and 1 rows.
    shrinks: 7,
    request: (worker, user, upstream) =>
      send(worker.url, `/api/sessions/${upstream.history.addSession(user).id}/messages`, { token: tokenAt(user) }),
  },
  "rename a session": {
    resource: "chat_sessions",
    isIdempotent: false,
    request: (worker, user, upstream) =>
      send(worker.url, `/api/sessions/${upstream.history.addSession(user).id}`, {
        method: "PATCH",
        token: tokenAt(user),
        body: { title: "New" },
      }),
  },
  "delete a session": {
    resource: "chat_sessions",
    isIdempotent: false,
    request: (worker, user, upstream) =>
      send(worker.url, `/api/sessions/${upstream.history.addSession(user).id}`, {
        method: "DELETE",
        token: tokenAt(user),
      }),
  },
  "delete all data": {
    resource: "rpc/chat_delete_user_data",
    isIdempotent: true,
    readsBody: false,
    request: (worker, user) => send(worker.url, "/api/me", { method: "DELETE", token: tokenAt(user) }),
  },
  "export of sessions": {
    resource: "chat_sessions",
    isIdempotent: true,
    // 100, 50, 25, 13, 7, 4, 2 and 1 rows.
    shrinks: 8,
    request: (worker, user) => send(worker.url, "/api/me/export", { token: tokenAt(user) }),
  },
  download: {
    resource: "storage/object",
    isIdempotent: true,
    linkMode: "authenticated",
    request: (worker, user, upstream) =>
      send(worker.url, `/api/documents/${upstream.library.addDocument().id}/download`, { token: tokenAt(user) }),
    // Files are streamed; faults in the body have their own tests.
    skip: ({ reply, inBody }) => inBody || reply.cut || reply.huge,
  },
};

/** A token that is valid on all days of the cases. */
export function tokenAt(user) {
  return tokenOf(user, { exp: FAR_FUTURE });
}

function askQuestion(fields) {
  return (worker, user) => ask(worker.url, user, question(fields), { token: tokenAt(user) });
}
