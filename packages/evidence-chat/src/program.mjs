import { spawn } from "node:child_process";
import { once } from "node:events";
import { UserError } from "./user-error.mjs";

/**
 * Runs a program with the input, output and signals of this process. Returns its exit code, or ends as the program was ended.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function runProgram(program, args, env = process.env) {
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  // Before the program starts: a signal in between would leave it running alone. A terminal sends Ctrl-C to both processes, and a
  // second one would make the program stop without cleaning up.
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child?.kill("SIGINT");
  });
  for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child?.kill(signal));
  }
  child = spawn(program, args, { stdio: "inherit", env, windowsHide: true });
  const [code, signal] = await once(child, "exit").catch((error) => {
    throw new UserError(`cannot start ${program}: ${error.message}`);
  });
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  return code ?? 1;
}
