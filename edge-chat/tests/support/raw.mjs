// Requests that no well-behaved client sends, byte by byte over a socket.
import { once } from "node:events";
import { connect } from "node:net";

/**
 * @typedef {object} RawRequest
 * @property {string} [method]
 * @property {string | Buffer} [target] the path in the request line
 * @property {(string | Buffer)[][]} [headers] pairs of name and value, in addition to Host and Connection
 * @property {(Buffer | number)[]} [pieces] pieces of the body; a number is a pause in milliseconds
 */

/**
 * Sends a request and reads the response.
 * @param {string} url of the Worker
 * @param {RawRequest} request
 * @param {number} [limitMs]
 * @returns {Promise<{ status: number, headers: Headers, bytes: Buffer, ms: number }>}
 */
export async function sendRaw(url, request, limitMs = 5000) {
  const { method = "GET" } = request;
  const started = performance.now();
  const socket = openRaw(url, request);
  socket.setTimeout(limitMs, () => socket.destroy(new Error(`no response within ${limitMs} ms`)));
  // A server that rejects early may close before it has read everything.
  let failure;
  socket.on("error", (error) => (failure = error));
  const received = [];
  socket.on("data", (piece) => {
    received.push(piece);
    if (parse(method, Buffer.concat(received))?.isWhole) socket.destroy();
  });
  await once(socket, "close").catch(() => {});
  const response = parse(method, Buffer.concat(received));
  if (!response) throw failure ?? new Error("closed without a response");
  return { ...response, ms: performance.now() - started };
}

/** Sends a request and returns the open connection. */
export function openRaw(url, /** @type {RawRequest} */ { method = "GET", target = "/", headers = [], pieces = [] }) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  /** @type {(string | Buffer)[][]} */
  const all = [["Host", host], ["Connection", "close"], ...headers];
  socket.write(Buffer.concat([Buffer.from(`${method} `), Buffer.from(target), Buffer.from(" HTTP/1.1\r\n")]));
  for (const [name, value] of all) {
    socket.write(Buffer.concat([Buffer.from(`${String(name)}: `), Buffer.from(value), Buffer.from("\r\n")]));
  }
  socket.write("\r\n");
  void writeAll(socket, pieces);
  return socket;
}

async function writeAll(socket, pieces) {
  for (const piece of pieces) {
    if (typeof piece === "number") await new Promise((resolve) => setTimeout(resolve, piece));
    else if (socket.writable) socket.write(piece);
  }
}

/** The response received so far; `undefined` before its headers. */
function parse(method, response) {
  const end = response.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine, ...lines] = response.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const status = Number(statusLine.split(" ")[1]);
  return { status, headers, ...bodyOf(method, status, headers, response.subarray(end + 4)) };
}

function bodyOf(method, status, headers, bytes) {
  if (method === "HEAD" || status === 204 || status === 304) return { bytes: Buffer.alloc(0), isWhole: true };
  if (headers.get("transfer-encoding") === "chunked") return unchunk(bytes);
  return { bytes, isWhole: headers.has("content-length") && bytes.length >= Number(headers.get("content-length")) };
}

function unchunk(bytes) {
  const pieces = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = lineEnd < 0 ? NaN : parseInt(bytes.subarray(at, lineEnd).toString(), 16);
    if (!(size > 0)) return { bytes: Buffer.concat(pieces), isWhole: size === 0 };
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
