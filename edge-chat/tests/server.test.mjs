// The local server as a program: startup errors, persistence and shutdown.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, question } from "./support/client.mjs";
import { ISSUER, JWT_SECRET } from "./support/tokens.mjs";
import { startUpstream } from "./support/upstream.mjs";

const SERVER = fileURLToPath(new URL("../../local/worker/server.mjs", import.meta.url));

function start(variables = {}) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [SERVER], { env: { PATH, HOME, PORT: "0", ...variables } });
  const server = { child, output: "", exit: once(child, "exit") };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (server.output += text));
  }
  server.ready = new Promise((resolve, reject) => {
    child.stdout.on("data", () => {
      const url = /^ready (http:\/\/127\.0\.0\.1:\d+)$/m.exec(server.output)?.[1];
      if (url) resolve(url);
    });
    void server.exit.then(() => reject(new Error(server.output)));
  });
  return server;
}

test("a port in use is reported in one sentence", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (blocker.address());
  const server = start({ PORT: String(port) });
  server.ready.catch(() => {});
  const [code] = await server.exit;
  blocker.close();
  assert.equal(code, 1);
  assert.equal(server.output, `Port ${port} is already in use; set PORT to a free one.\n`);
});

test("a missing setting is reported in the log and not to the client", async () => {
  const server = start({ SUPABASE_URL: "" });
  const url = await server.ready;
  const reply = await ask(url, crypto.randomUUID());
  server.child.stdin.end();
  const [code] = await server.exit;
  assert.equal(code, 0, "exits when its parent exits");
  assert.deepEqual([reply.status, reply.json.code], [500, "internal"]);
  assert.ok(!JSON.stringify(reply.json).includes("SUPABASE"));
  assert.match(server.output, /SUPABASE_URL is not set/);
});

test("the Worker answers under the names of this computer only, so that no site reads its keys under its own name", async () => {
  const server = start({ SUPABASE_URL: "http://127.0.0.1:1", SUPABASE_PUBLISHABLE_KEY: "key" });
  const url = new URL(await server.ready);
  const statusFor = async (host) => {
    const sent = request(new URL("/api/project", url), {
      headers: { host: `${host}:${url.port}` },
      agent: false,
    }).end();
    const [response] = await once(sent, "response");
    response.resume();
    return response.statusCode;
  };
  const hosts = ["127.0.0.1", "localhost", "evil.example", "localhost.evil.example"];
  assert.deepEqual(await Promise.all(hosts.map(statusFor)), [200, 200, 421, 421]);
  server.child.stdin.end();
  await server.exit;
});

test("outcomes survive a restart", async () => {
  const upstream = await startUpstream();
  const dataDir = await mkdtemp(path.join(tmpdir(), "edge-local-"));
  const variables = {
    DATA_DIR: dataDir,
    SUPABASE_URL: upstream.url,
    SUPABASE_PUBLISHABLE_KEY: "key",
    SUPABASE_JWT_SECRET: JWT_SECRET,
    SUPABASE_JWT_ISSUER: ISSUER,
  };
  const user = crypto.randomUUID();
  const sent = question();
  const replies = [];
  for (let run = 0; run < 2; run++) {
    const server = start(variables);
    replies.push(await ask(await server.ready, user, sent));
    server.child.kill("SIGTERM");
    assert.equal((await server.exit)[0], 0);
  }
  upstream.close();
  await rm(dataDir, { recursive: true });
  assert.equal(replies[0].events.at(-1).type, "answer_end");
  assert.deepEqual(replies[1].events, replies[0].events);
  assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
});
