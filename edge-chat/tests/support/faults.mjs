// The faults of an upstream and their outcomes.

export const HUGE_BYTES = 100 * 2 ** 20;

/**
 * @typedef {object} Fault
 * @property {import("./upstream/respond.mjs").UpstreamReply} reply the behaviour of the stand-in
 * @property {number} status the status of a response that depends on the call
 * @property {boolean} [passes] whether the fault is transient, so that an idempotent call is retried once
 * @property {boolean} [inBody] whether the fault is in the body and affects only calls that read it
 */

/** @type {Record<string, Fault>} */
export const FAULTS = {
  "slow, but in time": { reply: { delay: 150 }, status: 200 },
  "hangs before the headers": { reply: { hang: true }, status: 504 },
  "hangs in the body": { reply: { cut: "hang" }, status: 504 },
  "reset before the headers": { reply: { reset: true }, status: 503, passes: true },
  "reset in the body": { reply: { cut: "reset" }, status: 503, passes: true },
  "status 500": { reply: { status: 500, body: { message: "internal secret" } }, status: 503 },
  "status 429": { reply: { status: 429, headers: { "retry-after": "1" } }, status: 503, passes: true },
  "status 502": { reply: { status: 502, text: "<html>bad gateway</html>" }, status: 503, passes: true },
  "status 503": { reply: { status: 503, headers: { "retry-after": "120" } }, status: 503, passes: true },
  "status 504": { reply: { status: 504, text: "" }, status: 503, passes: true },
  "redirect elsewhere": { reply: { status: 302, headers: { location: "/trap" } }, status: 503 },
  "permanent redirect elsewhere": { reply: { status: 308, headers: { location: "/trap" } }, status: 503 },
  "wrong JSON": { reply: { body: { unexpected: "internal secret" } }, status: 503, inBody: true },
  "truncated JSON": { reply: { cut: "end" }, status: 503, inBody: true },
  "no JSON": {
    reply: { text: "<html>internal secret</html>", headers: { "content-type": "text/html" } },
    status: 503,
    inBody: true,
  },
  "empty body": { reply: { text: "" }, status: 503, inBody: true },
  "100 MB of JSON": { reply: { huge: HUGE_BYTES }, status: 503 },
};
