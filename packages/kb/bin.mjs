#!/usr/bin/env node
// Runs the program of this platform with the same arguments, input, output, signals and exit code.
import { spawn } from "node:child_process";
import { locateKb, locateModel } from "./locate.mjs";

/** @type {import("node:child_process").ChildProcess | undefined} */
let child;

// Before the program starts: a signal in between would leave it running alone. A terminal sends Ctrl-C to both processes, and a
// second one would make kb stop without cleaning up.
process.on("SIGINT", () => {
  if (!process.stdin.isTTY) child?.kill("SIGINT");
});
for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGTERM", "SIGHUP"])) {
  process.on(signal, () => child?.kill(signal));
}

try {
  const env = { ...process.env, EVIDENCE_MODEL_DIR: locateModel() };
  child = spawn(locateKb(), process.argv.slice(2), { stdio: "inherit", env, windowsHide: true });
  child.on("error", (error) => fail(`cannot start ${child?.spawnfile}: ${error.message}`));
  child.on("exit", end);
} catch (error) {
  fail(/** @type {Error} */ (error).message);
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exitCode = 1;
}

/** Ends as the program ended. */
function end(code, signal) {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
