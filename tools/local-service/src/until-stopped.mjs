import { fstatSync } from "node:fs";

/**
 * Resolves when the process should exit: on SIGINT or SIGTERM, or when stdin is a pipe whose other end, the parent
 * process, is closed. A terminal or /dev/null on stdin is ignored.
 * @returns {Promise<void>}
 */
export function untilStopped() {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
    if (stdinIsPipe()) {
      process.stdin
        .once("end", () => resolve())
        .once("error", () => resolve())
        .resume();
    }
  });
}

function stdinIsPipe() {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false;
  }
}
