// The script of action.yml, with a stand-in for npx.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";

const KEY = "sb_secret_abcdefghijkl";
const action = parse(await readFile(new URL("../../action.yml", import.meta.url), "utf8"));
const { run, env } = action.runs.steps.at(-1);

let bin;
before(async () => {
  bin = await mkdtemp(join(tmpdir(), "action-"));
  await writeFile(join(bin, "npx"), '#!/bin/sh\nfor a in "$@"; do echo "[$a]"; done\nexit "${STATUS:-0}"\n');
  await chmod(join(bin, "npx"), 0o755);
});
after(() => rm(bin, { recursive: true }));

/** Runs the script as the runner does. */
function sync(variables, status = 0) {
  const defaults = {
    SUPABASE_URL: "https://a.supabase.co",
    SUPABASE_SECRET_KEY: KEY,
    COLLECTION: "",
    ARGUMENTS: "",
    VERSION: "0.1.0",
  };
  const result = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", run], {
    encoding: "utf8",
    env: { ...defaults, ...variables, STATUS: String(status), PATH: `${bin}${delimiter}${process.env.PATH}` },
  });
  return { status: result.status, arguments: result.stdout.match(/^\[.*\]$/gm), output: result.stdout + result.stderr };
}

test("the action syncs the source with the version and the arguments that are given", () => {
  const { status, arguments: given } = sync({
    SOURCE: "docs",
    COLLECTION: "the docs",
    ARGUMENTS: "--dry-run\n--language\ngerman\n",
  });
  assert.equal(status, 0);
  assert.deepEqual(given, [
    ...["[--yes]", "[evidence-chat@0.1.0]", "[kb]", "[sync]", "[--collection]", "[the docs]"],
    ...["[--dry-run]", "[--language]", "[german]", "[--]", "[docs]"],
  ]);
});

test("the action takes no input for an option or a command of the shell", () => {
  const { arguments: given } = sync({ SOURCE: "--force; $(id)" });
  assert.deepEqual(given, ["[--yes]", "[evidence-chat@0.1.0]", "[kb]", "[sync]", "[--]", "[--force; $(id)]"]);
});

test("the action fails with kb", () => {
  assert.equal(sync({ SOURCE: "docs" }, 1).status, 1);
});

test("the action masks the secret key, and passes it in the environment only", () => {
  const { output, arguments: given } = sync({ SOURCE: "docs" });
  assert.deepEqual(output.match(new RegExp(`.*${KEY}.*`, "g")), [`::add-mask::${KEY}`]);
  assert.ok(!given.join().includes(KEY));
});

test("the script of the action has no expressions, and its variables are inputs that exist", () => {
  assert.doesNotMatch(run, /\$\{\{/);
  for (const value of Object.values(env)) {
    const [, input] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(String(value)) ?? [];
    assert.ok(input in action.inputs, String(value));
  }
});
