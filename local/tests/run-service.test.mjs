import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("hello-service.mjs", import.meta.url));

/**
 * Starts the service with exactly this environment.
 * @typedef {import("node:stream").Readable} Readable
 * @typedef {import("node:child_process").ChildProcessByStdio<import("node:stream").Writable | null, Readable, Readable>} Child
 * @param {import("node:test").TestContext} t
 * @param {NodeJS.ProcessEnv} [env]
 * @param {"pipe" | "ignore"} [stdin]
 */
function start(t, env = {}, stdin = "pipe") {
  const child = /** @type {Child} */ (spawn(process.execPath, [PROGRAM], { env, stdio: [stdin, "pipe", "pipe"] }));
  t.after(() => child.kill("SIGKILL"));
  const service = {
    child,
    output: "",
    errors: "",
    exitCode: once(child, "close").then(([code]) => code),
  };
  child.stdout.setEncoding("utf8").on("data", (text) => (service.output += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (service.errors += text));
  return service;
}

/**
 * Starts a service and waits for its `ready` line.
 * @param {import("node:test").TestContext} t
 * @param {"pipe" | "ignore"} [stdin]
 */
async function startReady(t, stdin) {
  const service = start(t, {}, stdin);
  await once(service.child.stdout, "data");
  const [, url = ""] = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(service.output) ?? [];
  assert.equal(await (await fetch(url)).text(), "hello");
  return Object.assign(service, { url });
}

test("a service answers under the names of this computer only, so that no site reads it under its own name", async (t) => {
  const { url } = await startReady(t);
  const { port } = new URL(url);
  const statusFor = async (/** @type {string} */ host) => {
    const [response] = await once(request(url, { headers: { host }, agent: false }).end(), "response");
    response.resume();
    return response.statusCode;
  };
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "localhost"]) assert.equal(await statusFor(host), 200);
  for (const host of [`evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example", "evil.example"])
    assert.equal(await statusFor(host), 421, host);
});

for (const signal of /** @type {const} */ (["SIGTERM", "SIGINT"])) {
  test(`a service cleans up and exits with 0 on ${signal}`, async (t) => {
    const service = await startReady(t);
    service.child.kill(signal);
    assert.equal(await service.exitCode, 0);
    assert.match(service.output, /cleaned up\n$/);
  });
}

test("a service exits when its parent closes stdin", async (t) => {
  const service = await startReady(t);
  service.child.stdin?.end();
  assert.equal(await service.exitCode, 0);
});

test("a service keeps running if stdin is not a pipe", async (t) => {
  const service = await startReady(t, "ignore");
  await sleep(300);
  assert.equal(await (await fetch(service.url)).text(), "hello");
});

test("an invalid PORT is reported in one sentence", async (t) => {
  for (const PORT of ["abc", "65536", "-1", "80.5", " "]) {
    const service = start(t, { PORT });
    assert.equal(await service.exitCode, 1);
    assert.equal(service.errors, `PORT must be a whole number from 0 to 65535, not "${PORT}".\n`);
  }
});

test("a port in use is reported in one sentence", async (t) => {
  const blocker = createServer().listen(0, "127.0.0.1");
  t.after(() => blocker.close());
  await once(blocker, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (blocker.address());
  const service = start(t, { PORT: String(port) });
  assert.equal(await service.exitCode, 1);
  assert.equal(service.errors, `Port ${port} is already in use; set PORT to a free one.\n`);
});

test("an unexpected error is reported with its stack", async (t) => {
  const service = start(t, { FAIL: "unforeseen" });
  assert.equal(await service.exitCode, 1);
  assert.match(service.errors, /TypeError: unforeseen\n +at /);
});
