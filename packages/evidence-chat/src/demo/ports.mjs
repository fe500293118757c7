import { once } from "node:events";
import { createServer } from "node:net";
import { UserError } from "../user-error.mjs";

/** The number of ports to try. */
const ATTEMPTS = 50;

/**
 * The first free port of 127.0.0.1 at or after `preferred`.
 * @param {number} preferred
 * @param {(line: string) => void} print gets a line if that port is taken
 */
export async function freePortFrom(preferred, print = console.log) {
  for (let port = preferred; port < preferred + ATTEMPTS; port += 1) {
    if (!(await isFree(port))) continue;
    if (port !== preferred) print(`  port ${preferred} is taken, using ${port}`);
    return port;
  }
  const last = preferred + ATTEMPTS - 1;
  throw new UserError(`ports ${preferred} to ${last} are all taken: stop the programs that use them`);
}

async function isFree(port) {
  const probe = createServer();
  probe.listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
