import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { withIssuer } from "../../local/src/issuer.mjs";

const ISSUER = "http://127.0.0.1/auth/v1";
const SECRET = "a secret for these tests alone";

/** The claim `iss` of access tokens, which hosted Supabase sets. */
export function issuer({ fetch, keys, anon, alice }) {
  const credentials = { email: "alice@example.com", password: "correct horse" };
  const signIn = async () => (await anon.request("POST", "/auth/v1/token?grant_type=password", credentials)).body;

  test("tokens from sign-up, sign-in and refresh name the issuer", async () => {
    const session = await signIn();
    const refresh = { refresh_token: session.refresh_token };
    const refreshed = await anon.request("POST", "/auth/v1/token?grant_type=refresh_token", refresh);
    for (const token of [alice.token, session.access_token, refreshed.body.access_token]) {
      const { iss, sub, role, aud } = claims(token);
      assert.deepEqual(
        { iss, sub, role, aud },
        { iss: ISSUER, sub: alice.id, role: "authenticated", aud: "authenticated" },
      );
      assert.equal(token, sign(token, keys.jwt_secret));
    }
  });

  test("tokens with the issuer are accepted by auth and the REST API, and can be revoked", async () => {
    const { access_token } = await signIn();
    const headers = { authorization: `Bearer ${access_token}` };
    assert.equal((await anon.request("GET", "/auth/v1/user", undefined, headers)).body.id, alice.id);
    assert.equal((await anon.request("GET", "/rest/v1/chat_sessions", undefined, headers)).status, 200);
    assert.equal((await anon.request("POST", "/auth/v1/logout?scope=local", undefined, headers)).status, 204);
  });

  test("the address of the server is its issuer, whatever host a request names", async () => {
    const response = await fetch(
      new Request("http://evil.example/auth/v1/token?grant_type=password", {
        method: "POST",
        headers: { apikey: keys.publishable_key, "content-type": "application/json" },
        body: JSON.stringify(credentials),
      }),
    );
    assert.equal(claims((await response.json()).access_token).iss, ISSUER);
  });

  test("the public key set is empty and needs no key", async () => {
    const response = await fetch(new Request("http://127.0.0.1/auth/v1/.well-known/jwks.json"));
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { keys: [] });
  });

  test("a token in the URL of a redirect names the issuer", async () => {
    const token = signed({ sub: "x" }, SECRET);
    const redirect = new Response(null, {
      status: 303,
      headers: { location: `http://127.0.0.1:8000/#access_token=${token}&refresh_token=r` },
    });
    const { location } = Object.fromEntries((await withIssuer(redirect, ISSUER, SECRET)).headers);
    const [, reissued, rest] = /#access_token=([^&]*)(.*)$/.exec(location) ?? [];
    assert.deepEqual(claims(reissued), { iss: ISSUER, sub: "x" });
    assert.equal(rest, "&refresh_token=r");
  });

  test("a token with a foreign signature is not signed again", async () => {
    const forged = signed({ sub: "x" }, "another secret");
    const [header, , signature] = signed({ sub: "x" }, SECRET).split(".");
    const altered = `${header}.${Buffer.from('{"sub":"y"}').toString("base64url")}.${signature}`;
    for (const access_token of [forged, altered, "a.b.c", "none"]) {
      const answer = await withIssuer(Response.json({ access_token }), ISSUER, SECRET);
      assert.deepEqual(await answer.json(), { access_token });
    }
  });
}

function claims(token) {
  return JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
}

function signed(payload, secret) {
  const parts = [{ alg: "HS256", typ: "JWT" }, payload];
  return sign(parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join("."), secret);
}

/** Header and claims of a token with a new signature. */
function sign(token, secret) {
  const content = token.split(".").slice(0, 2).join(".");
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}
