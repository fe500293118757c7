// The steps that need Supabase, each with the call that can fail and what a response without it looks like.
import assert from "node:assert/strict";
import { ask, question, send } from "./client.mjs";
import { DAY, SECOND, START, tokenOf } from "./clock.mjs";
import { signingKey } from "./tokens.mjs";
import { NOBODY, weakPassage } from "./upstream.mjs";

const finds = (rows) => ({ "rpc/match_chunks": () => ({ body: rows }) });
const citationOf = ({ events }) => events.find(({ type }) => type === "sources").citations[0];

/** The key of the tokens that need the JWKS. */
export const key = signingKey("ES256");
const FAR_FUTURE = (START + 1000 * DAY) / SECOND;

/**
 * resource    the call that fails
 * user        whose call it is, if not the asking user's
 * isSafe      it may be made twice
 * around      what the stand-in does besides
 * linkMode    of the database, if not `none`
 * request     what the client sends
 * isAfterwards  the client does not wait for it
 * survives    checks the response that comes without the step; without `survives`, the step is needed
 * hanging     the status when it hangs, if not 504
 * shrinks     so many tries there are, each with fewer rows, while answers are too large
 * readsBody   false where only the status of the answer counts
 * skip        tells faults that are none here
 */
export const STEPS = {
  "keys (JWKS)": {
    resource: "jwks",
    user: NOBODY,
    isSafe: true,
    // Whether the keys hang or fail is one to the client: the token cannot be checked.
    hanging: 503,
    request: (worker, user) =>
      send(worker.url, "/api/sessions", { token: key.token(user, { claims: { iat: 0, exp: FAR_FUTURE } }) }),
  },
  settings: { resource: "rpc/chat_config", user: NOBODY, isSafe: true, request: askQuestion() },
  readiness: {
    resource: "rpc/chat_config",
    user: NOBODY,
    isSafe: true,
    request: (worker) => send(worker.url, "/api/ready"),
  },
  search: { resource: "rpc/match_chunks", isSafe: true, request: askQuestion() },
  "session check": {
    resource: "chat_sessions",
    isSafe: true,
    request: (worker, user, upstream) =>
      askQuestion({ session_id: upstream.history.addSession(user).id })(worker, user),
  },
  "look for documents": {
    resource: "rpc/chat_has_documents",
    isSafe: true,
    around: finds([]),
    request: askQuestion(),
  },
  "document links": {
    resource: "rpc/chat_documents",
    isSafe: true,
    linkMode: "authenticated",
    request: askQuestion(),
    survives: (reply) => assert.equal(citationOf(reply).download_url, undefined),
  },
  signing: {
    resource: "storage/sign",
    isSafe: true,
    linkMode: "public",
    request: askQuestion(),
    survives: (reply) => assert.equal(citationOf(reply).download_url, undefined),
  },
  "history write": {
    resource: "rpc/chat_record_turn",
    isSafe: true,
    readsBody: false,
    request: askQuestion(),
    survives: ({ events }) => assert.deepEqual([events.at(-1).type, events.at(-1).persisted], ["answer_end", false]),
  },
  "refusal note": {
    resource: "rpc/chat_record_refusal",
    isSafe: true,
    isAfterwards: true,
    readsBody: false,
    around: finds([weakPassage()]),
    request: askQuestion(),
    survives: ({ events }) => assert.deepEqual([events[0].type, events[0].persisted], ["refusal", true]),
  },
  "list of sessions": {
    resource: "chat_sessions",
    isSafe: true,
    request: (worker, user) => send(worker.url, "/api/sessions", { token: tokenAt(user) }),
  },
  "list of messages": {
    resource: "chat_messages",
    isSafe: true,
    // 51, 26, 13, 7, 4, 2 and 1 rows.
    shrinks: 7,
    request: (worker, user, upstream) =>
      send(worker.url, `/api/sessions/${upstream.history.addSession(user).id}/messages`, { token: tokenAt(user) }),
  },
  "rename a session": {
    resource: "chat_sessions",
    isSafe: false,
    request: (worker, user, upstream) =>
      send(worker.url, `/api/sessions/${upstream.history.addSession(user).id}`, {
        method: "PATCH",
        token: tokenAt(user),
        body: { title: "New" },
      }),
  },
  "delete a session": {
    resource: "chat_sessions",
    isSafe: false,
    request: (worker, user, upstream) =>
      send(worker.url, `/api/sessions/${upstream.history.addSession(user).id}`, {
        method: "DELETE",
        token: tokenAt(user),
      }),
  },
  "delete all data": {
    resource: "rpc/chat_delete_user_data",
    isSafe: true,
    readsBody: false,
    request: (worker, user) => send(worker.url, "/api/me", { method: "DELETE", token: tokenAt(user) }),
  },
  "export of sessions": {
    resource: "chat_sessions",
    isSafe: true,
    // 100, 50, 25, 13, 7, 4, 2 and 1 rows.
    shrinks: 8,
    request: (worker, user) => send(worker.url, "/api/me/export", { token: tokenAt(user) }),
  },
  download: {
    resource: "storage/object",
    isSafe: true,
    linkMode: "authenticated",
    request: (worker, user, upstream) =>
      send(worker.url, `/api/documents/${upstream.library.addDocument().id}/download`, { token: tokenAt(user) }),
    // The file is passed on as it comes; what breaks in its middle is tested by itself.
    skip: ({ reply, inBody }) => inBody || reply.cut || reply.huge,
  },
};

/** A token that is valid on all the days the cases run. */
export function tokenAt(user) {
  return tokenOf(user, { exp: FAR_FUTURE });
}

function askQuestion(fields) {
  return (worker, user) => ask(worker.url, user, question(fields), { token: tokenAt(user) });
}
