// A proxy in front of the local Supabase that has faults at random, before and after the database did its work.
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../../local/service.mjs";

/** Chances in percent. */
const FAULTS = {
  none: 84,
  delay: 3,
  "status 500": 1,
  "status 503": 1.5,
  reset: 1.5,
  hang: 1,
  "reset after the work": 1.5,
  "status 502 after the work": 1.5,
  "hang after the work": 1,
  "cut answer": 2,
  "slow answer": 2,
};
const [MIN_DELAY_MS, MAX_DELAY_MS] = [50, 800];
const PIECES_OF_SLOW_ANSWER = 5;
const MAX_PIECE_DELAY_MS = 300;
/** Headers that describe one connection, and not the message. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "content-length"];

/** @typedef {{ status: number, headers: import("node:http").IncomingHttpHeaders, body: Buffer }} Answer */

/**
 * @param {object} options
 * @param {string} options.target the URL of the local Supabase
 * @param {ReturnType<import("../../../tests/lib/random.mjs").createRandom>} options.random
 */
export async function startProxy({ target, random }) {
  const agent = new Agent({ keepAlive: true });
  /** How often each fault occurred. @type {Record<string, number>} */
  const faults = {};
  let isFaulty = false;
  let downUntil = 0;

  const chooseFault = () => {
    if (performance.now() < downUntil) return "outage";
    return isFaulty ? random.pick(FAULTS) : "none";
  };
  const serve = async (incoming, outgoing) => {
    const body = await readAll(incoming);
    const fault = chooseFault();
    faults[fault] = (faults[fault] ?? 0) + 1;
    if (isBeforeTheWork(fault)) return failBefore(fault, outgoing);
    if (fault === "delay") await sleep(random.between(MIN_DELAY_MS, MAX_DELAY_MS));
    const answer = await forward(target, agent, incoming, body);
    return deliver(fault, answer, outgoing, random);
  };
  const server = createServer((incoming, outgoing) => {
    // The Worker may leave at any time, and the database may be gone at the end.
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const url = await listen(server, 0);
  return {
    url,
    faults,
    /** Turns the faults on or off. */
    setFaulty(/** @type {boolean} */ value) {
      isFaulty = value;
    },
    /** Resets every connection for some time. */
    beDown(/** @type {number} */ ms) {
      downUntil = performance.now() + ms;
    },
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

function isBeforeTheWork(fault) {
  return ["outage", "reset", "hang", "status 500", "status 503"].includes(fault);
}

function failBefore(fault, outgoing) {
  if (fault === "hang") return;
  if (fault === "outage" || fault === "reset") return outgoing.socket.resetAndDestroy();
  outgoing.writeHead(Number(fault.slice(-3)), { "content-type": "application/json" }).end('{"message":"injected"}');
}

async function deliver(fault, { status, headers, body }, outgoing, random) {
  if (fault === "hang after the work") return;
  if (fault === "reset after the work") return outgoing.socket.resetAndDestroy();
  if (fault === "status 502 after the work") return outgoing.writeHead(502).end("<html>injected</html>");
  outgoing.writeHead(status, { ...headers, "content-length": body.length });
  if (fault === "cut answer") {
    outgoing.write(body.subarray(0, body.length / 2), () => outgoing.socket.resetAndDestroy());
    return;
  }
  if (fault === "slow answer") {
    const size = Math.ceil(body.length / PIECES_OF_SLOW_ANSWER) || 1;
    for (let at = 0; at < body.length; at += size) {
      await sleep(random.between(0, MAX_PIECE_DELAY_MS));
      outgoing.write(body.subarray(at, at + size));
    }
    return outgoing.end();
  }
  outgoing.end(body);
}

/** @returns {Promise<Answer>} */
async function forward(target, agent, incoming, body) {
  const headers = withoutHopByHop(incoming.headers);
  const options = { agent, method: incoming.method, headers: { ...headers, "content-length": body.length } };
  const sent = request(new URL(incoming.url, target), options).end(body);
  const [answer] = await once(sent, "response");
  return { status: answer.statusCode, headers: withoutHopByHop(answer.headers), body: await readAll(answer) };
}

function withoutHopByHop(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

async function readAll(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}
