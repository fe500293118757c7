// The module that Cloudflare runs, in workerd, with bindings that trap on request.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

/** @type {typeof import("miniflare")} */
const { Miniflare, convertV4MiniflareOptions: asOptions } = createRequire(import.meta.url)("miniflare");

/** What the shim needs of `index.js`. Each start counts up; `boom` traps like a Rust panic, `quiet` only leaves its mark. */
const BINDINGS = `
  const state = { criticalError: false, instanceId: 1 };
  export const __worker_init_state = () => state;
  export const __wbg_reset_state = () => void state.instanceId++;
  const reply = (name, request) => {
    if (request.url.includes("boom")) throw new WebAssembly.RuntimeError("unreachable");
    if (request.url.includes("quiet")) state.criticalError = true;
    return new Response(name + state.instanceId);
  };
  export async function fetch(request, env) {
    if (!request.url.includes("gate")) return reply("worker ", request);
    const gate = env.GATE.get(env.GATE.idFromName("visitor"));
    return gate.fetch(request.url.replace("gate", "object"));
  }
  export class UserGate {
    #born = state.instanceId;
    constructor(storage, env) { if (!storage.id || !env.GATE) throw new Error("other arguments"); }
    async fetch(request) {
      const response = reply("", request);
      return new Response("gate of " + this.#born + " in " + (await response.text()));
    }
  }
`;

let worker;
before(async () => {
  worker = new Miniflare(
    asOptions({
      compatibilityDate: "2026-11-17",
      modules: [
        { type: "ESModule", path: "shim.mjs", contents: readFileSync(new URL("../shim.mjs", import.meta.url), "utf8") },
        { type: "ESModule", path: "index.js", contents: BINDINGS },
      ],
      durableObjects: { GATE: "UserGate" },
    }),
  );
  await worker.ready;
});
after(() => worker?.dispose());

const get = async (path) => {
  const response = await worker.dispatchFetch(`http://worker.example/${path}`);
  return response.ok ? response.text() : response.status;
};

test("a panic costs its own request, and the next one runs in a new instance", async () => {
  assert.equal(await get(""), "worker 1");
  assert.equal(await get(""), "worker 1");
  assert.equal(await get("boom"), 500);
  assert.equal(await get(""), "worker 2");
  assert.equal(await get("quiet"), "worker 2");
  assert.equal(await get(""), "worker 3");
});

test("a Durable Object is made again in the new instance, and only then", async () => {
  const before = await get("gate");
  assert.match(before, /^gate of (\d) in \1$/);
  assert.equal(await get("gate"), before);
  assert.equal(await get("gate/boom"), 500);
  const fresh = await get("gate");
  assert.match(fresh, /^gate of (\d) in \1$/);
  assert.notEqual(fresh, before);
  assert.equal(await get("gate"), fresh);
});
