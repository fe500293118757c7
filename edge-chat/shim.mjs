// The module that Cloudflare runs: it hands requests to Rust, and starts Rust again after a panic, which leaves its memory undefined.
// `cargo xtask build worker` bundles it with `index.js`, the bindings of the crate.
import { WorkerEntrypoint } from "cloudflare:workers";
import * as rust from "./index.js";

Error.stackTraceLimit = 100;

const state = rust.__worker_init_state();

addEventListener("error", ({ error }) => noticeTrap(error));

function noticeTrap(error) {
  if (!(error instanceof WebAssembly.RuntimeError)) return;
  console.error("Critical", error);
  state.criticalError = true;
}

/** Runs `call` in an instance of Rust that has not panicked. */
async function run(call) {
  if (state.criticalError) {
    console.log("Reinitializing Wasm application");
    rust.__wbg_reset_state();
    state.criticalError = false;
  }
  try {
    return await call();
  } catch (error) {
    noticeTrap(error);
    throw error;
  }
}

export default class extends WorkerEntrypoint {
  /** @override @param {Request} request */
  fetch(request) {
    return run(() => rust.fetch.call(this, request, this.env, this.ctx));
  }
}

/** The Durable Object. Its part in Rust is lost when Rust starts again; what it stores is not. */
export class UserGate {
  #state;
  #env;
  /** The `rust.UserGate` of that instance. @type {any} */
  #gate;
  #instanceId;

  constructor(state, env) {
    this.#state = state;
    this.#env = env;
  }

  fetch(request) {
    return run(() => this.#current().fetch(request));
  }

  alarm() {
    return run(() => this.#current().alarm());
  }

  #current() {
    if (this.#instanceId !== state.instanceId) {
      this.#gate = new rust.UserGate(this.#state, this.#env);
      this.#instanceId = state.instanceId;
    }
    return this.#gate;
  }
}
