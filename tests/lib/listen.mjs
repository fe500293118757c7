import { once } from "node:events";
import { createServer } from "node:http";
import { withPreload } from "./webkit/preload.mjs";

/** Serves on a free port of 127.0.0.1. `handler` is a request handler, or an HTTP server that does not listen yet. */
export async function listen(handler) {
  const server =
    typeof handler === "function"
      ? createServer(withPreload((request, response) => void handler(request, response)))
      : handler;
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    /** Drops open connections and stops listening. */
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
