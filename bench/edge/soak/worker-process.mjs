// The Worker in a process that is killed or stopped and started again, with the same port and the same Durable Objects.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findWorkerd, residentMib } from "../lib/memory.mjs";

const SERVER = fileURLToPath(new URL("../../../local/worker/server.mjs", import.meta.url));

/** @typedef {"crash" | "stop"} End */

/**
 * @param {Record<string, string>} variables of the Worker, with DATA_DIR
 */
export async function startWorkerProcess(variables) {
  let child;
  let url;
  /** When nobody answered, in milliseconds of performance.now(). @type {{ from: number, to: number, end: End }[]} */
  const restarts = [];

  const start = async () => {
    const env = { ...process.env, ...variables, PORT: url ? new URL(url).port : "0" };
    child = spawn(process.execPath, [SERVER], { env, stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(child, "exit").then(() => {
      throw new Error("the Worker did not start");
    });
    url = await Promise.race([readUrl(child.stdout), exited]);
    exited.catch(() => undefined);
  };
  const end = async (/** @type {End} */ kind) => {
    const exited = once(child, "exit");
    if (kind === "crash") {
      process.kill(findWorkerd(child.pid), "SIGKILL");
      child.kill("SIGKILL");
    } else {
      child.kill("SIGTERM");
    }
    await exited;
  };
  await start();
  return {
    url,
    restarts,
    /** Resident memory; `undefined` while it does not run. */
    memoryMib() {
      try {
        return residentMib(findWorkerd(child.pid));
      } catch {
        return undefined;
      }
    },
    async restart(/** @type {End} */ kind) {
      const from = performance.now();
      await end(kind);
      await start();
      restarts.push({ from, to: performance.now(), end: kind });
    },
    close: () => end("stop"),
  };
}

/** The address in the line `ready URL`. Reads on, so that the process can write its log. */
function readUrl(output) {
  return new Promise((resolve) => {
    createInterface({ input: output }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve(line.slice("ready ".length).trim());
    });
  });
}
