// Clients of the HTTP API, each with one key and at most one user.
import { createHmac } from "node:crypto";

const ORIGIN = "http://127.0.0.1";

export const WORKER_SECRET = "the secret of the Worker in these tests";

/** Headers that the Worker sends with its calls. */
export const WORKER = { "x-evidence-chat-worker": WORKER_SECRET };

/**
 * @param {Pick<import("../../../local/supabase/supabase.mjs").Supabase, "fetch">} supabase
 * @param {string} apiKey
 * @param {string} [token] access token of a user
 */
export function createClient(supabase, apiKey, token) {
  const request = async (method, url, body, extraHeaders = {}) => {
    /** @type {Record<string, string>} */
    const headers = { apikey: apiKey, "content-type": "application/json", ...extraHeaders };
    if (token) headers.authorization = `Bearer ${token}`;
    const response = await supabase.fetch(
      new Request(ORIGIN + url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : parseJson(text) };
  };
  const returnRows = { prefer: "return=representation" };
  return {
    token,
    request,
    select: (table, filter = "") => request("GET", `/rest/v1/${table}?${filter}`),
    insert: (table, rows) => request("POST", `/rest/v1/${table}`, rows, returnRows),
    update: (table, filter, values) => request("PATCH", `/rest/v1/${table}?${filter}`, values, returnRows),
    remove: (table, filter) => request("DELETE", `/rest/v1/${table}?${filter}`, undefined, returnRows),
    /** Calls a function with the Worker's secret. */
    rpc: (name, parameters) => request("POST", `/rest/v1/rpc/${name}`, parameters, WORKER),
    /** Calls a function without the Worker's secret, as a user can. */
    directRpc: (name, parameters, headers) => request("POST", `/rest/v1/rpc/${name}`, parameters, headers),
  };
}

/**
 * Signs up a user and returns their client.
 * @param {Pick<import("../../../local/supabase/supabase.mjs").Supabase, "fetch">} supabase
 * @param {import("../../../local/supabase/keys.mjs").Keys} keys
 * @param {string} email
 * @param {object} [claims] added to the user's token
 */
export async function signUp(supabase, keys, email, claims) {
  const anon = createClient(supabase, keys.publishable_key);
  const { body } = await anon.request("POST", "/auth/v1/signup", { email, password: "correct horse" });
  const token = claims ? withClaims(body.access_token, claims, keys.jwt_secret) : body.access_token;
  return { ...createClient(supabase, keys.publishable_key, token), id: body.user.id };
}

/** Hosted Supabase adds claims when an administrator sets app_metadata, or in a hook. */
function withClaims(token, claims, secret) {
  const [header, payload] = token.split(".");
  const all = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), ...claims };
  const content = `${header}.${Buffer.from(JSON.stringify(all)).toString("base64url")}`;
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
