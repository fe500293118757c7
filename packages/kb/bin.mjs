#!/usr/bin/env node
// Runs the program of this platform with the same arguments, input, output, signals and exit code.
import { spawn } from "node:child_process";
import { locateKb, locateModel } from "./locate.mjs";

const started = start();
if (started) follow(started);

function start() {
  try {
    const program = locateKb();
    const env = { ...process.env, EVIDENCE_MODEL_DIR: locateModel() };
    return spawn(program, process.argv.slice(2), { stdio: "inherit", env, windowsHide: true });
  } catch (error) {
    console.error(`error: ${/** @type {Error} */ (error).message}`);
    process.exitCode = 1;
    return undefined;
  }
}

/** @param {import("node:child_process").ChildProcess} child */
function follow(child) {
  child.on("error", (error) => {
    console.error(`error: cannot start ${child.spawnfile}: ${error.message}`);
    process.exitCode = 1;
  });
  // A terminal sends Ctrl-C to both processes; a second signal would make kb stop without cleaning up.
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
