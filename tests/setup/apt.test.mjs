// Debian packages are installed only with consent. A fake apt-get records its calls.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { temporaryFolder } from "../lib/demo.mjs";

/** Other systems have no apt-get, and may find a browser outside PATH. */
const LINUX = { skip: process.platform !== "linux" && "platform: apt-get is on Linux only" };

/** Runs `cargo xtask setup chromium` on a machine without a browser, as the user with this id. */
async function setup(t, user, options) {
  const folder = await temporaryFolder(t);
  const calls = join(folder, "calls");
  const program = (name, script) => writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await writeFile(calls, "");
  await program("id", `echo ${user}`);
  await program("apt-get", `echo "$@" >> ${calls}; case "$1" in install) : > ${folder}/chromium;; esac`);
  const env = { PATH: folder, HOME: folder, XDG_CACHE_HOME: folder };
  const { error, output } = await new Promise((resolve) => {
    execFile(process.env.XTASK_BINARY, ["setup", "chromium", ...options], { env }, (error, stdout, stderr) =>
      resolve({ error, output: stdout + stderr }),
    );
  });
  return { code: error?.code ?? 0, output, calls: await readFile(calls, "utf8") };
}

test("setup without a terminal and without --apt-install installs nothing and names the apt-get command", LINUX, async (t) => {
  const { code, output, calls } = await setup(t, 0, []);
  assert.equal(code, 1);
  assert.equal(calls, "");
  assert.match(output, /sudo apt-get install chromium/);
  assert.match(output, /--apt-install/);
});

test("setup --apt-install installs the package", LINUX, async (t) => {
  const { code, output, calls } = await setup(t, 0, ["--apt-install"]);
  assert.equal(code, 0, output);
  assert.deepEqual(calls.split("\n"), ["update -qq", "install -y -qq --no-install-recommends chromium", ""]);
});

test("setup --apt-install as an ordinary user installs nothing and names the apt-get command", LINUX, async (t) => {
  const { code, output, calls } = await setup(t, 1000, ["--apt-install"]);
  assert.equal(code, 1);
  assert.equal(calls, "");
  assert.match(output, /sudo apt-get install chromium/);
});
