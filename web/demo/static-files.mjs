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

/**
 * Answers a GET or HEAD with the file at `urlPath` below `root`, streamed, or with 404. A request for one range of bytes gets
 * that part, so that an interrupted download of a large model continues where it stopped.
 */
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
  const range = readRange(request.headers, stats.size, etag);
  if (range === "unsatisfiable") {
    response.writeHead(416, { ...validators, "content-range": `bytes */${stats.size}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: stats.size - 1 };
  response.writeHead(range ? 206 : 200, {
    ...validators,
    "accept-ranges": "bytes",
    "content-type": MIME_TYPES[extname(path)] ?? "application/octet-stream",
    "content-length": end - start + 1,
    ...(range && { "content-range": `bytes ${start}-${end}/${stats.size}` }),
  });
  if (request.method === "HEAD" || end < start) response.end();
  else await pipeline(createReadStream(path, { start, end }), response);
}

/**
 * The first and last byte that the request asks for. `null`, which means the whole file, without a range, for several ranges,
 * which are optional, and for a range of another version of the file.
 * @returns {{start: number, end: number} | "unsatisfiable" | null}
 */
function readRange(headers, size, etag) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? "") ?? [];
  const ifRange = headers["if-range"];
  if ((!first && !last) || (ifRange && ifRange !== etag)) return null;
  // `-500` are the last 500 bytes.
  const start = first ? Number(first) : Math.max(0, size - Number(last));
  const end = first && last ? Math.min(Number(last), size - 1) : size - 1;
  if (first && last && Number(last) < start) return null;
  return start <= end ? { start, end } : "unsatisfiable";
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
