// A web server for the package and its model that misbehaves on request.
import { once } from "node:events";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { MODEL, MODEL_FILE } from "./package.mjs";

const TYPES = { html: "text/html", js: "text/javascript", wasm: "application/wasm" };
const ETAG = '"model-1"';

/**
 * Serves `files` (name → content) and, at the model's name, what `answers` says: one function for each request, the
 * last one for all further ones. `requests` are those for the model, with the responses they got.
 */
export async function startServer(files = new Map(), headers = {}) {
  const state = { requests: [], answers: [whole], headers, files };
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname.slice(1);
    for (const [name, value] of Object.entries(state.headers)) response.setHeader(name, value);
    if (path === MODEL_FILE) {
      const answer = state.answers[Math.min(state.requests.length, state.answers.length - 1)];
      const { headers } = request;
      state.requests.push({ headers, response });
      return answer(request, response);
    }
    const content = path === "" ? "<!doctype html><title>embedder</title>" : state.files.get(path);
    const type = TYPES[path === "" ? "html" : path.split(".").pop()] ?? "application/octet-stream";
    response.writeHead(content === undefined ? 404 : 200, { "content-type": type }).end(content);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  return Object.assign(state, {
    origin,
    port: server.address().port,
    modelUrl: `${origin}/${MODEL_FILE}`,
    wasmUrl: `${origin}/embedder_bg.wasm`,
    /** Forgets what was requested and answers as told. */
    play(...answers) {
      state.requests.length = 0;
      state.answers = answers;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** The whole file, whatever was asked for. */
export function whole(_request, response) {
  response.writeHead(200, { "content-length": MODEL.length, etag: ETAG }).end(MODEL);
}

/** What was asked for, as a server that knows Range does it. */
export function ranged(request, response) {
  const { range, "if-range": condition = ETAG } = request.headers;
  if (!range || condition !== ETAG) return whole(request, response);
  const start = Number(/^bytes=(\d+)-$/.exec(range)[1]);
  response.writeHead(206, {
    "content-length": MODEL.length - start,
    "content-range": `bytes ${start}-${MODEL.length - 1}/${MODEL.length}`,
    etag: ETAG,
  });
  response.end(MODEL.subarray(start));
}

/** Sends the first `length` bytes of a whole file and drops the connection. */
export function cutAfter(length, { headers = { etag: ETAG }, content = MODEL } = {}) {
  return (_request, response) => {
    response.writeHead(200, { "content-length": content.length, ...headers });
    response.write(content.subarray(0, length), () => setTimeout(() => response.destroy(), 20));
  };
}

/** Ends well after `length` bytes, as a server does that does not know how many there should be. */
export function endAfter(length) {
  return (_request, response) => {
    response.writeHead(200);
    response.end(MODEL.subarray(0, length));
  };
}

/** Sends the first `length` bytes and then nothing more. */
export function stallAfter(length) {
  return (_request, response) => {
    response.writeHead(200, { "content-length": MODEL.length });
    response.write(MODEL.subarray(0, length));
  };
}

/** Sends the file slowly, in pieces. */
export function slowly(pieces, pauseMs) {
  return async (_request, response) => {
    response.writeHead(200, { "content-length": MODEL.length });
    const size = Math.ceil(MODEL.length / pieces);
    for (let start = 0; start < MODEL.length; start += size) {
      response.write(MODEL.subarray(start, start + size));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    response.end();
  };
}

export function gzipped(_request, response) {
  const packed = gzipSync(MODEL);
  response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length, etag: ETAG }).end(packed);
}

export function status(code, headers = {}) {
  return (_request, response) => response.writeHead(code, headers).end();
}

/** What a server of a single-page application says to every unknown address. */
export function webPage(_request, response) {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<!doctype html><title>App</title>");
}

export function unreachable(request) {
  request.socket.destroy();
}

/** A file of the right length with one wrong bit. */
export function damaged(_request, response) {
  const bytes = Buffer.from(MODEL);
  bytes[bytes.length >> 1] ^= 1;
  response.writeHead(200, { "content-length": bytes.length, etag: ETAG }).end(bytes);
}

/** Another file, of another length. */
export function anotherFile(_request, response) {
  response.writeHead(200, { "content-length": 1000 }).end(Buffer.alloc(1000));
}
