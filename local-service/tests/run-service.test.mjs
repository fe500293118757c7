import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("hello-service.mjs", import.meta.url));

function start(t, { stdin = "pipe", ...environment } = {}) {
  const child = spawn(process.execPath, [PROGRAM], { env: environment, stdio: [stdin, "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const service = { child, output: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (service.output += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (service.errors += text));
  service.ended = once(child, "close").then(([code]) => code);
  return service;
}

/** Starts a service and gives its URL once it says that it is ready. */
async function startReady(t, options) {
  const service = start(t, options);
  await once(service.child.stdout, "data");
  const [, url] = /^ready (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(service.output);
  assert.equal(await (await fetch(url)).text(), "hello");
  return Object.assign(service, { url });
}

for (const signal of ["SIGTERM", "SIGINT"]) {
  test(`${signal} ends a service after it has cleaned up`, async (t) => {
    const service = await startReady(t);
    service.child.kill(signal);
    assert.equal(await service.ended, 0);
    assert.match(service.output, /cleaned up\n$/);
  });
}

test("a service ends when the process that started it is gone", async (t) => {
  const service = await startReady(t);
  service.child.stdin.end();
  assert.equal(await service.ended, 0);
});

test("without a pipe on stdin a service goes on", async (t) => {
  const service = await startReady(t, { stdin: "ignore" });
  await sleep(300);
  assert.equal(await (await fetch(service.url)).text(), "hello");
});

test("a PORT that is none is told in one sentence", async (t) => {
  for (const PORT of ["abc", "65536", "-1", "80.5", " "]) {
    const service = start(t, { PORT });
    assert.equal(await service.ended, 1);
    assert.equal(service.errors, `PORT must be a whole number from 0 to 65535, not "${PORT}".\n`);
  }
});

test("a taken port is told in one sentence", async (t) => {
  const blocker = createServer().listen(0, "127.0.0.1");
  t.after(() => blocker.close());
  await once(blocker, "listening");
  const { port } = blocker.address();
  const service = start(t, { PORT: String(port) });
  assert.equal(await service.ended, 1);
  assert.equal(service.errors, `Port ${port} is already in use; set PORT to a free one.\n`);
});

test("what nobody foresaw is told with its stack", async (t) => {
  const service = start(t, { FAIL: "unforeseen" });
  assert.equal(await service.ended, 1);
  assert.match(service.errors, /TypeError: unforeseen\n +at /);
});
