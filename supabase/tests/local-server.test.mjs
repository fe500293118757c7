// The server as a process: its output, its data and keys, its start and its end.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { after, before, test } from "node:test";
import { spawnServer, startServer } from "./support/start.mjs";
import { createTemporaryFolder } from "./support/temporary-folder.mjs";

let folder;
let remove;
let dataDir;

before(async () => {
  ({ folder, remove } = await createTemporaryFolder());
  dataDir = path.join(folder, "data");
});
after(() => remove());

async function documents({ url, keys }, insert) {
  const response = await fetch(`${url}/rest/v1/kb_documents?select=name`, {
    method: insert ? "POST" : "GET",
    headers: { apikey: keys.secret_key, "content-type": "application/json", prefer: "return=representation" },
    body: insert && JSON.stringify(insert),
  });
  assert.ok(response.ok, String(response.status));
  return (await response.json()).map((row) => row.name);
}

async function statusForAnon({ url, keys }) {
  const response = await fetch(`${url}/rest/v1/kb_documents`, { headers: { apikey: keys.publishable_key } });
  return response.status;
}

test("the server keeps data and keys after a restart, a kill -9 and the exit of its parent", async (t) => {
  await t.test("the first start applies the migrations and writes private keys", async (t) => {
    const server = await startServer(t, dataDir);
    assert.match(server.output(), /applied 20261201000100_foundations\.sql/);
    assert.equal((await stat(path.join(dataDir, "keys.json"))).mode & 0o777, 0o600);
    await documents(server, { source: "1.md", name: "first" });
    server.child.kill("SIGTERM");
    assert.equal((await server.exited).code, 0);
  });

  await t.test("the second start finds everything and applies nothing", async (t) => {
    const server = await startServer(t, dataDir);
    assert.doesNotMatch(server.output(), /applied/);
    assert.deepEqual(await documents(server), ["first"]);
    assert.equal(await statusForAnon(server), 401, "what the migrations revoked stays revoked");
    await documents(server, { source: "2.md", name: "second" });
    server.child.kill("SIGKILL");
    assert.equal((await server.exited).signal, "SIGKILL");
  });

  await t.test("after kill -9 the left-over lock is taken over and nothing is lost", async (t) => {
    const server = await startServer(t, dataDir);
    assert.deepEqual(await documents(server), ["first", "second"]);

    const second = await spawnServer(t, { DATA_DIR: dataDir }).exited;
    assert.equal(second.code, 1);
    assert.match(second.errors, new RegExp(`The data folder .* is in use by process ${server.child.pid}`));

    server.child.stdin.end();
    assert.equal((await server.exited).code, 0);
    await assert.rejects(stat(path.join(dataDir, "server.pid")), { code: "ENOENT" });
  });
});

test("API errors are well-formed HTTP responses", async (t) => {
  const server = await startServer(t, dataDir);
  const response = await fetch(`${server.url}/rest/v1/kb_documents`, {
    method: "POST",
    headers: { apikey: server.keys.publishable_key, "content-type": "application/json" },
    body: JSON.stringify({ source: "a.md", name: "a.md" }),
  });
  assert.equal(response.status, 401);
  assert.equal((await response.json()).code, "42501");
  server.child.kill("SIGTERM");
  await server.exited;
});

test("tokens and file URLs name the address that the server printed, like those of a hosted project", async (t) => {
  const { url, keys, child, exited } = await startServer(t, dataDir);
  /**
   * @param {string} method
   * @param {string} route
   * @param {{ key?: string, token?: string, headers?: Record<string, string>, body?: BodyInit }} [options]
   */
  const send = (method, route, { key = keys.publishable_key, token, headers = {}, body } = {}) =>
    fetch(url + route, {
      method,
      headers: { apikey: key, ...(token && { authorization: `Bearer ${token}` }), ...headers },
      body,
    });
  const json = { "content-type": "application/json" };
  const credentials = JSON.stringify({ email: "carol@example.com", password: "correct horse" });
  const signedUp = await send("POST", "/auth/v1/signup", { headers: json, body: credentials });
  const { access_token: token } = await signedUp.json();
  const { iss } = JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
  assert.equal(iss, `${url}/auth/v1`);
  assert.deepEqual(await (await fetch(`${url}/auth/v1/.well-known/jwks.json`)).json(), { keys: [] });

  const bytes = randomBytes(300_000);
  const key = keys.secret_key;
  const uploaded = await send("POST", "/storage/v1/object/kb/1/a.pdf", {
    key,
    headers: { "content-type": "application/pdf" },
    body: bytes,
  });
  assert.equal(uploaded.status, 200, await uploaded.text());
  const document = { source: "a.pdf", name: "a.pdf", status: "ready", storage_path: "1/a.pdf" };
  await send("POST", "/rest/v1/kb_documents", { key, headers: json, body: JSON.stringify(document) });

  const links = { key, headers: json, body: JSON.stringify({ link_mode: "public" }) };
  assert.equal((await send("PATCH", "/rest/v1/assistants?name=eq.default", links)).ok, true);

  const file = "/storage/v1/object/authenticated/kb/1/a.pdf";
  const whole = await send("GET", file, { token });
  assert.equal(whole.headers.get("content-length"), "300000");
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), bytes);
  const part = await send("GET", file, { token, headers: { range: "bytes=-100000" } });
  assert.deepEqual([part.status, part.headers.get("content-length")], [206, "100000"]);
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), bytes.subarray(200_000));
  const head = await send("HEAD", file, { token });
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, "300000"]);
  const etag = whole.headers.get("etag") ?? "";
  assert.equal((await send("GET", file, { token, headers: { "if-none-match": etag } })).status, 304);

  const paths = JSON.stringify({ expiresIn: 60, paths: ["1/a.pdf"] });
  const [{ signedURL }] = await (
    await send("POST", "/storage/v1/object/sign/kb", { token, headers: json, body: paths })
  ).json();
  assert.deepEqual(Buffer.from(await (await fetch(`${url}/storage/v1${signedURL}`)).arrayBuffer()), bytes);
  child.kill("SIGTERM");
  await exited;
});

test("a port in use is reported in one sentence and leaves no lock", async (t) => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (blocker.address());
  const other = path.join(folder, "port-taken");
  const { code, errors } = await spawnServer(t, { PORT: String(port), DATA_DIR: other }).exited;
  blocker.close();
  assert.equal(code, 1);
  assert.match(errors, new RegExp(`^Port ${port} is already in use; set PORT to a free one\\.$`, "m"));
  await assert.rejects(stat(path.join(other, "server.pid")), { code: "ENOENT" });
});

test("an invalid PORT is reported", async (t) => {
  const { code, errors } = await spawnServer(t, { PORT: "http", DATA_DIR: dataDir }).exited;
  assert.equal(code, 1);
  assert.match(errors, /PORT must be a whole number from 0 to 65535, not "http"\./);
});

test("a damaged key file is reported with its path", async (t) => {
  const other = path.join(folder, "bad-keys");
  await mkdir(other);
  await writeFile(path.join(other, "keys.json"), "{}");
  const { code, errors } = await spawnServer(t, { DATA_DIR: other }).exited;
  assert.equal(code, 1);
  assert.match(errors, /keys\.json has no "jwt_secret"/);
});
