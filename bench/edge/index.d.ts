// The built Worker (edge-chat/build/index.js), in whose folder measured-worker.mjs runs.
export { default, UserGate } from "../../edge-chat/tests/support/index.js";
