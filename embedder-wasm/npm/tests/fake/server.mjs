// A web server for the package and its model that misbehaves on request.
import { listen } from "../../../../tests/lib/listen.mjs";
import { gzip, MODEL, MODEL_FILE } from "./package.mjs";

const TYPES = { html: "text/html", js: "text/javascript", wasm: "application/wasm" };
const ETAG = '"model-1"';

/**
 * Serves `files` (name → content or handler), and the model with `handlers`: one for each request, the last one for all further
 * requests. `requests` are those for the model, with their responses.
 */
export async function startServer(files = new Map(), headers = {}) {
  /** @type {{ headers: import("node:http").IncomingHttpHeaders, path: string, response: import("node:http").ServerResponse }[]} */
  const requests = [];
  const state = { requests, handlers: [whole], headers, files };
  const { port, origin, close } = await listen((request, response) => {
    const path = new URL(request.url, "http://x").pathname.slice(1);
    for (const [name, value] of Object.entries(state.headers)) response.setHeader(name, value);
    if (path.startsWith(MODEL_FILE)) {
      const handler = state.handlers[Math.min(state.requests.length, state.handlers.length - 1)];
      const { headers } = request;
      state.requests.push({ headers, path, response });
      return handler(request, response);
    }
    const content = path === "" ? "<!doctype html><title>embedder</title>" : state.files.get(path);
    if (typeof content === "function") return content(request, response);
    const type = TYPES[path === "" ? "html" : path.split(".").pop()] ?? "application/octet-stream";
    response.writeHead(content === undefined ? 404 : 200, { "content-type": type }).end(content);
  });
  return Object.assign(state, {
    origin,
    port,
    modelUrl: `${origin}/${MODEL_FILE}`,
    wasmUrl: `${origin}/embedder_bg.wasm`,
    /** Clears `requests` and sets the handlers of the model. */
    respondWith(...handlers) {
      state.requests.length = 0;
      state.handlers = handlers;
    },
    close,
  });
}

/** The whole file for any request. */
export function whole(_request, response) {
  response.writeHead(200, { "content-length": MODEL.length, etag: ETAG }).end(MODEL);
}

/** The requested part, like a server that supports Range. */
export const ranged = partOf(MODEL);

/** Like `ranged`, for another file. */
export function partOf(content) {
  return (request, response) => {
    const { range, "if-range": condition = ETAG } = request.headers;
    if (range && condition === ETAG) return rangedAs({ content })(request, response);
    response.writeHead(200, { "content-length": content.length, etag: ETAG }).end(content);
  };
}

/** The requested part of `content`, described by these headers, whatever the request's conditions are. */
export function rangedAs({ content = MODEL, etag = ETAG, total = content.length }) {
  return (request, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range)[1]);
    response.writeHead(206, {
      "content-length": content.length - start,
      "content-range": `bytes ${start}-${content.length - 1}/${total}`,
      etag,
    });
    response.end(content.subarray(start));
  };
}

/** Length of the pieces of `inPieces`. */
export const PIECE_BYTES = 700_000;

/** The headers of a file that is also served in pieces. */
export const PIECES = {
  etag: ETAG,
  "evidence-chat-piece-bytes": String(PIECE_BYTES),
  "access-control-expose-headers": "etag, evidence-chat-piece-bytes",
};

/** The whole file for any request, whatever its range, like a host without ranges; but also the file's pieces. */
export function inPieces(request, response) {
  const [, index] = /\.piece(\d+)$/.exec(request.url) ?? [];
  const start = Number(index ?? 0) * PIECE_BYTES;
  const content = MODEL.subarray(start, index === undefined ? MODEL.length : start + PIECE_BYTES);
  response.writeHead(200, { "content-length": content.length, ...(index === undefined && PIECES) }).end(content);
}

/** Sends the first `length` bytes of the file and drops the connection. */
export function cutAfter(
  length,
  /** @type {{ headers?: Record<string, string>, content?: Buffer }} */ {
    headers = { etag: ETAG },
    content = MODEL,
  } = {},
) {
  return (_request, response) => {
    response.writeHead(200, { "content-length": content.length, ...headers });
    response.write(content.subarray(0, length), () => setTimeout(() => response.destroy(), 20));
  };
}

/** Ends normally after `length` bytes, without a Content-Length. */
export function endAfter(length) {
  return (_request, response) => {
    response.writeHead(200);
    response.end(MODEL.subarray(0, length));
  };
}

/** Sends the first `length` bytes and then nothing. */
export function stallAfter(length, headers = {}) {
  return (_request, response) => {
    response.writeHead(200, { "content-length": MODEL.length, ...headers });
    response.write(MODEL.subarray(0, length));
  };
}

/** Sends the file slowly, in chunks. */
export function slowly(chunks, pauseMs) {
  return async (_request, response) => {
    response.writeHead(200, { "content-length": MODEL.length });
    const size = Math.ceil(MODEL.length / chunks);
    for (let start = 0; start < MODEL.length; start += size) {
      response.write(MODEL.subarray(start, start + size));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    response.end();
  };
}

/** Sends a WebAssembly module slowly, in chunks. */
export function slowModule(chunks, pauseMs) {
  return async (_request, response) => {
    response.writeHead(200, { "content-type": "application/wasm" });
    response.write(Buffer.from([0, 0x61, 0x73, 0x6d]));
    for (let chunk = 0; chunk < chunks; chunk++) {
      response.write(Buffer.alloc(1000));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    response.end();
  };
}

export function gzipped(_request, response) {
  const compressed = gzip(MODEL);
  response
    .writeHead(200, { "content-encoding": "gzip", "content-length": compressed.length, etag: ETAG })
    .end(compressed);
}

export function status(code, headers = {}) {
  return (_request, response) => response.writeHead(code, headers).end();
}

/** The response of a single-page application to every unknown path. */
export function webPage(_request, response) {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<!doctype html><title>App</title>");
}

export function unreachable(request) {
  request.socket.destroy();
}

/** The file with one bit flipped. */
export function damaged(_request, response) {
  const bytes = Buffer.from(MODEL);
  bytes[bytes.length >> 1] ^= 1;
  response.writeHead(200, { "content-length": bytes.length, etag: ETAG }).end(bytes);
}

/** Another file, of another length. */
export function anotherFile(_request, response) {
  response.writeHead(200, { "content-length": 1000 }).end(Buffer.alloc(1000));
}
