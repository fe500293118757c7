import { StartupError } from "./startup-error.mjs";
import { untilStopped } from "./until-stopped.mjs";

/**
 * Runs this process as a local service, from reading `PORT` to its exit.
 * @param {object} options
 * @param {number} [options.defaultPort] used if `PORT` is not set; 0, the default, picks a free one
 * @param {(port: number, ready: (url: string) => Promise<void>) => Promise<void>} options.serve starts the server, calls
 *   `ready` once it answers, and cleans up when the promise that `ready` returned resolves
 */
export async function runService({ defaultPort = 0, serve }) {
  const stopped = untilStopped();
  const ready = (/** @type {string} */ url) => {
    console.log(`ready ${url}`);
    return stopped;
  };
  try {
    await serve(readPort(process.env.PORT) ?? defaultPort, ready);
    process.exit(0);
  } catch (error) {
    console.error(error instanceof StartupError ? error.message : error);
    process.exit(1);
  }
}

/**
 * @param {string | undefined} text
 * @returns {number | undefined}
 */
function readPort(text) {
  if (!text) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65535)) throw new StartupError(`PORT must be a whole number from 0 to 65535, not "${text}".`);
  return port;
}
