// The launcher with a stand-in for the program.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { locateKb, locateModel } from "../src/kb/locate.mjs";
import { PLATFORMS } from "../src/kb/platforms.mjs";

const BIN = fileURLToPath(new URL("../bin.mjs", import.meta.url));

// `cargo xtask test` sets them.
delete process.env.KB_BINARY;
delete process.env.EVIDENCE_MODEL_DIR;

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "kb-launcher-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** An executable script. */
async function program(name, text) {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}

const environment = (more) => ({ ...process.env, ...more });

function run(args, env, input = "") {
  return spawnSync(process.execPath, [BIN, "kb", ...args], { env: environment(env), input, encoding: "utf8" });
}

test("passes arguments, input, output and the exit code", async () => {
  const KB_BINARY = await program("echo", 'for a in "$@"; do echo "[$a]"; done; cat; echo oops >&2; exit 3');
  const { status, stdout, stderr } = run(["sync", "my folder", "--json", "$HOME", ""], { KB_BINARY }, "typed\n");
  assert.equal(stdout, "[sync]\n[my folder]\n[--json]\n[$HOME]\n[]\ntyped\n");
  assert.equal(stderr, "oops\n");
  assert.equal(status, 3);
});

test("gives the program the model of @evidence-chat/embedder unless EVIDENCE_MODEL_DIR names a folder", async () => {
  const KB_BINARY = await program("model", 'echo "$EVIDENCE_MODEL_DIR"');
  assert.match(run([], { KB_BINARY }).stdout, /dist\n$/);
  assert.equal(run([], { KB_BINARY, EVIDENCE_MODEL_DIR: "/models" }).stdout, "/models\n");
  assert.match(locateModel(), /\S/);
});

for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGTERM", "SIGINT", "SIGHUP"])) {
  test(`passes ${signal} on and waits until the program has cleaned up`, async () => {
    const name = signal.slice(3);
    const KB_BINARY = await program(name, `trap 'echo cleaned; exit 5' ${name}; echo up; while :; do sleep 0.05; done`);
    const child = spawn(process.execPath, [BIN, "kb"], {
      env: environment({ KB_BINARY }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
      if (output === "up\n") child.kill(signal);
    });
    assert.deepEqual(await once(child, "exit"), [5, null]);
    assert.equal(output, "up\ncleaned\n");
  });
}

test("ends with the signal that ended the program", async () => {
  const KB_BINARY = await program("killed", "kill -KILL $$");
  assert.equal(run([], { KB_BINARY }).signal, "SIGKILL");
});

test("says what to install if the package with the model is missing", async () => {
  const alone = await mkdtemp(join(folder, "alone-"));
  await cp(new URL("..", import.meta.url), alone, { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [join(alone, "bin.mjs"), "kb"], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /^error: The package @evidence-chat\/embedder, .* Install evidence-chat again.*\n$/);
});

test("reports a program that cannot be started in one line", async () => {
  const { status, stderr } = run([], { KB_BINARY: join(folder, "missing") });
  assert.equal(status, 1);
  assert.match(stderr, /^error: cannot start .*missing.*\n$/);
});

test("names the platforms when there is no program for this one", () => {
  assert.throws(
    () => locateKb({ platform: "sunos", arch: "x64" }),
    /no kb for sunos-x64, only for linux-x64, .*win32-x64/,
  );
});

test("says that musl is not supported", () => {
  assert.throws(() => locateKb({ platform: "linux", arch: "x64", isMusl: true }), /needs the C library glibc/);
});

test("says how to install the missing package of a platform", () => {
  for (const { os, cpu, key } of PLATFORMS) {
    assert.throws(
      () => locateKb({ platform: os, arch: cpu, isMusl: false }),
      new RegExp(`package @evidence-chat/kb-${key}, .* without --omit=optional`),
    );
  }
});
