// Wraps the built Worker with a stand-in for the binding of Workers AI. A request with the header `x-test-ai` sets what the
// binding answers and returns its calls so far.
import * as built from "./index.js";

/** @type {{ throws?: string, chunks?: string[], result?: unknown, stalls?: boolean }} */
let script = {};
const calls = [];

/** The Worker accepts the binding by the name of its class. */
class Ai {
  async run(model, input) {
    const call = { model, input, isCancelled: false };
    calls.push(call);
    if (script.throws) throw new Error(script.throws);
    if (script.result !== undefined) return script.result;
    const { chunks = [], stalls = false } = script;
    return new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        if (!stalls) controller.close();
      },
      cancel() {
        call.isCancelled = true;
      },
    });
  }
}

export const UserGate = built.UserGate;

export default class extends built.default {
  constructor(context, env) {
    super(context, { ...env, AI: new Ai() });
  }

  /** @override */
  async fetch(request) {
    if (!request.headers.has("x-test-ai")) return super.fetch(request);
    if (request.method === "POST") script = await request.json();
    return Response.json(calls);
  }
}
