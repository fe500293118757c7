// The staged package without its dependencies; tests/e2e/packages.test.mjs deploys with all of them.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { stagePackage } from "../../build/stage.mjs";
import { workerConfig } from "../../build/wrangler-config.mjs";

let folder, site;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "deploy-package-"));
  await stagePackage("evidence-chat", join(folder, "package"));
});
beforeEach(async () => {
  site = await mkdtemp(join(folder, "site-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const deploy = (...args) =>
  spawnSync(process.execPath, [join(folder, "package/bin.mjs"), "deploy", ...args], { cwd: site, encoding: "utf8" });
const write = async (path, text) => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
};

test("deploy writes wrangler.toml into a folder that has none, and stops before the values are set", async () => {
  const { status, stdout, stderr } = deploy();
  assert.equal(status, 1);
  assert.match(stdout, /wrote wrangler\.toml\n.*SUPABASE_URL/);
  assert.match(stderr, /^error: wrangler\.toml still has the example values your-project\.supabase\.co/);
  const config = await readFile(join(site, "wrangler.toml"), "utf8");
  assert.match(config, /^main = "\.evidence-chat\/build\/index\.js"$/m);
  assert.deepEqual(await readdir(site), ["wrangler.toml"]);
});

test("deploy does not touch the configuration of another Worker", async () => {
  await writeFile(join(site, "wrangler.toml"), 'name = "mine"\nmain = "src/index.js"\n');
  const { status, stderr } = deploy();
  assert.equal(status, 1);
  assert.match(stderr, /is not one of Evidence Chat/);
  await rm(join(site, "wrangler.toml"));
  await writeFile(join(site, "wrangler.jsonc"), "{}");
  assert.match(deploy().stderr, /another Worker's configuration/);
  assert.deepEqual(await readdir(site), ["wrangler.jsonc"]);
});

test("the template has no build, and the bindings of the repository's configuration", async () => {
  const repository = await readFile(new URL("../../../wrangler.toml", import.meta.url), "utf8");
  const config = workerConfig(repository);
  assert.doesNotMatch(config, /^\[build\]|cargo/m);
  assert.match(config, /^\[assets\]\n(?:.*\n)*?directory = "\.evidence-chat\/assets"$/m);
  const section = (name) => new RegExp(`^\\[+${name}\\]+$`, "gm");
  for (const name of ["vars", "durable_objects.bindings", "migrations", "ratelimits", "observability"]) {
    assert.ok(section(name).test(config), name);
  }
  assert.throws(() => workerConfig("name = 'other'\n"), /wrangler\.toml has no/);
});

test("has the static files of the tag, without the model and source maps", async () => {
  const files = await readdir(join(folder, "package/dist/edge-chat/assets"), { recursive: true });
  for (const name of ["evidence-chat.js", "_headers", "writer/wllama.wasm"]) assert.ok(files.includes(name), name);
  for (const pattern of [/^worker-\w{8}\.js$/, /^embedder_bg-\w{8}\.wasm$/]) {
    assert.ok(
      files.some((name) => pattern.test(name)),
      String(pattern),
    );
  }
  assert.deepEqual(
    files.filter((name) => /\.(safetensors|map)/.test(name)),
    [],
  );
  // The model is added when the files are assembled, under the name that gets the long-lived caching.
  assert.match(
    await readFile(join(folder, "package/dist/edge-chat/assets/_headers"), "utf8"),
    /^\/.*\.safetensors\.gz$/m,
  );
});

test("deploy gives wrangler the other arguments and signals, and ends with its exit code", async (t) => {
  const embedder = join(folder, "package/node_modules/@evidence-chat/embedder");
  t.after(() => rm(embedder, { recursive: true }));
  await write(join(embedder, "package.json"), "{}");
  await write(join(embedder, "dist/model.safetensors.gz"), "model");
  await write(join(site, "node_modules/wrangler/package.json"), "{}");
  const wrangler = `process.on("SIGTERM", () => { console.log("cleaned up"); process.exit(7); });
    console.log(process.argv.slice(2).join()); setTimeout(() => {}, 60000);`;
  await write(join(site, "node_modules/wrangler/bin/wrangler.js"), wrangler);
  const args = [join(folder, "package/bin.mjs"), "deploy", "--dry-run", "--env", "staging"];
  const child = spawn(process.execPath, args, { cwd: site, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    if (output.endsWith("--env,staging\n")) child.kill("SIGTERM");
  });
  assert.deepEqual(await once(child, "exit"), [7, null]);
  assert.match(output, /\ndeploy,--dry-run,--env,staging\ncleaned up\n$/);
  assert.deepEqual((await readdir(join(site, ".evidence-chat"))).sort(), [".gitignore", "assets", "build"]);
  const assets = await readdir(join(site, ".evidence-chat/assets"));
  for (const name of ["model.safetensors.gz", "model.safetensors.gz.piece0"]) assert.ok(assets.includes(name), name);
});

test("says what to install if wrangler or the package with the models is missing", async () => {
  const { stderr } = deploy("--dry-run");
  assert.match(stderr, /^error: wrangler is not installed: run `npm install --save-dev wrangler@\d/);
  await write(join(site, "node_modules/wrangler/package.json"), "{}");
  assert.match(deploy("--dry-run").stderr, /^error: The package @evidence-chat\/embedder, .* is not installed/);
});
