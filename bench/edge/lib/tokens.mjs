import { createHmac } from "node:crypto";

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * An access token as Supabase makes it.
 * @param {string} userId
 * @param {{ issuer: string, secret: string }} signer
 */
export function accessToken(userId, { issuer, secret }) {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    sub: userId,
    aud: "authenticated",
    role: "authenticated",
    iat: now,
    exp: now + 3600,
  };
  const content = `${base64url({ alg: "HS256", typ: "JWT" })}.${base64url(claims)}`;
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}
