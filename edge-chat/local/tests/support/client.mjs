import { createHmac } from "node:crypto";

export const JWT_SECRET = "a-secret-for-tests-that-is-long-enough-for-hs256";

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** An access token as Supabase makes it; claims and header can be bent. */
export function accessToken(userId, { claims = {}, header = {}, secret = JWT_SECRET } = {}) {
  const now = Math.floor(Date.now() / 1000);
  const all = { sub: userId, aud: "authenticated", role: "authenticated", iat: now, exp: now + 600, ...claims };
  const signed = `${base64url({ alg: "HS256", typ: "JWT", ...header })}.${base64url(all)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** A valid question; fields can be changed. */
export function question(overrides = {}) {
  const embedding = Array.from({ length: 384 }, (_, index) => (index === 0 ? 1 : 0));
  return { embedding, message: "When are refunds paid?", message_id: crypto.randomUUID(), ...overrides };
}

/** Asks as a user, in one piece. */
export async function ask(url, userId, body = question(), { token = accessToken(userId), headers = {}, signal } = {}) {
  const response = await fetch(`${url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }), ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal,
  });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  return {
    status: response.status,
    headers: response.headers,
    events: isStream ? parseEvents(text) : [],
    json: isStream ? undefined : JSON.parse(text),
  };
}

/** The events of a stream, each checked to be one name and one line of data. */
export function parseEvents(text) {
  return text
    .split("\n\n")
    .filter((block) => block && !block.startsWith(":"))
    .map((block) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block);
      const event = JSON.parse(data);
      if (event.type !== name) throw new Error(`event ${name} calls itself ${event.type}`);
      return event;
    });
}
