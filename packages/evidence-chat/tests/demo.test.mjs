// The parts of the demo's program; tests/e2e/packages.test.mjs runs all of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { fill, parseOrigin } from "../src/demo/demo.mjs";
import { SAMPLE_DOCUMENTS } from "../src/demo/parts.mjs";
import { freePortFrom } from "../src/demo/ports.mjs";
import { Service } from "../src/demo/service.mjs";

const BIN = fileURLToPath(new URL("../bin.mjs", import.meta.url));
const HELLO = fileURLToPath(new URL("../../../local/tests/hello-service.mjs", import.meta.url));

let logs;
before(async () => {
  logs = await mkdtemp(join(tmpdir(), "demo-logs-"));
});
after(() => rm(logs, { recursive: true, force: true }));

const start = (env = {}, signal = new AbortController().signal) =>
  Service.start({ name: "hello", command: [process.execPath, HELLO], port: 0, env, logs, signal });

const isRunning = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const cli = (...args) => spawnSync(process.execPath, [BIN, ...args], { encoding: "utf8" });

test("a service answers at its URL and cleans up when it is stopped", async () => {
  const service = await start();
  assert.equal(await (await fetch(service.url)).text(), "hello");
  await service.stop();
  assert.ok(!service.isRunning);
  assert.match(await readFile(join(logs, "hello.log"), "utf8"), /cleaned up\n/);
});

test("a service that does not start is reported with the end of its log, without lines of earlier runs", async () => {
  await assert.rejects(start({ FAIL: "no disk" }), /^UserError: hello did not start:\n[^]*TypeError: no disk/);
  await assert.rejects(start({ FAIL: "no power" }), (/** @type {Error} */ { message }) => {
    assert.match(message, /TypeError: no power/);
    assert.doesNotMatch(message, /no disk|cleaned up/);
    return true;
  });
});

test("a service is stopped when the demo is stopped during its start", async () => {
  const stop = new AbortController();
  const started = start({}, stop.signal);
  stop.abort(new Error("stopped"));
  await assert.rejects(started, /stopped/);
});

test("a service that crashes is reported with its log", async () => {
  const service = await start();
  process.kill(service.id, "SIGKILL");
  assert.match(await service.untilStopped(), /^hello stopped \(SIGKILL\); see .*hello\.log$/);
  assert.ok(!isRunning(service.id));
  await service.stop();
});

test("a taken port is skipped and named", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (taken.address());
  const lines = [];
  const free = await freePortFrom(port, (line) => lines.push(line));
  assert.ok(free > port);
  assert.deepEqual(lines, [`  port ${port} is taken, using ${free}`]);
});

test("an origin loses its final slash; anything but an origin is rejected", () => {
  assert.equal(parseOrigin("https://www.example.com/"), "https://www.example.com");
  for (const wrong of ["localhost:9000", "http://", "http://a/b", "http://a,http://b", "file:///page.html", "*"]) {
    assert.throws(() => parseOrigin(wrong), /must be an origin/, wrong);
  }
});

test("a kb that cannot be started is an error in one line, and it does not start after Ctrl-C", async (t) => {
  t.mock.method(console, "log", () => {});
  const missing = join(logs, "missing");
  const { signal } = new AbortController();
  await assert.rejects(
    fill(missing, SAMPLE_DOCUMENTS, signal, { isSample: true, env: {} }),
    /^UserError: cannot start .*missing: .*ENOENT/,
  );
  const stopped = AbortSignal.abort(new Error("stopped"));
  await assert.rejects(fill(missing, SAMPLE_DOCUMENTS, stopped, { isSample: true, env: {} }), /^Error: stopped/);
});

test("documents that cannot be read end the demo of the sample, but not that of a user's folder", async (t) => {
  const log = t.mock.method(console, "log", () => {});
  const kb = join(logs, "failing-kb");
  await writeFile(kb, "#!/bin/sh\nexit $STATUS\n", { mode: 0o755 });
  const { signal } = new AbortController();
  const run = (isSample, STATUS) => fill(kb, SAMPLE_DOCUMENTS, signal, { isSample, env: { STATUS } });
  await run(false, "1");
  assert.match(log.mock.calls.at(-1)?.arguments[0], /^! kb sync reported failures, see above/);
  await assert.rejects(run(true, "1"), /^UserError: kb sync failed with exit code 1/);
  await assert.rejects(run(false, "101"), /^UserError: kb sync failed with exit code 101/);
});

test("a folder of documents that does not exist is an error in one line", () => {
  const { status, stderr } = cli("demo", "--kb", join(logs, "none"));
  assert.equal(status, 1);
  assert.match(stderr, /^error: --kb .*none: no such folder\n$/);
});
