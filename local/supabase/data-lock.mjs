import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartupError } from "../service.mjs";

/**
 * Locks a data folder for this process, because two servers on one PGlite folder destroy it. The lock is a file with the
 * process id. A lock whose process no longer runs is taken over.
 * @param {string} dataDir an existing folder
 * @returns {Promise<() => Promise<void>>} releases the folder
 */
export async function lockDataDir(dataDir) {
  const file = path.join(dataDir, "server.pid");
  if (!(await tryCreate(file))) {
    const owner = Number.parseInt(await readFile(file, "utf8").catch(() => ""), 10);
    if (isRunning(owner)) {
      throw new StartupError(
        `The data folder ${dataDir} is in use by process ${owner}. Stop that server or set DATA_DIR to another folder (with the demo: --data DIR); ` +
          `if that process is not a Supabase server, delete ${file}.`,
      );
    }
    await rm(file, { force: true });
    if (!(await tryCreate(file)) || !(await ownsLock(file))) {
      throw new StartupError(`Another server is starting on the data folder ${dataDir}.`);
    }
  }
  return () => rm(file, { force: true });
}

async function tryCreate(file) {
  try {
    await writeFile(file, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/** Two processes that take over the same stale lock can remove each other's file; the last one written wins. */
async function ownsLock(file) {
  await delay(50);
  return (await readFile(file, "utf8").catch(() => "")) === `${process.pid}\n`;
}

function isRunning(pid) {
  // This process has no lock yet, so its own id in the file is a reused one.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
