// The server as a process: what it prints, what it keeps, how it starts and ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("../local/server.mjs", import.meta.url));
const START_TIMEOUT_MS = 60_000;

const children = new Set();
let folder;
let dataDir;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "supabase-server-"));
  dataDir = path.join(folder, "data");
});
after(async () => {
  for (const child of children) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

function spawnServer(environment = {}) {
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, PORT: "0", DATA_DIR: dataDir, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  const exited = once(child, "close").then(([code, signal]) => ({ code, signal, output, errors }));
  return { child, exited, output: () => output };
}

async function startServer(environment) {
  const server = spawnServer(environment);
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)$/m.exec(server.output());
    if (ready)
      return { ...server, url: ready[1], keys: JSON.parse(await readFile(path.join(dataDir, "keys.json"), "utf8")) };
    if (server.child.exitCode !== null || Date.now() > deadline) {
      server.child.kill("SIGKILL");
      throw new Error(`the server did not start: ${JSON.stringify(await server.exited)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

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

test("data and keys survive a restart, a kill -9 and the end of the parent", async (t) => {
  await t.test("the first start applies the migrations and writes private keys", async () => {
    const server = await startServer();
    assert.match(server.output(), /applied 20261121000100_kb_tables\.sql/);
    assert.equal((await stat(path.join(dataDir, "keys.json"))).mode & 0o777, 0o600);
    await documents(server, { source: "1.md", name: "first" });
    server.child.kill("SIGTERM");
    assert.equal((await server.exited).code, 0);
  });

  await t.test("the second start finds everything and applies nothing", async () => {
    const server = await startServer();
    assert.doesNotMatch(server.output(), /applied/);
    assert.deepEqual(await documents(server), ["first"]);
    assert.equal(await statusForAnon(server), 401, "what the migrations revoked stays revoked");
    await documents(server, { source: "2.md", name: "second" });
    server.child.kill("SIGKILL");
    assert.equal((await server.exited).signal, "SIGKILL");
  });

  await t.test("after kill -9 the left-over lock is taken over and nothing is lost", async () => {
    const server = await startServer();
    assert.deepEqual(await documents(server), ["first", "second"]);

    const second = await spawnServer().exited;
    assert.equal(second.code, 1);
    assert.match(second.errors, new RegExp(`The data folder .* is in use by process ${server.child.pid}`));

    server.child.stdin.end();
    assert.equal((await server.exited).code, 0);
    await assert.rejects(stat(path.join(dataDir, "server.pid")), { code: "ENOENT" });
  });
});

test("errors of the API are well-formed HTTP", async () => {
  const server = await startServer();
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

test("a taken port is reported in one sentence and leaves no lock", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = blocker.address();
  const other = path.join(folder, "port-taken");
  const { code, errors } = await spawnServer({ PORT: String(port), DATA_DIR: other }).exited;
  blocker.close();
  assert.equal(code, 1);
  assert.match(errors, new RegExp(`^Port ${port} is already in use; set PORT to a free one\\.$`, "m"));
  await assert.rejects(stat(path.join(other, "server.pid")), { code: "ENOENT" });
});

test("a PORT that is no port is reported", async () => {
  const { code, errors } = await spawnServer({ PORT: "http" }).exited;
  assert.equal(code, 1);
  assert.match(errors, /PORT must be a whole number from 0 to 65535, not "http"\./);
});

test("damaged keys are reported with their file", async () => {
  const other = path.join(folder, "bad-keys");
  await mkdir(other);
  await writeFile(path.join(other, "keys.json"), "{}");
  const { code, errors } = await spawnServer({ DATA_DIR: other }).exited;
  assert.equal(code, 1);
  assert.match(errors, /keys\.json has no "jwt_secret"/);
});
