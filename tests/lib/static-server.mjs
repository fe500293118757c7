import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Serves a folder on 127.0.0.1 with these headers; `requests` are the paths asked for. */
export async function serve(folder, headers = {}) {
  const requests = [];
  const answer = async (request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    requests.push(path);
    try {
      const file = join(folder, normalize(path === "/" ? "/index.html" : path));
      const content = await readFile(file);
      const type = TYPES[extname(file)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-length": content.length, ...headers }).end(content);
    } catch {
      response.writeHead(404, headers).end();
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
