// The built Worker, which also tells the size of its WebAssembly memory: of everything that its Rust code allocates, but not of the
// JavaScript objects that it holds.

/** @type {WebAssembly.Memory[]} */
const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = new Proxy(Instance, {
  construct(target, [module, imports]) {
    const instance = new target(module, imports);
    memories.push(/** @type {WebAssembly.Memory} */ (instance.exports.memory));
    return instance;
  },
});
// After the line above: the Worker creates its instance when it loads.
const built = await import("./index.js");

export const { UserGate } = built;

export default class extends built.default {
  /** @override */
  async fetch(request) {
    if (new URL(request.url).pathname !== "/bench/wasm-bytes") return super.fetch(request);
    return new Response(String(memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)));
  }
}
