// An OpenAI-compatible language model that says and breaks what a test wants, to try every fault of scenarios.mjs on a client.
// As a module:
//
//   const model = await startScriptedModel("stall");      // model.url is the base URL, as in CHAT_LLM_URL
//   model.play({ scenario: "ok", text: "…" });            // from the next request on
//   model.play(["context-exceeded", "ok"]);               // one a request; the last one stays
//   model.play((request) => ({ scenario: "ok", text: request.json.messages.at(-1).content }));
//   model.requests[0].headers, .json, await .ended, .isAborted
//
// As a local service (see local/service.mjs), for clients in other processes: `node scripted-model.mjs` prints `ready URL`.
// `POST URL/play` with the JSON of a step or of several changes the scenario, and `GET URL/requests` lists the requests.
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { listen, runService } from "../../../local/service.mjs";
import { RESET, SCENARIOS, STALL } from "./scenarios.mjs";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { Reply, Step } from "./scenarios.mjs" */

/**
 * Starts it on a free port.
 * @param {Steps} [steps] what it answers; "connect-refused" closes the port
 * @param {number} [port]
 */
export async function startScriptedModel(steps = "ok", port = 0) {
  const model = new ScriptedModel();
  await model.start(port);
  model.play(steps);
  if (steps === "connect-refused") await model.close();
  return model;
}

/** @typedef {string | Step | (string | Step)[] | ((request: RecordedRequest) => Step)} Steps */

/** A request that the model got. */
class RecordedRequest {
  method;
  path;
  headers;
  /** Whether the client left before the end of the answer. Final when `ended` is resolved. */
  isAborted = false;
  /** Whether the scenario broke the connection. */
  wasReset = false;
  /** Resolves when the answer is complete or the client has left. */
  ended;

  constructor(
    /** @type {IncomingMessage} */ request,
    /** @type {string} */ body,
    /** @type {ServerResponse} */ response,
  ) {
    this.method = request.method;
    this.path = request.url;
    this.headers = request.headers;
    this.body = body;
    this.ended = new Promise((resolve) => {
      response.once("close", () => {
        this.isAborted = !response.writableFinished && !this.wasReset;
        resolve(undefined);
      });
    });
  }

  get json() {
    return JSON.parse(this.body);
  }

  toJSON() {
    const { method, path, headers, body, isAborted } = this;
    return { method, path, headers, body, isAborted };
  }
}

class ScriptedModel {
  /** The base URL of the API. */
  url = "";
  /** Requests for completions, oldest first. */
  /** @type {RecordedRequest[]} */
  requests = [];
  /** What arrived where "redirect" leads: a client that follows sends the passages to a stranger. */
  /** @type {RecordedRequest[]} */
  redirected = [];

  /** @type {(request: RecordedRequest) => Step} */
  #next = () => ({ scenario: "ok" });
  #server = createServer((request, response) => void this.#answer(request, response));
  #elsewhere = createServer((request, response) => {
    void readBody(request).then((body) => {
      this.redirected.push(new RecordedRequest(request, body, response));
      response.end();
    });
  });
  #elsewhereUrl = "";

  async start(/** @type {number} */ port) {
    this.#elsewhereUrl = await listen(this.#elsewhere, 0);
    this.url = `${await listen(this.#server, port)}/v1`;
  }

  /** Sets what the next requests are answered with. */
  play(/** @type {Steps} */ steps) {
    if (typeof steps === "function") {
      this.#next = steps;
      return;
    }
    const list = [steps].flat().map((step) => (typeof step === "string" ? { scenario: step } : step));
    const unknown = list.find(({ scenario }) => !Object.hasOwn(SCENARIOS, scenario));
    if (unknown) {
      throw new Error(`no scenario "${unknown.scenario}"; there are ${Object.keys(SCENARIOS).join(", ")}`);
    }
    this.#next = () => (list.length > 1 ? list.shift() : list[0]) ?? { scenario: "ok" };
  }

  async close() {
    for (const server of [this.#server, this.#elsewhere]) {
      if (!server.listening) continue;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    }
  }

  async #answer(/** @type {IncomingMessage} */ request, /** @type {ServerResponse} */ response) {
    try {
      const body = await readBody(request);
      const record = new RecordedRequest(request, body, response);
      if (`${request.method} ${request.url}` === "POST /v1/chat/completions") {
        this.requests.push(record);
        const step = this.#next(record);
        await send(SCENARIOS[step.scenario]({ location: `${this.#elsewhereUrl}/v1`, ...step }), step, record, response);
      } else {
        await this.#administer(record, response);
      }
    } catch (error) {
      // The client left while its request was read or something was sent. Anything else is a mistake here.
      if (!response.destroyed) console.error(error);
      response.destroy();
    }
  }

  async #administer(/** @type {RecordedRequest} */ { method, path, body }, /** @type {ServerResponse} */ response) {
    const json = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (method === "GET" && path === "/v1/models") {
      json(200, { object: "list", data: [{ id: "scripted-model", object: "model" }] });
    } else if (method === "GET" && path === "/requests") {
      const { requests, redirected } = this;
      json(200, { requests, redirected });
    } else if (method === "POST" && path === "/play") {
      try {
        this.play(JSON.parse(body));
        json(200, {});
      } catch (error) {
        json(400, { error: { message: /** @type {Error} */ (error).message } });
      }
    } else {
      json(404, { error: { code: 404, message: "File Not Found", type: "not_found_error" } });
    }
  }
}

/**
 * @param {Reply} reply
 * @param {Step} step
 * @param {RecordedRequest} record
 * @param {ServerResponse} response
 */
async function send({ status = 200, headers, silent, parts = [] }, step, record, response) {
  if (silent) return;
  response.socket?.setNoDelay(true);
  response.writeHead(status, headers ?? { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  await step.held;
  for (const packet of step.writes ? cut(parts, step.writes) : parts) {
    if (response.destroyed) return;
    if (packet === STALL) return;
    if (packet === RESET) {
      record.wasReset = true;
      response.socket?.resetAndDestroy();
      return;
    }
    if (step.delayMs) await sleep(step.delayMs);
    if (!response.write(packet)) await Promise.race([once(response, "drain"), once(response, "close")]);
    // Lets the client read this packet before the next one is sent, and the server notice that the client left.
    await new Promise(setImmediate);
  }
  response.end();
}

/**
 * The same bytes in other packets.
 * @param {Iterable<string | symbol>} parts
 * @param {number[] | "bytes"} writes
 */
function* cut(parts, writes) {
  const all = [...parts];
  const bytes = Buffer.from(all.filter((part) => typeof part === "string").join(""));
  const places = writes === "bytes" ? bytes.keys() : writes;
  let start = 0;
  for (const end of [...places, bytes.length]) {
    if (end > start) yield bytes.subarray(start, end);
    start = Math.max(start, end);
  }
  yield* all.filter((part) => typeof part === "symbol");
}

async function readBody(/** @type {IncomingMessage} */ request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runService({
    serve: async (port, ready) => {
      const model = await startScriptedModel("ok", port);
      await ready(new URL(model.url).origin);
      await model.close();
    },
  });
}
