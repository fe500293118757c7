import { createHmac, timingSafeEqual } from "node:crypto";

/** Matches an access token in JSON (`"access_token":"…"`) and in the URL of a redirect (`#access_token=…`). */
const ACCESS_TOKEN = /(access_token(?:"\s*:\s*"|=))([\w-]+\.[\w-]+\.[\w-]+)/g;

/**
 * Adds claims to the access tokens in a response of /auth/v1 that hosted Supabase sets and Supabase Lite does not.
 * @param {Response} response
 * @param {string} secret signs access tokens (HS256)
 * @param {(claims: any) => Promise<object>} added the claims to add, by those of the token
 * @returns {Promise<Response>}
 */
export async function withClaims(response, secret, added) {
  const stamp = async (text) => {
    const tokens = new Map();
    for (const [, , token] of text.matchAll(ACCESS_TOKEN)) tokens.set(token, await reissue(token, secret, added));
    return text.replace(ACCESS_TOKEN, (_, name, token) => name + tokens.get(token));
  };
  const headers = new Headers(response.headers);
  if (headers.has("location")) headers.set("location", await stamp(headers.get("location")));
  const body = await stamp(await response.text());
  // A status like 204 allows no body, not even an empty one.
  return new Response(body === "" ? null : body, { status: response.status, headers });
}

async function reissue(token, secret, added) {
  const [header, payload, signature] = token.split(".");
  // Signs only tokens again that have a valid signature.
  if (!isEqual(signature, sign(`${header}.${payload}`, secret))) return token;
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const issued = { ...claims, ...(await added(claims)) };
  const content = `${header}.${Buffer.from(JSON.stringify(issued)).toString("base64url")}`;
  return `${content}.${sign(content, secret)}`;
}

function sign(content, secret) {
  return createHmac("sha256", secret).update(content).digest("base64url");
}

function isEqual(first, second) {
  return first.length === second.length && timingSafeEqual(Buffer.from(first), Buffer.from(second));
}
