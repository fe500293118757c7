// Authentication: tokens signed with the shared secret or with published keys, and how those keys are fetched.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertError, send } from "./support/client.mjs";
import { DAY, HOUR, MINUTE, SECOND, START, startClockWorker, tokenOf } from "./support/clock.mjs";
import { ISSUER, claimsOf, hmac, signingKey, tokenOf as makeToken } from "./support/tokens.mjs";
import { NOBODY, startUpstream } from "./support/upstream.mjs";
import { closePair } from "./support/worker.mjs";

const newUser = () => crypto.randomUUID();
/** The cheapest request that needs a valid token. */
const knock = (worker, token) => send(worker.url, "/api/sessions", { token });
const fetches = (upstream) => upstream.callsOf(NOBODY, "jwks").length;
const claimsAt = (overrides = {}) => ({ iat: START / SECOND - 60, exp: (START + 7 * DAY) / SECOND, ...overrides });

/** Each test of the keys has its own Worker with an empty key cache. */
async function withKeys(keys, use, variables = {}) {
  const upstream = await startUpstream();
  upstream.keys.push(...keys.map(({ jwk }) => jwk));
  const worker = await startClockWorker(upstream, variables);
  const token = (key, overrides) => key.token(newUser(), { claims: claimsAt(overrides) });
  try {
    await use({ upstream, worker, token });
  } finally {
    await worker.close();
    upstream.close();
  }
}

describe("token", () => {
  let upstream;
  let worker;
  before(async () => {
    upstream = await startUpstream();
    worker = await startClockWorker(upstream);
  });
  after(() => closePair({ upstream, worker }));

  const now = START / SECOND;
  const accepted = {
    "expired within the leeway": { exp: now - 29 },
    "valid soon, within the leeway": { nbf: now + 29 },
    "issued soon, within the leeway": { iat: now + 29 },
    "valid since long ago": { nbf: 0, iat: 0 },
    "expiring in the far future": { exp: 2 ** 40 },
    "with a fraction of a second": { exp: now + 600.5 },
    "for several audiences": { aud: ["other", "authenticated"] },
    "with unknown claims": { session_id: "x", amr: [{ method: "password" }], app_metadata: {} },
    "with an assurance level": { aal: "aal2" },
  };
  for (const [name, claims] of Object.entries(accepted)) {
    test(`a token ${name} is accepted`, async () => {
      assert.equal((await knock(worker, tokenOf(newUser(), claims))).status, 200);
    });
  }

  test("a token with an upper-case subject is the same user", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    const { json } = await knock(worker, tokenOf(user.toUpperCase()));
    assert.deepEqual(
      json.sessions.map(({ id }) => id),
      [session.id],
    );
  });

  const refused = {
    "expired a second beyond the leeway": { exp: now - 31 },
    "valid a second beyond the leeway": { nbf: now + 31 },
    "issued a second beyond the leeway": { iat: now + 31 },
  };
  for (const [name, claims] of Object.entries(refused)) {
    test(`a token ${name} is rejected with 401`, async () => {
      assertError(await knock(worker, tokenOf(newUser(), claims)), 401, "unauthorized");
    });
  }

  test("401 says to sign in, and that an expired token has expired", async () => {
    const expired = await knock(worker, tokenOf(newUser(), { exp: now - 600 }));
    const missing = await knock(worker, "");
    assert.match(expired.json.message, /expired/);
    for (const reply of [expired, missing]) assert.equal(reply.headers.get("www-authenticate"), "Bearer");
  });

  test("a token of the shared secret causes no key fetch", async () => {
    assert.equal((await knock(worker, tokenOf(newUser()))).status, 200);
    assert.equal(fetches(upstream), 0);
  });
});

describe("published key", () => {
  for (const alg of ["ES256", "RS256"]) {
    test(`a published key verifies ${alg} tokens and is fetched once`, async () => {
      const key = signingKey(alg);
      await withKeys([key], async ({ upstream, worker, token }) => {
        const replies = await Promise.all(Array.from({ length: 10 }, () => knock(worker, token(key))));
        for (const reply of replies) assert.equal(reply.status, 200);
        assert.equal(fetches(upstream), 1);
        const [call] = upstream.callsOf(NOBODY, "jwks");
        assert.equal(call.headers.authorization, undefined);
      });
    });
  }

  test("claims are checked for published keys too", async () => {
    const key = signingKey("ES256");
    await withKeys([key], async ({ worker, token }) => {
      for (const wrong of [
        { exp: START / SECOND - 31 },
        { iss: "https://evil.test/auth/v1" },
        { aud: "anon" },
        { role: "service_role" },
        { sub: "admin" },
      ]) {
        assertError(await knock(worker, token(key, wrong)), 401, "unauthorized");
      }
      assert.equal((await knock(worker, token(key))).status, 200);
    });
  });

  test("a key of another project is rejected", async () => {
    const [own, foreign] = [signingKey("ES256"), signingKey("ES256")];
    await withKeys([own], async ({ worker, token }) => {
      assertError(await knock(worker, token(foreign)), 401, "unauthorized");
      const disguised = foreign.token(newUser(), { claims: claimsAt(), header: { kid: own.kid } });
      assertError(await knock(worker, disguised), 401, "unauthorized");
    });
  });

  test("without a shared secret, published keys work and HS256 is rejected", async () => {
    const key = signingKey("ES256");
    await withKeys(
      [key],
      async ({ worker, token }) => {
        assert.equal((await knock(worker, token(key))).status, 200);
        assertError(await knock(worker, tokenOf(newUser())), 401, "unauthorized");
        const empty = makeToken({ alg: "HS256" }, claimsOf(newUser(), claimsAt()), hmac("sha256", ""));
        assertError(await knock(worker, empty), 401, "unauthorized");
      },
      { SUPABASE_JWT_SECRET: "" },
    );
  });

  test("a new key is fetched when a token names it", async () => {
    const [old, rotated] = [signingKey("ES256"), signingKey("ES256")];
    await withKeys([old], async ({ upstream, worker, token }) => {
      assert.equal((await knock(worker, token(old))).status, 200);
      upstream.keys.push(rotated.jwk);
      assert.equal((await knock(worker, token(rotated))).status, 200);
      assert.equal(fetches(upstream), 2);
    });
  });

  const UNREACHABLE = {
    hangs: () => ({ hang: true }),
    "redirects elsewhere": () => ({ status: 302, headers: { location: "https://evil.test/jwks.json" } }),
    "never ends": () => ({ huge: 100 * 2 ** 20 }),
  };
  for (const [name, fault] of Object.entries(UNREACHABLE)) {
    test(`a key is used for an hour although its URL ${name}`, async () => {
      const key = signingKey("ES256");
      await withKeys([key], async ({ upstream, worker, token }) => {
        assert.equal((await knock(worker, token(key))).status, 200);
        upstream.behave(NOBODY, { jwks: fault });
        await worker.setTime(START + 11 * MINUTE);
        assert.equal((await knock(worker, token(key))).status, 200, "just after it failed");
        await worker.setTime(START + HOUR - SECOND);
        assert.equal((await knock(worker, token(key))).status, 200, "much later");
        await worker.setTime(START + HOUR);
        const lost = await knock(worker, token(key));
        assert.ok([503, 504].includes(lost.status), `status ${lost.status}`);
        upstream.behave(NOBODY, {});
        await worker.setTime(START + 2 * HOUR);
        assert.equal((await knock(worker, token(key))).status, 200, "when it is back");
      });
    });
  }

  test("if no key was ever fetched, the error is 503 and not 401", async () => {
    const key = signingKey("ES256");
    await withKeys([key], async ({ upstream, worker, token }) => {
      upstream.behave(NOBODY, { jwks: () => ({ status: 503 }) });
      assertError(await knock(worker, token(key)), 503, "upstream_unavailable");
      assert.equal((await knock(worker, tokenOf(newUser()))).status, 200, "the secret works all the same");
      upstream.behave(NOBODY, {});
      await worker.setTime(START + 6 * SECOND);
      assert.equal((await knock(worker, token(key))).status, 200);
    });
  });
});

describe("identity settings", () => {
  test("SUPABASE_JWKS_URL sets the URL of the keys", async () => {
    const key = signingKey("RS256");
    const keyServer = await startUpstream();
    keyServer.keys.push(key.jwk);
    const address = { SUPABASE_JWKS_URL: `${keyServer.url}/auth/v1/.well-known/jwks.json` };
    await withKeys(
      [],
      async ({ worker, token, upstream }) => {
        assert.equal((await knock(worker, token(key))).status, 200);
        assert.deepEqual([fetches(upstream), fetches(keyServer)], [0, 1]);
      },
      address,
    ).finally(() => keyServer.close());
  });

  test("the default issuer is the Supabase project", async () => {
    const { url, ...upstream } = await startUpstream();
    const worker = await startClockWorker({ url }, { SUPABASE_JWT_ISSUER: "" });
    try {
      assert.equal((await knock(worker, tokenOf(newUser(), { iss: `${url}/auth/v1` }))).status, 200);
      assertError(await knock(worker, tokenOf(newUser(), { iss: ISSUER })), 401, "unauthorized");
    } finally {
      await worker.close();
      upstream.close();
    }
  });
});
