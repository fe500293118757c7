// The account of the OpenAI adapter, with a stand-in for Supabase Auth.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { test } from "node:test";
import { createAdapter, signIn } from "@evidence-chat/openai-adapter";
import { startAuthServer } from "../../web/tests/auth-server.mjs";

/** An anonymous account whose tokens have to be renewed before each question. */
async function start(t, { expiresIn = 30 } = {}) {
  // With the claims that the library reads.
  const auth = await startAuthServer(
    (user, serial) => `e30.${Buffer.from(`{"sub":"${user}"}`).toString("base64url")}.${serial}`,
  );
  t.after(() => auth.close());
  auth.expiresIn = expiresIn;
  const account = await signIn({ url: auth.url, publishableKey: "sb_publishable_x" });
  const userOf = async () =>
    JSON.parse(Buffer.from((await account.accessToken()).split(".")[1], "base64url").toString()).sub;
  return { auth, account, userOf };
}

for (const status of [429, 500, 502, 503]) {
  test(`a renewal that fails with ${status} makes no new user, and the next question has the one from before`, async (t) => {
    const { auth, account, userOf } = await start(t);
    auth.answer = (reply) => reply(status, { code: status, msg: "Not now" });
    await assert.rejects(account.accessToken(), { name: "SignInError" });
    auth.answer = undefined;
    assert.equal(await userOf(), "user-1");
    assert.equal(auth.users, 1);
  });
}

test("a session that is over is replaced once for all questions that wait for it", async (t) => {
  const { auth, userOf } = await start(t);
  auth.refreshTokens.clear();
  auth.expiresIn = 3600;
  assert.deepEqual(await Promise.all([userOf(), userOf(), userOf()]), ["user-2", "user-2", "user-2"]);
});

test("a token that is valid for long is not renewed", async (t) => {
  const { auth, userOf } = await start(t, { expiresIn: 3600 });
  assert.deepEqual([await userOf(), await userOf(), auth.requests.length], ["user-1", "user-1", 1]);
});

test("an address that is no URL is not found", async (t) => {
  const embedder = { fingerprint: "x", embed: () => assert.fail() };
  const server = createServer(createAdapter({ worker: "https://chat.example.com", embedder }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const [response] = await once(request({ host: "127.0.0.1", port, path: "//", agent: false }).end(), "response");
  response.resume();
  assert.equal(response.statusCode, 404);
});
