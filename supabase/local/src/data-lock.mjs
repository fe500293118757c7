import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartupError } from "@evidence-chat/local-service";

/**
 * Claims a data folder for this process, because two servers on one PGlite folder destroy it. The claim is a file with
 * our process id; one left behind by a process that is gone is taken over.
 * @param {string} dataDir an existing folder
 * @returns {Promise<() => Promise<void>>} gives the folder free again
 */
export async function lockDataDir(dataDir) {
  const file = path.join(dataDir, "server.pid");
  if (!(await tryCreate(file))) {
    const owner = Number.parseInt(await readFile(file, "utf8").catch(() => ""), 10);
    if (isRunning(owner)) {
      throw new StartupError(
        `The data folder ${dataDir} is in use by process ${owner}. Stop that server or set DATA_DIR to another folder (with the demo: --data DIR); ` +
          `if it is no Supabase server, delete ${file}.`,
      );
    }
    await rm(file, { force: true });
    if (!(await tryCreate(file)) || !(await isStillOurs(file))) {
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

/** Two processes that take over the same leftover can remove each other's claim; the last one written wins. */
async function isStillOurs(file) {
  await delay(50);
  return (await readFile(file, "utf8").catch(() => "")) === `${process.pid}\n`;
}

function isRunning(pid) {
  // Our own id in the file is a reused one: this process has not claimed the folder yet.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
