// Starts the real language model server, which `cargo xtask setup --generation` installs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../../tools/model-server/server.py", import.meta.url));
export const MODEL_NAME = "SmolLM2-135M-Instruct";

/**
 * Starts it on a free port.
 * @returns {Promise<ModelServer>}
 */
export async function startModelServer() {
  const python = required("MODEL_SERVER_PYTHON");
  const args = [PROGRAM, "--name", MODEL_NAME, "--model", required("MODEL_SERVER_MODEL")];
  const child = spawn(python, args, { env: { ...process.env, PORT: "0" }, stdio: ["pipe", "pipe", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk) => (log += chunk));
  const exited = once(child, "exit");
  // It prints nothing else.
  const line = await Promise.race([once(createInterface(child.stdout), "line"), exited]);
  const url = /^ready (\S+)$/.exec(String(line[0]))?.[1];
  if (!url) throw new Error(`the model server did not start:\n${log}`);
  return new ModelServer(url, child, exited);
}

class ModelServer {
  #child;
  #exited;

  constructor(url, child, exited) {
    /** The base URL of the API. */
    this.url = `${url}/v1`;
    this.#child = child;
    this.#exited = exited;
  }

  /**
   * Ends it, with a signal or, as the end of its parent would, by closing its stdin.
   * @param {NodeJS.Signals | "end of parent"} [how]
   * @returns {Promise<number>} its exit code
   */
  async stop(how = "SIGTERM") {
    if (how === "end of parent") this.#child.stdin.end();
    else if (this.#child.exitCode === null) this.#child.kill(how);
    const [code] = await this.#exited;
    return code;
  }
}

export function required(/** @type {string} */ name) {
  const value = process.env[name];
  if (value) return value;
  throw new Error(
    `${name} is not set: written answers need a language model and its server. \`cargo xtask test node\` installs them and ` +
      "sets the variable; CONTRIBUTING.md says how to run one test file",
  );
}
