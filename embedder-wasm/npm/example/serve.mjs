// Serves this example and the built package: `node serve.mjs [PORT]`. A real site should also compress the code.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TYPES = { ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const HEADERS = {
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; " +
    "style-src 'self'; img-src data:",
};
/** Serves on 127.0.0.1; port 0 chooses a free one. Returns the server and the URL of the example. */
export async function serveExample(port = 0) {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(404, HEADERS).end("Not found\n"));
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { server, url: `http://127.0.0.1:${address.port}/example/` };
}

async function answer(request, response) {
  const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
  if (path === "/") return response.writeHead(302, { location: "/example/" }).end();
  const file = join(ROOT, path.endsWith("/") ? `${path}index.html` : path);
  if (!file.startsWith(join(ROOT, "dist") + sep) && !file.startsWith(join(ROOT, "example") + sep))
    throw new Error(path);
  const bytes = await readFile(file);
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  response.writeHead(200, { ...HEADERS, "content-type": type, "content-length": bytes.length }).end(bytes);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { url } = await serveExample(Number(process.argv[2] ?? 8080));
  console.log(`open ${url}`);
}
