// Sends a reply of the stand-in, faults included.

const PIECE = Buffer.alloc(64 * 1024, "x");

/**
 * A reply of the stand-in, with optional faults.
 * @typedef {object} UpstreamReply
 * @property {number} [status]
 * @property {Record<string, string>} [headers]
 * @property {unknown} [body] sent as JSON
 * @property {number} [delay] milliseconds before anything is sent
 * @property {boolean} [hang] whether nothing is ever sent
 * @property {boolean} [reset] whether the connection is reset before anything is sent
 * @property {string} [text] sent verbatim instead of `body`
 * @property {Buffer} [bytes] sent verbatim instead of `body`
 * @property {"hang" | "reset" | "end"} [cut] what happens after the first half of the body
 * @property {number} [huge] the number of bytes of a JSON string, sent about as fast as they are read; `call.sent` counts them
 */

/** Sends a reply. */
export async function respond(call, response, /** @type {UpstreamReply} */ reply) {
  const { status = 200, headers = {}, delay = 0, hang = false, reset = false, cut, huge } = reply;
  if (delay) await new Promise((resolve) => setTimeout(resolve, delay));
  if (hang) return;
  if (reset) return void response.socket?.resetAndDestroy();
  const payload = payloadOf(reply);
  const announced = cut !== "end" && !huge && payload.length > 0 && { "content-length": payload.length };
  response.writeHead(status, { "content-type": "application/json", ...announced, ...headers });
  if (huge) return flood(call, response, huge);
  if (!cut) return void response.end(payload);
  response.write(payload.subarray(0, payload.length / 2), () => {
    if (cut === "end") response.end();
    // The written bytes must arrive first, or this would be a reset before the body.
    if (cut === "reset") setTimeout(() => response.socket?.resetAndDestroy(), 20);
  });
}

function payloadOf(/** @type {UpstreamReply} */ { status = 200, body, text, bytes }) {
  if (bytes) return bytes;
  if (text !== undefined) return Buffer.from(text);
  return status === 204 ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body === undefined ? [] : body));
}

function flood(call, response, size) {
  call.sent = 0;
  response.write('["');
  const pour = () => {
    while (call.sent < size && !response.destroyed) {
      call.sent += PIECE.length;
      // The pause lets the end of the connection arrive: what is sent meanwhile says nothing about what is read.
      if (!response.write(PIECE)) return void response.once("drain", () => setTimeout(pour, 1));
    }
    response.end('"]');
  };
  pour();
}
