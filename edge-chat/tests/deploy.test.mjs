// Dry runs of `wrangler deploy` with the built Worker, with the environment that wrangler.toml has as a comment. Writes only to a
// temporary folder.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// Disables telemetry. Read when wrangler loads, here and in child processes.
Object.assign(process.env, { CI: "1", WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" });
const { ASSETS_DIR } = await import("../../local/worker/worker.mjs");
const { experimental_readRawConfig: readRawConfig } = await import("wrangler");

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WORKER = path.join(ROOT, "edge-chat/build/index.js");
const WRANGLER = programOf("wrangler");
let folder, build, config;

before(async () => {
  assert.ok(existsSync(WORKER), "The Worker is not built yet; run `cargo xtask build worker` first.");
  assert.ok(existsSync(ASSETS_DIR), "The static files are not built yet; run `cargo xtask build assets` first.");
  folder = await mkdtemp(path.join(tmpdir(), "edge-deploy-"));
  const text = readFileSync(path.join(ROOT, "wrangler.toml"), "utf8");
  const [top, staging] = text.split(/(?=^# \[env\.staging\.vars\]$)/m);
  const full = path.join(folder, "wrangler.toml");
  await writeFile(full, top + staging.replace(/^# /gm, ""));
  ({ build, ...config } = readRawConfig({ config: full }).rawConfig);
  // Without [build], which would compile the Worker again.
  const assets = { ...config.assets, directory: path.join(ROOT, config.assets?.directory ?? "") };
  await writeFile(path.join(folder, "wrangler.json"), JSON.stringify({ ...config, main: WORKER, assets }));
});

after(() => folder && rm(folder, { recursive: true }));

/** The path of a package's program. */
function programOf(name) {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return path.join(path.dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin[name]);
}

/** The output of a dry run. Fails if wrangler fails. */
async function dryRun(name, environment) {
  const options = ["--dry-run", "--config", path.join(folder, "wrangler.json"), "--outdir", path.join(folder, name)];
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [WRANGLER, "deploy", ...options, "--env", environment],
    { cwd: folder, env: { ...process.env, WRANGLER_LOG_PATH: folder, XDG_CONFIG_HOME: folder, NO_COLOR: "1" } },
  );
  return stdout + stderr;
}

test("Cloudflare's invocation logs, which contain IP addresses and headers, are disabled", () => {
  // Environments inherit the setting unless they override it.
  const own = Object.values(config.env).filter((environment) => "observability" in environment);
  for (const { observability } of [config, ...own]) assert.equal(observability.logs.invocation_logs, false);
});

test("every rate limit of every environment has its own namespace", () => {
  // Limits with the same namespace_id share their counts.
  const limits = [config, ...Object.values(config.env)].flatMap(({ ratelimits }) => ratelimits);
  const ids = limits.map(({ namespace_id: id }) => id);
  assert.equal(ids.length, 2);
  assert.equal(new Set(ids).size, ids.length, ids.join(", "));
});

test("wrangler builds the Worker and its static files with cargo xtask", () => {
  assert.equal(build?.command, "cargo xtask build assets worker");
});

describe("dry run", { concurrency: 1 }, () => {
  for (const [name, environment] of [
    ["top level", ""],
    ["staging", "staging"],
  ]) {
    test(`the dry run of ${name} has all bindings and no warnings`, async (t) => {
      const output = await dryRun(name, environment);
      assert.match(output, /env\.USER_GATE \(UserGate\)\s+Durable Object/);
      assert.match(output, /env\.REQUEST_LIMIT \(600 requests\/60s\)\s+Rate Limit/);
      for (const variable of Object.keys(config.vars)) assert.ok(output.includes(`env.${variable} (`), variable);
      assert.doesNotMatch(output, /warning/i);
      assert.match(output, /[2-9]\d files? from the assets directory/);
      const size = /gzip: ([\d.]+) KiB/.exec(output);
      assert.ok(size, output);
      t.diagnostic(`compressed size: ${size[1]} KiB`);
    });
  }

  test("the dry run of an unknown environment fails", async () => {
    await assert.rejects(dryRun("other", "other"));
  });
});
