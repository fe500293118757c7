import { once } from "node:events";
import { Server } from "node:http";
import { StartupError } from "./startup-error.mjs";

/** Local services accept connections from this computer only. */
export const HOST = "127.0.0.1";

/** Browsers name the host that they were asked for. Any site may point its own name at this computer (DNS rebinding). */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

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
