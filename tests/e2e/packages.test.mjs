// A new user without Rust: installs the packed packages in an empty folder, runs the demo and sets up a site of their own. The
// tests run in order and print how long each step takes.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { pack } from "../../packages/build/pack.mjs";
import { PIECE_BYTES } from "../../packages/evidence-chat/src/deploy/model-pieces.mjs";
import { PLATFORMS } from "../../packages/evidence-chat/src/kb/platforms.mjs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { openBrowser } from "../lib/browser.mjs";
import { Widget } from "../lib/widget.mjs";
import { EMBEDDER, WIDGET } from "../package/consumer.mjs";

const COVERED = "Can I get my money back after two weeks?";
const OF_NEW_DOCUMENT = "What does the chat do if the documents do not answer a question?";
const NPM = ["--no-audit", "--no-fund", "--loglevel=error"];
/** What a computer with Node.js has, and nothing else: above all, no Rust. */
const PROGRAMS = ["node", "npm", "npx", "sh", "env", "ls", "cat", "uname"];
const START_TIMEOUT_MS = 240_000;

let folder, tarballs, environment, demo, browser, widget;

/** Steps of the new user and their seconds. */
const times = [];

async function timed(name, step) {
  const started = performance.now();
  const result = await step();
  times.push(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "evidence-chat-packages-"));
  await mkdir(join(folder, "bin"));
  for (const name of PROGRAMS) await symlink(await which(name), join(folder, "bin", name));
  const { EVIDENCE_MODEL_DIR, KB_BINARY, XTASK_BINARY, ...rest } = process.env;
  const npm = { npm_config_cache: await npmCache(), npm_config_prefer_offline: "true" };
  environment = { ...rest, ...npm, PATH: join(folder, "bin"), HOME: folder, XDG_DATA_HOME: join(folder, "share") };
  tarballs = await packAll(KB_BINARY);
  for (const tarball of tarballs) {
    times.push(`${tarball.slice(folder.length + 1)}: ${((await stat(tarball)).size / 1e6).toFixed(1)} MB`);
  }
});

after(async () => {
  await browser?.close();
  await stopDemo();
  await rm(folder, { recursive: true, force: true });
  console.log(times.join("\n"));
});

async function which(name) {
  for (const path of process.env.PATH.split(delimiter)) {
    if (
      await stat(join(path, name)).then(
        (entry) => entry.isFile(),
        () => false,
      )
    )
      return join(path, name);
  }
  throw new Error(`${name} is not on PATH`);
}

/** The cache that `npm ci` of this repository filled, so that the test takes from the network only what is missing there. */
async function npmCache() {
  return (await promisify(execFile)("npm", ["config", "get", "cache"])).stdout.trim();
}

async function packAll(program) {
  const { target } = PLATFORMS.find(({ key }) => key === `${process.platform}-${process.arch}`);
  const out = join(folder, "tarballs");
  const packed = await pack(out, { kb: { [target]: resolve(program) } });
  const args = ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", out, EMBEDDER, WIDGET];
  const { stdout } = await promisify(execFile)("npm", args);
  return [
    ...packed,
    ...stdout
      .trim()
      .split("\n")
      .map((name) => join(out, name)),
  ];
}

/** Runs a program as the new user does. Returns what it printed, and fails if it fails. */
async function user(cwd, program, ...args) {
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env: environment, maxBuffer: 1e7 });
  return stdout + stderr;
}

async function project(name) {
  const path = join(folder, name);
  await mkdir(path);
  await writeFile(join(path, "package.json"), '{ "private": true }');
  return path;
}

/** Starts the demo and waits until it has described itself. */
async function startDemo(cwd, data) {
  const child = spawn("npx", ["--no", "evidence-chat", "demo", "--data", data], {
    cwd,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const started = { child, output: "", exited: once(child, "exit"), info: undefined };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (started.output += chunk));
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!started.info) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the demo did not start:\n${started.output}`);
    await sleep(100);
    started.info = await readFile(join(data, "demo.json"), "utf8").then(JSON.parse, () => undefined);
  }
  return started;
}

async function stopDemo() {
  if (!demo) return undefined;
  if (isRunning(demo.info.processes.demo)) process.kill(demo.info.processes.demo, "SIGINT");
  return (await demo.exited)[0];
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("there is no Rust on the new user's PATH", async () => {
  for (const program of ["cargo", "rustc", "cc"]) {
    await assert.rejects(user(folder, program, "--version"), { code: "ENOENT" }, program);
  }
});

test("npx evidence-chat demo: from tarballs to a cited answer in the browser", async (t) => {
  const cwd = await project("demo");
  await timed("npm install of the demo", () => user(cwd, "npm", "install", ...NPM, ...tarballs));
  demo = await timed("npx evidence-chat demo, until it is ready", () => startDemo(cwd, join(folder, "data")));
  t.diagnostic(demo.output);

  browser = await openBrowser({ colorScheme: "light" });
  const { page } = browser;
  widget = new Widget(page);
  await timed("from opening the page to the first cited answer", async () => {
    await page.goto(demo.info.page_url);
    await page.locator("#auth-submit").click();
    await page.locator("body[data-view=chat]").waitFor();
    await widget.askFor(COVERED, "done", { timeout: 120_000 });
  });
  assert.ok((await widget.lastReply.locator("[data-role=source]").count()) > 0);
  assert.match(await widget.lastReply.innerText(), /30 days/);
  assert.deepEqual(page.errors, []);
});

test("npx evidence-chat-mcp: an agent asks the demo as a user", async (t) => {
  const { worker_url: url, supabase_url: supabase, publishable_key: apikey, login } = demo.info;
  const response = await fetch(`${supabase}/auth/v1/token?grant_type=password`, {
    method: "POST",
    headers: { apikey, "content-type": "application/json" },
    body: JSON.stringify(login),
  });
  const { access_token: token } = await response.json();
  const client = new Client({ name: "test", version: "0.0.0" });
  t.after(() => client.close());
  const transport = new StdioClientTransport({
    command: "npx",
    args: ["--no", "evidence-chat-mcp"],
    cwd: join(folder, "demo"),
    env: { ...environment, EVIDENCE_CHAT_URL: url, EVIDENCE_CHAT_TOKEN: token },
  });
  await timed("npx evidence-chat-mcp, until it answers", async () => {
    await client.connect(transport);
    const result = /** @type {any} */ (await client.callTool({ name: "ask", arguments: { question: COVERED } }));
    assert.match(result.content[0].text, /30 days[^]*\nSources:\n\[1\]/);
    assert.equal(result.structuredContent.type, "answer");
  });
});

test("a second demo on the same data says which process uses it", async () => {
  const started = startDemo(join(folder, "demo"), join(folder, "data"));
  // The description of the first demo is there, so only its output tells.
  const second = await started;
  const [code] = await second.exited;
  assert.equal(code, 1);
  assert.match(second.output, /data folder .* is in use by process \d+.*--data DIR/);
  assert.ok(isRunning(demo.info.processes.demo));
});

test("a new site: settings, deployment as far as it goes without an account, documents", async () => {
  const work = await project("work");
  const { supabase_url: url, publishable_key: key, data_dir: data } = demo.info;
  const answers = ["--supabase-url", url, "--supabase-key", key, "--origin", "https://www.example.org", "--yes"];
  const program = join(folder, "demo/node_modules/evidence-chat/bin.mjs");
  await timed("evidence-chat create", () => user(work, "node", program, "create", "my-site", ...answers));
  const site = join(work, "my-site");

  const own = tarballs.filter((path) => /evidence-chat-(kb-|embedder-|\d)/.test(path));
  await timed("npm install of the site", () => user(site, "npm", "install", "--save-dev", ...NPM, ...own));
  const deployed = await timed("npm run deploy -- --dry-run", () =>
    user(site, "npm", "run", "deploy", "--", "--dry-run"),
  );
  for (const expected of [
    /USER_GATE/,
    /REQUEST_LIMIT/,
    /[2-9]\d files? from the assets directory/,
    /--dry-run: exiting now/,
  ]) {
    assert.match(deployed, expected);
  }
  const assets = await readdir(join(site, ".evidence-chat/assets"));
  assert.ok(assets.includes("evidence-chat.js") && assets.includes("_headers"), assets.join(", "));
  const models = assets.filter((name) => name.endsWith(".safetensors.gz"));
  assert.equal(models.length, 2, "one version of model and reader");
  for (const model of models) {
    const { size } = await stat(join(site, ".evidence-chat/assets", model));
    const pieces = assets.filter((name) => name.startsWith(`${model}.piece`));
    assert.equal(pieces.length, Math.ceil(size / PIECE_BYTES), "in pieces as well, for a download that was cut");
  }

  // The user's step: the secret key from the dashboard.
  const keys = JSON.parse(await readFile(join(data, "keys.json"), "utf8"));
  const env = await readFile(join(site, ".env"), "utf8");
  await writeFile(join(site, ".env"), env.replace("SUPABASE_SECRET_KEY=", `SUPABASE_SECRET_KEY=${keys.secret_key}`));
  const synced = await timed("npm run sync", () => user(site, "npm", "run", "sync"));
  assert.match(synced, /added documents\/about-this-chat\.md/);
  assert.ok(!synced.includes(keys.secret_key));
  const listed = await user(site, "npm", "run", "--silent", "kb", "--", "list");
  assert.match(listed, /documents\/about-this-chat\.md/);

  await timed("the first answer from the new document", () => widget.askFor(OF_NEW_DOCUMENT));
  assert.match(await widget.lastReply.innerText(), /the chat says so instead of guessing/);
});

test("Ctrl-C stops everything that the demo started", async () => {
  const { processes } = demo.info;
  assert.equal(await stopDemo(), 0);
  for (const [name, pid] of Object.entries(processes)) assert.ok(!isRunning(pid), `${name} still runs`);
  assert.match(demo.output, /stopped\n$/);
});
