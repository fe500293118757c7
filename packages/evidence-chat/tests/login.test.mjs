import assert from "node:assert/strict";
import { test } from "node:test";
import { listen } from "../../../tests/lib/listen.mjs";
import { createLogin, LOGIN } from "../src/demo/login.mjs";

const KEYS = { publishable_key: "publishable", secret_key: "secret" };

/** A Supabase that answers each path with a status and a body, and records what it was asked. */
async function startSupabase(t, answers) {
  const requests = [];
  const { origin: url, close } = await listen(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    requests.push({ method: request.method, path: request.url, key: request.headers.apikey, body: JSON.parse(body) });
    const [status, answer] = answers[request.url] ?? [404, {}];
    response.writeHead(status, { "content-type": "application/json" }).end(answer && JSON.stringify(answer));
  });
  t.after(close);
  return { url, requests };
}

const SETTINGS = "/rest/v1/chat_settings?id=eq.true";
const PASSWORD_GRANT = "/auth/v1/token?grant_type=password";
const USER = { user: { id: "u1" } };

test("signs the test login up and makes it an administrator, with the secret key", async (t) => {
  const supabase = await startSupabase(t, { "/auth/v1/signup": [200, USER], [SETTINGS]: [204] });
  await createLogin(supabase.url, KEYS);
  assert.deepEqual(supabase.requests, [
    { method: "POST", path: "/auth/v1/signup", key: "publishable", body: LOGIN },
    {
      method: "PATCH",
      path: SETTINGS,
      key: "secret",
      body: { administrators: ["evidence_chat:administrator", "sub:u1"] },
    },
  ]);
});

test("signs in if an earlier run signed up", async (t) => {
  const exists = [422, { error_code: "user_already_exists" }];
  const supabase = await startSupabase(t, {
    "/auth/v1/signup": exists,
    [PASSWORD_GRANT]: [200, USER],
    [SETTINGS]: [204],
  });
  await createLogin(supabase.url, KEYS);
  assert.deepEqual(supabase.requests.at(-1).body.administrators.at(-1), "sub:u1");
});

test("says what to do if the login cannot be created or made an administrator", async (t) => {
  const broken = await startSupabase(t, { "/auth/v1/signup": [500, { message: "no" }] });
  await assert.rejects(createLogin(broken.url, KEYS), /cannot create the test login \(500 .*delete the data folder/);
  const readOnly = await startSupabase(t, { "/auth/v1/signup": [200, USER], [SETTINGS]: [401] });
  await assert.rejects(createLogin(readOnly.url, KEYS), /cannot change chat_settings\?id=eq.true \(401\)/);
});
