import { listen } from "../../tests/lib/listen.mjs";

const CORS = { "access-control-allow-origin": "*", "access-control-allow-headers": "apikey, content-type" };

/**
 * A stand-in for Supabase Auth with anonymous sign-ins and rotating refresh tokens. `auth.answer`, if set, answers the next requests
 * instead. `accessToken` makes the token of a user; `serial` differs for each.
 * @param {(user: string, serial: number) => string} [accessToken]
 */
export async function startAuthServer(accessToken = (user, serial) => `access-${user}-${serial}`) {
  /** @type {any} */
  const auth = { requests: [], users: 0, refreshTokens: new Map(), expiresIn: 3600, answer: undefined };
  let serial = 0;
  const session = (user) => {
    const refresh_token = `refresh-${++serial}`;
    auth.refreshTokens.set(refresh_token, user);
    return { access_token: accessToken(user, serial), refresh_token, expires_in: auth.expiresIn, user: { id: user } };
  };
  const { origin, close } = await listen(async (request, response) => {
    if (request.method === "OPTIONS") return response.writeHead(204, CORS).end();
    let body = "";
    for await (const piece of request) body += piece;
    const recorded = { path: request.url, headers: request.headers, body: JSON.parse(body) };
    auth.requests.push(recorded);
    const reply = (status, json, headers = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...CORS, ...headers }).end(JSON.stringify(json));
    if (auth.answer) return auth.answer(reply, recorded);
    if (recorded.path === "/auth/v1/signup") return reply(200, session(`user-${++auth.users}`));
    const user = auth.refreshTokens.get(recorded.body.refresh_token);
    auth.refreshTokens.delete(recorded.body.refresh_token);
    if (!user) return reply(400, { code: 400, error_code: "refresh_token_not_found", msg: "Invalid Refresh Token" });
    return reply(200, session(user));
  });
  return Object.assign(auth, { url: origin, close });
}
