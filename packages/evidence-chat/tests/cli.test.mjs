// The command line of all commands; each command has tests of its own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../bin.mjs", import.meta.url));
const cli = (...args) => spawnSync(process.execPath, [BIN, ...args], { encoding: "utf8" });

test("the program and its commands explain themselves", async () => {
  assert.match(cli().stdout, /^Usage: evidence-chat COMMAND/);
  for (const command of ["demo", "create", "deploy"]) {
    assert.match(cli(command, "--help").stdout, new RegExp(`^Usage: evidence-chat ${command} `));
  }
  const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(cli("--version").stdout, `${version}\n`);
});

test("a wrong usage exits with 2 and says what is right", () => {
  for (const args of [["serve"], ["demo", "more"], ["demo", "--nonsense"], ["create", "one", "two"]]) {
    const { status, stderr } = cli(...args);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, /^error: .*\n\nUsage: evidence-chat /);
  }
});
