import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { extname, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";

const MIME_TYPES = {
  ".css": "text/css; charset=utf-8",
  ".gif": "image/gif",
  ".gz": "application/gzip",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webp": "image/webp",
};

/** Answers a GET or HEAD with the file at `urlPath` below `root`, streamed, or with 404. */
export async function sendFile(request, response, root, urlPath, cacheControl) {
  const path = root && resolveBelow(root, urlPath);
  const stats = path && (await stat(path).catch(() => null));
  if (!stats?.isFile()) {
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("Not found\n");
    return;
  }
  const etag = `"${stats.size.toString(36)}-${Math.trunc(stats.mtimeMs).toString(36)}"`;
  const validators = { etag, "cache-control": cacheControl };
  if (request.headers["if-none-match"]?.split(/\s*,\s*/).includes(etag)) {
    response.writeHead(304, validators).end();
    return;
  }
  response.writeHead(200, {
    ...validators,
    // A download from this computer need not continue where it stopped.
    "accept-ranges": "none",
    "content-type": MIME_TYPES[extname(path)] ?? "application/octet-stream",
    "content-length": stats.size,
  });
  if (request.method === "HEAD") response.end();
  else await pipeline(createReadStream(path), response);
}

/** The absolute path, or `null` if it leaves `root`, names a hidden file, or is malformed. */
function resolveBelow(root, urlPath) {
  let decoded;
  try {
    decoded = decodeURIComponent(urlPath);
  } catch {
    return null;
  }
  if (decoded.includes("\0") || /(^|[/\\])\./.test(decoded)) return null;
  const base = resolve(root);
  const path = resolve(base, `.${sep}${decoded}`);
  return path.startsWith(base + sep) ? path : null;
}
