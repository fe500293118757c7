import { UserError } from "./user-error.mjs";

/**
 * The account that asks: the user of a token, the user of the token in a file, or a visitor without an account.
 * @typedef {{ kind: "token", token: string } | { kind: "file", path: string } | { kind: "anonymous" }} Account
 */

/**
 * @typedef {object} Options
 * @property {string} endpoint URL of POST /api/chat
 * @property {string} [assistant] default: that of the site
 * @property {string} [modelUrl] the embedder's model; default: the file in its package
 * @property {Account} account
 */

/**
 * Reads the settings from environment variables. Throws a {@link UserError} that names the variable and never repeats a token.
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Options}
 */
export function readOptions(env) {
  const { EVIDENCE_CHAT_ASSISTANT: assistant, EMBEDDER_MODEL_URL: modelUrl } = env;
  return {
    endpoint: endpointOf(env.EVIDENCE_CHAT_URL),
    ...(assistant && { assistant }),
    ...(modelUrl && { modelUrl }),
    account: accountOf(env),
  };
}

/** @param {string | undefined} value */
function endpointOf(value) {
  const name = "EVIDENCE_CHAT_URL";
  if (!value)
    throw new UserError(`${name} is not set: set it to the address of your Worker, such as https://chat.example.com`);
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UserError(`${name} is not an address: it must be like https://chat.example.com`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new UserError(`${name} must be an address without user, password, "?" and "#"`);
  }
  if (url.protocol === "http:" && !isThisComputer(url.hostname)) {
    throw new UserError(`${name} must begin with https://, because the access token is sent there`);
  }
  return `${url.href.replace(/\/+$/, "")}/api/chat`;
}

/** @param {string} host */
function isThisComputer(host) {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/**
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Account}
 */
function accountOf({ EVIDENCE_CHAT_TOKEN, EVIDENCE_CHAT_TOKEN_FILE, EVIDENCE_CHAT_ANONYMOUS }) {
  const given = { EVIDENCE_CHAT_TOKEN, EVIDENCE_CHAT_TOKEN_FILE, EVIDENCE_CHAT_ANONYMOUS };
  const names = Object.keys(given);
  const set = names.filter((name) => given[name]);
  if (set.length > 1) throw new UserError(`set only one of ${set.join(" and ")}`);
  if (EVIDENCE_CHAT_TOKEN_FILE) return { kind: "file", path: EVIDENCE_CHAT_TOKEN_FILE };
  if (EVIDENCE_CHAT_TOKEN) return { kind: "token", token: readToken(EVIDENCE_CHAT_TOKEN, "EVIDENCE_CHAT_TOKEN") };
  if (EVIDENCE_CHAT_ANONYMOUS === "true") return { kind: "anonymous" };
  if (EVIDENCE_CHAT_ANONYMOUS) throw new UserError('EVIDENCE_CHAT_ANONYMOUS must be "true" or not set');
  throw new UserError(
    "no account: set EVIDENCE_CHAT_TOKEN_FILE to a file with an access token, or EVIDENCE_CHAT_TOKEN to the token, " +
      "or EVIDENCE_CHAT_ANONYMOUS=true if the site answers visitors without an account",
  );
}

/**
 * The token in a text. Anything else must not get into a header: the error of `fetch` would repeat it.
 * @param {string} text
 * @param {string} place for the message
 */
export function readToken(text, place) {
  const token = text.trim();
  if (!token) throw new UserError(`${place} is empty: it must contain an access token`);
  if (!/^[\w.~+/-]+=*$/.test(token)) {
    throw new UserError(`${place} contains something else than one access token`);
  }
  return token;
}
