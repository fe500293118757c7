import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { AnonymousSession, AnonymousSignInError, AnonymousStore, getConfig } from "@evidence-chat/widget/client";
import { readToken } from "./options.mjs";
import { UserError } from "./user-error.mjs";

/** @import { Account, Options } from "./options.mjs" */
/** @import { ChatClientOptions } from "@evidence-chat/widget/client" */

/**
 * Returns the options of the client for requests of this account.
 * @param {Options} options
 * @returns {ChatClientOptions}
 */
export function clientOptions({ endpoint, assistant, account }) {
  return { endpoint, ...(assistant && { assistant }), ...tokenSource(account, endpoint) };
}

/** @returns {Pick<ChatClientOptions, "tokenProvider" | "onTokenRejected">} */
function tokenSource(/** @type {Account} */ account, /** @type {string} */ endpoint) {
  switch (account.kind) {
    case "token":
      return { tokenProvider: () => Promise.resolve(account.token) };
    case "file":
      return { tokenProvider: () => tokenIn(account.path) };
    case "anonymous":
      return visitor(endpoint);
  }
}

/** Reads the file each time: tokens expire after an hour, and another program renews it. */
async function tokenIn(/** @type {string} */ path) {
  const text = await readFile(path, "utf8").catch((error) => {
    throw new UserError(`EVIDENCE_CHAT_TOKEN_FILE cannot be read (${error.code}): ${path}`);
  });
  return readToken(text, `the file of EVIDENCE_CHAT_TOKEN_FILE, ${path},`);
}

/** A visitor without an account, whose session lasts as long as this process. The first question signs in. */
function visitor(/** @type {string} */ endpoint) {
  /** @type {Promise<AnonymousSession> | undefined} */
  let opening;
  const open = () =>
    (opening ??= openSession(endpoint).catch((error) => ((opening = undefined), Promise.reject(error))));
  return {
    tokenProvider: async () => {
      try {
        return await (await open()).signIn();
      } catch (error) {
        throw error instanceof AnonymousSignInError ? new UserError(SIGN_IN_ERRORS[error.code]) : error;
      }
    },
    onTokenRejected: () => void opening?.then((session) => session.reject()),
  };
}

async function openSession(/** @type {string} */ endpoint) {
  const { anonymous } = await getConfig({ endpoint, tokenProvider: () => Promise.resolve(null) });
  if (!anonymous) throw new UserError(SIGN_IN_ERRORS.disabled);
  if (anonymous.turnstile_site_key) throw new UserError(SIGN_IN_ERRORS.captcha);
  const { supabase_url: supabaseUrl, publishable_key: supabaseKey } = anonymous;
  const store = new AnonymousStore(supabaseUrl, endpoint, {
    storage: undefined,
    locks: undefined,
    pause: (milliseconds) => sleep(milliseconds),
  });
  return new AnonymousSession({ supabaseUrl, supabaseKey, endpoint }, store);
}

/** @type {Record<AnonymousSignInError["code"], string>} */
const SIGN_IN_ERRORS = {
  disabled: "This site does not answer visitors without an account: set EVIDENCE_CHAT_TOKEN_FILE instead.",
  captcha: "This site asks visitors for a CAPTCHA, which an agent cannot solve: set EVIDENCE_CHAT_TOKEN_FILE instead.",
  rate_limited:
    "Too many new visitors came from this IP address. Try again in an hour, or set EVIDENCE_CHAT_TOKEN_FILE.",
  rejected: "The site's Supabase project rejected the sign-in. Tell the owner of the site.",
  unreachable: "The site's Supabase project could not be reached. Try again later.",
};
