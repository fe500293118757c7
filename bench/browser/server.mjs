// A local static server with the headers of an ordinary site: cached for an hour, with an ETag.
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/**
 * Serves folders below the prefixes they are mounted at (`{"/page/": folder}`; the longest matching prefix wins).
 * `takeBytes()` returns the number of bytes of files sent since the last call.
 */
export async function serve(mounts) {
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length);
  let bytes = 0;
  const respond = async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const prefix = prefixes.find((prefix) => path.startsWith(prefix));
    const file = prefix === undefined ? undefined : join(mounts[prefix], path.slice(prefix.length));
    const found = file === undefined ? null : await stat(file).catch(() => null);
    if (file === undefined || !found?.isFile()) return response.writeHead(404).end();
    const etag = `"${found.size}-${Math.floor(found.mtimeMs)}"`;
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    response.setHeader("Cache-Control", "public, max-age=3600");
    response.setHeader("ETag", etag);
    if (request.headers["if-none-match"] === etag) return response.writeHead(304).end();
    response.setHeader("Content-Length", found.size);
    if (request.method === "HEAD") return response.end();
    bytes += found.size;
    createReadStream(file).pipe(response);
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    takeBytes() {
      const sent = bytes;
      bytes = 0;
      return sent;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
