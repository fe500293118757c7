import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, describe, test } from "node:test";
import { withClaims } from "../../../local/supabase/token-claims.mjs";
import { newTurn } from "../support/turn.mjs";

const ISSUER = "http://127.0.0.1/auth/v1";
const SECRET = "a secret for these tests alone";

/** The claims of access tokens that hosted Supabase sets, and anonymous users. */
export function tokenClaims({ fetch, database, keys, anon, alice, service }) {
  const credentials = { email: "alice@example.com", password: "correct horse" };
  const signIn = async () => (await anon.request("POST", "/auth/v1/token?grant_type=password", credentials)).body;

  test("tokens from sign-up, sign-in and refresh name the issuer", async () => {
    const session = await signIn();
    const refresh = { refresh_token: session.refresh_token };
    const refreshed = await anon.request("POST", "/auth/v1/token?grant_type=refresh_token", refresh);
    for (const token of [alice.token, session.access_token, refreshed.body.access_token]) {
      const { iss, sub, role, aud, is_anonymous } = claims(token);
      assert.deepEqual(
        { iss, sub, role, aud, is_anonymous },
        { iss: ISSUER, sub: alice.id, role: "authenticated", aud: "authenticated", is_anonymous: false },
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
    const { location } = Object.fromEntries((await withClaims(redirect, SECRET, addIssuer)).headers);
    const [, reissued, rest] = /#access_token=([^&]*)(.*)$/.exec(location) ?? [];
    assert.deepEqual(claims(reissued), { iss: ISSUER, sub: "x" });
    assert.equal(rest, "&refresh_token=r");
  });

  test("a token with a foreign signature is not signed again", async () => {
    const forged = signed({ sub: "x" }, "another secret");
    const [header, , signature] = signed({ sub: "x" }, SECRET).split(".");
    const altered = `${header}.${Buffer.from('{"sub":"y"}').toString("base64url")}.${signature}`;
    for (const access_token of [forged, altered, "a.b.c", "none"]) {
      const answer = await withClaims(Response.json({ access_token }), SECRET, addIssuer);
      assert.deepEqual(await answer.json(), { access_token });
    }
  });

  describe("anonymous users", () => {
    const signIn = async (body = {}) => (await anon.request("POST", "/auth/v1/signup", body)).body;
    after(() => database.exec("delete from auth.users where is_anonymous"));

    test("a sign-up without e-mail and phone makes an anonymous user, whose refreshed tokens say so as well", async () => {
      const session = await signIn({ data: { created_by: "evidence-chat" } });
      assert.equal(session.user.is_anonymous, true);
      assert.equal(session.user.email, "");
      const refreshed = await anon.request("POST", "/auth/v1/token?grant_type=refresh_token", {
        refresh_token: session.refresh_token,
      });
      assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
      for (const token of [session.access_token, refreshed.body.access_token]) {
        const { iss, sub, role, is_anonymous, email, app_metadata, user_metadata } = claims(token);
        assert.deepEqual(
          { iss, sub, role, is_anonymous, email, app_metadata, user_metadata },
          {
            iss: ISSUER,
            sub: session.user.id,
            role: "authenticated",
            is_anonymous: true,
            email: "",
            app_metadata: {},
            user_metadata: { created_by: "evidence-chat" },
          },
        );
      }
    });

    test("two anonymous users are different users, each with a history of their own", async () => {
      const users = [await signIn(), await signIn()];
      assert.notEqual(users[0].user.id, users[1].user.id);
      const [first, second] = users.map(({ access_token }) => ({ authorization: `Bearer ${access_token}` }));
      const turn = JSON.parse(newTurn());
      const path = "/rest/v1/rpc/chat_record_turn";
      assert.ok((await anon.request("POST", path, { turn }, first)).status < 300);
      const sessions = async (headers) =>
        (await anon.request("GET", "/rest/v1/chat_sessions", undefined, headers)).body;
      assert.equal((await sessions(first)).length, 1);
      assert.deepEqual(await sessions(second), []);
    });

    test("kb retain deletes them with their sessions after the period", async () => {
      const { user, refresh_token } = await signIn({ data: { created_by: "evidence-chat" } });
      await database.query(
        "update auth.users set created_at = created_at - interval '31 days', last_sign_in_at = null where id = $1",
        [user.id],
      );
      assert.equal((await service.rpc("chat_retain", {})).body.anonymous_users, 1);
      const refreshed = await anon.request("POST", "/auth/v1/token?grant_type=refresh_token", { refresh_token });
      assert.equal(refreshed.status, 400);
      await database.exec("delete from internal.chat_retention");
    });

    test("the settings of Supabase Auth say that anonymous sign-ins are enabled", async () => {
      const { body } = await anon.request("GET", "/auth/v1/settings");
      assert.equal(body.external.anonymous_users, true);
    });

    test("a sign-up that is not an object is rejected", async () => {
      for (const body of ["x", null, []])
        assert.ok((await anon.request("POST", "/auth/v1/signup", body)).status >= 400);
    });
  });
}

const addIssuer = async () => ({ iss: ISSUER });

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
