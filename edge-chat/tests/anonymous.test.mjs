// Visitors without an account: the limit per IP address, and the configuration that lets the widget sign them in.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, exceed, question, send } from "./support/client.mjs";
import { accessToken } from "./support/tokens.mjs";
import { closePair, startPair, withWorker } from "./support/worker.mjs";

const LIMIT = 600;

let upstream, worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

let addresses = 0;
const newAddress = () => `198.51.100.${(addresses += 1)}`;
const newUser = () => crypto.randomUUID();
const from = (address) => ({ headers: { "cf-connecting-ip": address } });
/** Asks as a new user whose token has this claim. */
const askAs = (claim, address, user = newUser()) =>
  ask(worker.url, user, question(), {
    token: accessToken(user, { claims: claim === undefined ? {} : { is_anonymous: claim } }),
    ...from(address),
  });

describe("the limit of requests per IP address", () => {
  test("many anonymous users at one address share it, before the database or a Durable Object is asked", async () => {
    const { replies, key: address } = await exceed(LIMIT, newAddress, (address) => askAs(true, address));
    assert.ok(replies.slice(0, LIMIT).every(({ status }) => status === 200));
    for (const reply of replies.slice(LIMIT)) {
      assertError(reply, 429, "rate_limited");
      assert.equal(reply.headers.get("retry-after"), "60");
      assert.equal(reply.headers.get("ratelimit-limit"), null, "no Durable Object was asked");
    }
    const user = newUser();
    assertError(await askAs(true, address, user), 429, "rate_limited");
    assert.deepEqual(upstream.callsOf(user, "rpc/match_chunks"), []);
    assert.equal((await askAs(true, newAddress())).status, 200);
    const token = accessToken(user, { claims: { is_anonymous: true } });
    for (const path of ["/api/sessions", "/api/me/export"]) {
      assertError(await send(worker.url, path, { token, ...from(address) }), 429, "rate_limited");
    }
    for (const claim of [false, undefined]) assert.equal((await askAs(claim, address)).status, 200);
    // Any other type than false counts as anonymous.
    assertError(await askAs("false", address), 429, "rate_limited");
  });
});

describe("GET /api/config", () => {
  const anonymousOf = async ({ url }) => (await send(url, "/api/config")).json.anonymous;

  test("says nothing about anonymous sign-in unless CHAT_ANONYMOUS is true", async () => {
    assert.equal(await anonymousOf(worker), undefined);
    await withWorker(upstream, { CHAT_ANONYMOUS: "false" }, async (closed) => {
      assert.equal(await anonymousOf(closed), undefined);
    });
  });

  test("says where visitors are signed in if CHAT_ANONYMOUS is true", async () => {
    const expected = { supabase_url: upstream.url, publishable_key: "publishable-key" };
    await withWorker(upstream, { CHAT_ANONYMOUS: "true" }, async (open) => {
      assert.deepEqual(await anonymousOf(open), expected);
    });
    const variables = { CHAT_ANONYMOUS: "true", CHAT_TURNSTILE_SITE_KEY: "0x4AAAAAAADnPIDROrmt1Wwj" };
    await withWorker(upstream, variables, async (open) => {
      assert.deepEqual(await anonymousOf(open), { ...expected, turnstile_site_key: "0x4AAAAAAADnPIDROrmt1Wwj" });
      assert.deepEqual((await send(open.url, "/api/ready")).json, { status: "ready" });
    });
  });

  test("documents that visitors may see nothing of are a warning of /api/ready", async () => {
    const usual = upstream.defaults["rpc/chat_config"];
    const warningsOf = async (url) => (await send(url, "/api/ready")).json.warnings?.join();
    const hiding = (hides_documents) => (call) => {
      assert.equal(call.body.checks, true);
      return { body: { ...usual(call).body, hides_documents } };
    };
    try {
      upstream.defaults["rpc/chat_config"] = hiding(true);
      await withWorker(upstream, { CHAT_ANONYMOUS: "true" }, async ({ url }) => {
        assert.match((await warningsOf(url)) ?? "", /may see none of the documents/);
        upstream.defaults["rpc/chat_config"] = hiding(false);
        assert.equal(await warningsOf(url), undefined);
      });
      upstream.defaults["rpc/chat_config"] = hiding(true);
      assert.equal(await warningsOf(worker.url), undefined, "visitors without an account cannot ask");
    } finally {
      upstream.defaults["rpc/chat_config"] = usual;
    }
  });

  test("a site key without CHAT_ANONYMOUS is a warning of /api/ready", async () => {
    await withWorker(upstream, { CHAT_TURNSTILE_SITE_KEY: "0x4A" }, async (open) => {
      const { json } = await send(open.url, "/api/ready");
      assert.deepEqual(json, {
        status: "ready",
        warnings: ["CHAT_TURNSTILE_SITE_KEY has no effect, because CHAT_ANONYMOUS is not true"],
      });
    });
  });

  test("a secret key in place of the publishable one is a configuration error and is never sent", async () => {
    const variables = { CHAT_ANONYMOUS: "true", SUPABASE_PUBLISHABLE_KEY: "sb_secret_leaked" };
    await withWorker(upstream, variables, async (wrong) => {
      const reply = await send(wrong.url, "/api/config");
      assertError(reply, 500, "internal");
      assert.ok(!reply.text.includes("leaked"));
      const line = await wrong.lineOf(reply);
      assert.match(line.detail, /SUPABASE_PUBLISHABLE_KEY must be the publishable key/);
      assert.ok(!JSON.stringify(line).includes("leaked"));
    });
  });
});
