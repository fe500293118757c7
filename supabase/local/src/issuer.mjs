import { createHmac, timingSafeEqual } from "node:crypto";

/** Matches an access token in JSON (`"access_token":"…"`) and in the URL of a redirect (`#access_token=…`). */
const ACCESS_TOKEN = /(access_token(?:"\s*:\s*"|=))([\w-]+\.[\w-]+\.[\w-]+)/g;

/**
 * Adds the claim `iss` to the access tokens in a response of /auth/v1. Hosted Supabase sets it, Supabase Lite does not.
 * @param {Response} response
 * @param {string} issuer
 * @param {string} secret signs access tokens (HS256)
 * @returns {Promise<Response>}
 */
export async function withIssuer(response, issuer, secret) {
  const stamp = (text) => text.replace(ACCESS_TOKEN, (_, name, token) => name + reissue(token, issuer, secret));
  const headers = new Headers(response.headers);
  if (headers.has("location")) headers.set("location", stamp(headers.get("location")));
  const body = stamp(await response.text());
  // A status like 204 allows no body, not even an empty one.
  return new Response(body === "" ? null : body, { status: response.status, headers });
}

function reissue(token, issuer, secret) {
  const [header, claims, signature] = token.split(".");
  // Signs only tokens again that have a valid signature.
  if (!isEqual(signature, sign(`${header}.${claims}`, secret))) return token;
  const issued = { ...JSON.parse(Buffer.from(claims, "base64url").toString()), iss: issuer };
  const content = `${header}.${Buffer.from(JSON.stringify(issued)).toString("base64url")}`;
  return `${content}.${sign(content, secret)}`;
}

function sign(content, secret) {
  return createHmac("sha256", secret).update(content).digest("base64url");
}

function isEqual(first, second) {
  return first.length === second.length && timingSafeEqual(Buffer.from(first), Buffer.from(second));
}
