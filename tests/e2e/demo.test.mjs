import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import test from "node:test";
import { answerText, ask } from "../lib/chat.mjs";
import { startDemo, temporaryFolder } from "../lib/demo.mjs";

const isRunning = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("the demo stops everything it started and keeps its data for the next start", async (t) => {
  const data = await temporaryFolder(t);
  const kb = join(data, "documents");
  await mkdir(kb);
  await writeFile(join(kb, "parking.md"), "# Parking\n\nVisitors park for free in the yard behind the mill.\n");

  const first = await startDemo({ data, kb });
  t.after(() => first.stop());
  const { processes } = first.info;
  for (const [name, pid] of Object.entries(processes)) assert.ok(isRunning(pid), name);
  const { id } = (await first.rest("GET", "kb_documents?select=id"))[0];
  assert.equal(await first.stop("SIGINT"), 0);
  for (const [name, pid] of Object.entries(processes)) assert.ok(!isRunning(pid), `${name} still runs`);

  const second = await startDemo({ data, kb });
  t.after(() => second.stop());
  assert.deepEqual(await second.rest("GET", "kb_documents?select=id"), [{ id }]);
  const { events } = await ask(second.info.chat_url, await second.newUser(), "Where do visitors park?");
  assert.match(answerText(events), /Visitors park for free in the yard behind the mill\. \[1\]/);

  // A changed file replaces its chunks under the same document.
  await writeFile(join(kb, "parking.md"), "# Parking\n\nVisitors pay two euros to park in the yard.\n");
  assert.equal((await second.kb("sync", kb)).code, 0);
  assert.deepEqual(await second.rest("GET", "kb_documents?select=id"), [{ id }]);
  const changed = await ask(second.info.chat_url, await second.newUser(), "Where do visitors park?");
  assert.match(answerText(changed.events), /two euros/);
  assert.doesNotMatch(answerText(changed.events), /for free/);
});

test("services do not outlive a demo that is killed", async (t) => {
  const demo = await startDemo({ data: await temporaryFolder(t), kb: await temporaryFolder(t) });
  const { demo: demoPid, ...services } = demo.info.processes;
  process.kill(demoPid, "SIGKILL");
  await demo.stop();
  const deadline = Date.now() + 30_000;
  while (Object.values(services).some(isRunning) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const [name, pid] of Object.entries(services)) assert.ok(!isRunning(pid), `${name} still runs`);
});

test("a demo that is stopped during startup ends immediately and cleanly", async (t) => {
  const data = await temporaryFolder(t);
  const child = spawn(process.env.XTASK_BINARY, ["demo", "--prebuilt", "--data", data], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes("supabase: http")) child.kill("SIGTERM");
  }
  assert.equal(child.exitCode ?? (await once(child, "exit"))[0], 0);
  assert.match(output, /stopped\n$/);
  assert.doesNotMatch(output, /Evidence Chat is ready/);
});

test("child processes of a killed service are stopped", async (t) => {
  const demo = await startDemo({ data: await temporaryFolder(t), kb: await temporaryFolder(t) });
  t.after(() => demo.stop());
  process.kill(demo.info.processes.worker, "SIGKILL");
  assert.equal(await demo.stop(), 0);
  await assert.rejects(fetch(`${demo.info.worker_url}/api/health`), "workerd still answers");
});

test("the demo skips a port that is in use", async (t) => {
  const blocker = createServer().listen(8787, "127.0.0.1");
  // If it cannot listen, another process already uses the port.
  await once(blocker, "listening").catch((error) => assert.equal(error.code, "EADDRINUSE"));
  t.after(() => blocker.close());
  const demo = await startDemo({ data: await temporaryFolder(t), kb: await temporaryFolder(t) });
  t.after(() => demo.stop());
  assert.notEqual(new URL(demo.info.worker_url).port, "8787");
  assert.equal((await fetch(`${demo.info.worker_url}/api/health`)).status, 200);
});
