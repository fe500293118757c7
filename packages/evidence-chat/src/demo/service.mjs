import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../user-error.mjs";

const READY = "ready ";
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const LOG_LINES = 15;
/** Windows has no process groups that a signal reaches. */
const HAS_GROUPS = process.platform !== "win32";

/** A program that prints `ready URL` once it answers, and exits when its standard input is closed. */
export class Service {
  #child;
  #exited;
  /** Bytes in the log of earlier runs. */
  #earlier;

  /**
   * Starts a program with `PORT` set and waits until it is ready. Its output goes to the log file `NAME.log`.
   * @param {object} options
   * @param {string} options.name
   * @param {readonly string[]} options.command the program and its arguments
   * @param {number} options.port
   * @param {Record<string, string | undefined>} options.env added to that of this process
   * @param {string} options.logs folder
   * @param {AbortSignal} options.signal stops the program while it starts
   */
  static async start({ name, command: [program, ...args], port, env, logs, signal }) {
    signal.throwIfAborted();
    const started = Date.now();
    const log = join(logs, `${name}.log`);
    // Without waiting: `signal` is watched only once the program has started.
    const earlier = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    // The pipe on stdin stays open as long as this process lives, so no service outlives it. In a group of its own, Ctrl-C
    // reaches only this process, which stops the services in order.
    const child = spawn(/** @type {string} */ (program), args, {
      env: { ...process.env, ...env, PORT: String(port) },
      stdio: ["pipe", "pipe", "pipe"],
      detached: HAS_GROUPS,
      windowsHide: true,
    });
    const service = new Service(name, { log, earlier }, child);
    try {
      service.url = await service.#untilReady(signal);
    } catch (error) {
      await service.stop();
      throw error;
    }
    console.log(`✓ ${name}: ${service.url} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    return service;
  }

  /** Use `Service.start`. */
  constructor(name, { log, earlier }, child) {
    this.name = name;
    this.log = log;
    this.#earlier = earlier;
    this.url = "";
    this.#child = child;
    this.#exited = once(child, "exit").catch(() => [null, null]);
    // The service may exit before it reads its input.
    child.stdin.on("error", () => {});
  }

  get id() {
    return this.#child.pid;
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves with a sentence when the service stops by itself, and then stops what it has left running. */
  async untilStopped() {
    const [code, signal] = await this.#exited;
    this.#killGroup();
    return `${this.name} stopped (${signal ?? `exit code ${code}`}); see ${this.log}`;
  }

  /** Stops the service and what it started. */
  async stop() {
    this.#child.stdin.end();
    if (this.isRunning && HAS_GROUPS) this.#child.kill("SIGTERM");
    const timeout = new AbortController();
    const isLate = await Promise.race([
      this.#exited.then(() => false),
      delay(STOP_TIMEOUT_MS, true, { signal: timeout.signal }).catch(() => false),
    ]);
    timeout.abort();
    if (isLate) {
      console.log(`! ${this.name} did not stop in ${STOP_TIMEOUT_MS / 1000} s, killing it`);
      this.#child.kill("SIGKILL");
      await this.#exited;
    }
    this.#killGroup();
  }

  async #untilReady(signal) {
    const child = this.#child;
    // Appends, because an earlier run on the same data may have written the log.
    const file = createWriteStream(this.log, { flags: "a", mode: 0o600 });
    file.on("error", () => {});
    child.stderr.on("data", (chunk) => file.write(chunk));
    const ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        file.write(`${line}\n`);
        if (line.startsWith(READY)) resolve(line.slice(READY.length).trim());
      });
    });
    const cancel = new AbortController();
    try {
      return await Promise.race([
        ready,
        this.#exited.then(async () => {
          // Lets the log get the last lines.
          await delay(100);
          throw new UserError(`${this.name} did not start:\n${await this.#lastLogLines()}`);
        }),
        delay(START_TIMEOUT_MS, undefined, { signal: cancel.signal }).then(() => {
          throw new UserError(`${this.name} did not start in ${START_TIMEOUT_MS / 1000} s; see ${this.log}`);
        }),
        once(cancel.signal, "abort"),
        aborted(signal, cancel.signal),
      ]);
    } finally {
      cancel.abort();
    }
  }

  async #lastLogLines() {
    const bytes = await readFile(this.log).catch(() => Buffer.of());
    return bytes.subarray(this.#earlier).toString().trimEnd().split("\n").slice(-LOG_LINES).join("\n");
  }

  /** Kills processes that the service started and did not stop, such as workerd. */
  #killGroup() {
    if (!HAS_GROUPS || this.id === undefined) return;
    try {
      process.kill(-this.id, "SIGKILL");
    } catch {
      // None is left.
    }
  }
}

/** Rejects when `signal` is aborted. */
async function aborted(signal, cancel) {
  await once(signal, "abort", { signal: cancel });
  throw signal.reason;
}
