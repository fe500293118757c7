import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { listen } from "./listen.mjs";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Serves a folder on 127.0.0.1 with these headers; `requests` are the requested paths. */
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
  return { ...(await listen(answer)), requests };
}
