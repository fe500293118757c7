/**
 * The protocol between a local server and the process that starts it (the demo, a test, a terminal):
 *
 * - `PORT` in the environment is the port on 127.0.0.1; 0 picks a free one.
 * - The line `ready URL` on stdout says that the server answers at that URL.
 * - The server exits with 0 on SIGINT, on SIGTERM, and when stdin is a pipe or socket whose other end is closed, so that it
 *   does not outlive the process that started it. A terminal or /dev/null on stdin does not stop it.
 * - A startup error that the user can fix is one sentence on stderr; the exit code is 1.
 */
import { once } from "node:events";
import { fstatSync } from "node:fs";
import { Server } from "node:http";

/** Local services accept connections from this computer only. */
export const HOST = "127.0.0.1";

/** Browsers name the host that they were asked for. Any site may point its own name at this computer (DNS rebinding). */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

/** A startup error that the user can fix; its message is shown without a stack trace. */
export class StartupError extends Error {
  /** @override */
  name = "StartupError";
}

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

/**
 * Resolves when the process should exit: on SIGINT or SIGTERM, or when stdin is a pipe whose other end, the parent
 * process, is closed. A terminal or /dev/null on stdin is ignored.
 * @returns {Promise<void>}
 */
function untilStopped() {
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

/**
 * Lets a server listen on HOST. An HTTP server answers only under the names of this computer.
 * @param {import("node:net").Server} server
 * @param {number} port 0 picks a free one
 * @returns {Promise<string>} the server's URL, if it speaks HTTP
 */
export async function listen(server, port) {
  if (server instanceof Server) refuseOtherHosts(server);
  server.listen(port, HOST);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === "EADDRINUSE") {
      throw new StartupError(`Port ${port} is already in use; set PORT to a free one.`);
    }
    if (code === "EACCES") {
      throw new StartupError(`Port ${port} needs more privileges; set PORT to one above 1023.`);
    }
    throw error;
  }
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return `http://${HOST}:${address.port}`;
}

function refuseOtherHosts(/** @type {Server} */ server) {
  const listeners = server.listeners("request");
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (!OWN_HOST.test(request.headers.host ?? ""))
      return response
        .writeHead(421, { "content-type": "text/plain" })
        .end("This server answers as 127.0.0.1 or localhost only.");
    for (const listener of listeners) listener.call(server, request, response);
  });
}
