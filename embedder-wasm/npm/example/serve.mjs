// Serves this example and the built package: `node serve.mjs [PORT]`. Compresses with brotli or gzip, as a site should: the
// model is 23 MB uncompressed, and 15 MB compressed.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TYPES = { ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const HEADERS = {
  "cache-control": "no-cache",
  vary: "accept-encoding",
  "content-security-policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; " +
    "style-src 'self'; img-src data:",
};
/** Quality 5 takes a second for the model; a real site should compress once, with quality 11. */
const encodings = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};
const compressed = new Map();

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
  const headers = { ...HEADERS, "content-type": TYPES[extname(file)] ?? "application/octet-stream" };
  const encoding = Object.keys(encodings).find((name) => request.headers["accept-encoding"]?.includes(name));
  if (!encoding) return response.writeHead(200, { ...headers, "content-length": bytes.length }).end(bytes);
  const key = `${encoding} ${file}`;
  if (!compressed.has(key)) compressed.set(key, encodings[encoding](bytes));
  const body = await compressed.get(key);
  response.writeHead(200, { ...headers, "content-encoding": encoding, "content-length": body.length }).end(body);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { url } = await serveExample(Number(process.argv[2] ?? 8080));
  console.log(`open ${url}`);
}
