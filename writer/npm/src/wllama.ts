/** The third-party engine in a file of its own, which is loaded only for a model file. */
export { Wllama } from "@wllama/wllama";
export { createPolicy } from "./trusted-worker.js";
