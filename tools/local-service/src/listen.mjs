import { once } from "node:events";
import { StartupError } from "./startup-error.mjs";

/** Local services accept connections from this computer only. */
export const HOST = "127.0.0.1";

/**
 * Lets a server listen on HOST.
 * @param {import("node:net").Server} server
 * @param {number} port 0 picks a free one
 * @returns {Promise<string>} the server's URL, if it speaks HTTP
 */
export async function listen(server, port) {
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
