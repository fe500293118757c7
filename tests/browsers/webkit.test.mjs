// The driver of WebKit that these tests use.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const DRIVER = new URL("../lib/webkit/driver.mjs", import.meta.url).href;
const PROGRAM = `
  const { startDriver } = await import(${JSON.stringify(DRIVER)});
  await startDriver(process.argv[1]);
  console.log("started");
  setInterval(() => {}, 1000);
`;

/** The processes that this process has started, and those that they have started. */
async function descendants(pid) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  const pids = children.split(" ").filter(Boolean);
  return [...pids, ...(await Promise.all(pids.map(descendants))).flat()];
}

/** The name of a process that runs. */
async function running(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return /^State:\s+[^ZX]/m.test(status) && /^Name:\s+(.*)/m.exec(status)?.[1];
}

for (const signal of /** @type {const} */ (["SIGTERM", "SIGKILL"])) {
  test(`no process of WebKit outlives a test that is ended by ${signal}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "evidence-chat-webkit-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const pids = await descendants(child.pid);
    const names = async () => (await Promise.all(pids.map(running))).filter(Boolean);
    for (const name of ["Xvfb", "MiniBrowser"]) assert.ok((await names()).includes(name), name);
    child.kill(signal);
    const deadline = Date.now() + 20_000;
    while ((await names()).length > 0 && Date.now() < deadline) await sleep(50);
    assert.deepEqual(await names(), []);
  });
}
