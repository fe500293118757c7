// The code in docs/sign-in.md for users of another sign-in, as it is written there, with stand-ins for Supabase Auth, Clerk and Auth0.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from "jose";
import { listen } from "../lib/listen.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let folder, server, page, publicKey, auth0;
const users = new Set();

before(async () => {
  auth0 = await generateKeyPair("RS256");
  const { kty, n, e } = await exportJWK(auth0.publicKey);
  server = await listen(async (request, response) => {
    const reply = (status, json) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
    if (request.url === "/.well-known/jwks.json")
      return reply(200, { keys: [{ kty, n, e, alg: "RS256", kid: "auth0" }] });
    assert.equal(`${request.method} ${request.url}`, "POST /auth/v1/admin/users");
    assert.equal(request.headers.apikey, "sb_secret_x");
    let body = "";
    for await (const piece of request) body += piece;
    const { id, email } = JSON.parse(body);
    if (users.has(id))
      return reply(422, { code: 422, error_code: "email_exists", msg: "A user with this email exists" });
    users.add(id);
    reply(200, { id, email });
  });

  folder = await mkdtemp(join(tmpdir(), "evidence-chat-sign-in-"));
  const pair = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(pair.privateKey);
  const { d: _, ...open } = jwk;
  publicKey = await importJWK(open, "ES256");
  // As `supabase gen signing-key` prints it.
  const printed = { ...jwk, kid: "key-1", use: "sig", key_ops: ["sign", "verify"], alg: "ES256", ext: true };
  await writeFile(join(folder, "key.json"), JSON.stringify(printed));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const text = await readFile(join(ROOT, "docs/sign-in.md"), "utf8");
  const blocks = Array.from(text.matchAll(/^```js\n([^]*?)^```$/gm), ([, code]) => code);
  const used = blocks.filter((code) => /chatToken\(/.test(code));
  assert.equal(used.length, 3, "the function and its two routes");
  const code = used
    .join("\n")
    .replaceAll("https://YOUR-PROJECT.supabase.co", server.origin)
    .replaceAll("https://YOUR-TENANT.auth0.com", server.origin)
    .replace('"key.json"', JSON.stringify(join(folder, "key.json")));
  const frame =
    "export const routes = []; const app = { post: (_, route) => routes.push(route) }; const getAuth = (request) => request.auth;\n";
  await writeFile(join(folder, "page.mjs"), frame + code);
  process.env.SUPABASE_SECRET_KEY = "sb_secret_x";
  page = await import(pathToFileURL(join(folder, "page.mjs")).href);
});
after(async () => {
  await server?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** What the Worker checks of a token, and the claims that the database reads. */
async function claimsOf(token) {
  const expected = { issuer: `${server.origin}/auth/v1`, audience: "authenticated", algorithms: ["ES256"] };
  const { payload, protectedHeader } = await jwtVerify(token, publicKey, expected);
  assert.equal(protectedHeader.kid, "key-1");
  return payload;
}

/** What a route answers: a status or a text. */
async function answerOf(route, request) {
  let answer;
  const response = { sendStatus: (status) => (answer = status), type: () => response, send: (text) => (answer = text) };
  await route(request, response);
  return answer;
}

test("the key that the command makes signs tokens that the project accepts, for one user of the project each", async () => {
  const tokens = [];
  for (const name of [
    "https://www.example.com/users/1",
    "https://www.example.com/users/1",
    "https://www.example.com/users/2",
  ])
    tokens.push(await claimsOf(await page.chatToken(name, { team: "sales" })));
  assert.match(tokens[0].sub ?? "", UUID);
  assert.deepEqual([tokens[0].sub === tokens[1].sub, tokens[0].sub === tokens[2].sub], [true, false]);
  assert.deepEqual([...users], [tokens[0].sub, tokens[2].sub]);
  assert.equal(tokens[0].role, "authenticated");
  assert.deepEqual(tokens[0].app_metadata, { team: "sales" });
  assert.ok((tokens[0].exp ?? 0) - (tokens[0].iat ?? 0) === 600);
});

test("the route for Clerk gives a token to those who are signed in, also after a restart of the server", async () => {
  const [clerk] = page.routes;
  assert.equal(await answerOf(clerk, { auth: {} }), 401);
  const restarted = await import(`${pathToFileURL(join(folder, "page.mjs")).href}?restarted`);
  const request = { auth: { userId: "user_1", orgId: "org_1" } };
  const ids = [];
  for (const route of [clerk, restarted.routes[0]]) ids.push((await claimsOf(await answerOf(route, request))).sub);
  assert.equal(ids[0], ids[1]);
});

test("the route for Auth0 gives a token for a valid one of its tenant only", async () => {
  const [, route] = page.routes;
  const tokenOf = (issuer) =>
    new SignJWT({ permissions: ["read"] })
      .setProtectedHeader({ alg: "RS256", kid: "auth0" })
      .setIssuer(issuer)
      .setAudience("https://www.example.com/api")
      .setSubject("auth0|1")
      .setExpirationTime("1m")
      .sign(auth0.privateKey);
  const requestWith = (authorization) => ({ get: () => authorization });
  assert.equal(await answerOf(route, requestWith(undefined)), 401);
  assert.equal(await answerOf(route, requestWith(`Bearer ${await tokenOf("https://evil.example/")}`)), 401);
  const token = await answerOf(route, requestWith(`Bearer ${await tokenOf(`${server.origin}/`)}`));
  assert.deepEqual((await claimsOf(token)).app_metadata, { permissions: ["read"] });
});
