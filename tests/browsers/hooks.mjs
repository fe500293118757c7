// Loaded with `--import` before test files that run in Firefox or WebKit: their `node:test` is that of node-test.mjs, which skips what
// the browser or its driver cannot do.
import { registerHooks } from "node:module";

const WRAPPER = new URL("node-test.mjs", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "node:test" && context.parentURL !== WRAPPER) return { url: WRAPPER, shortCircuit: true };
    return next(specifier, context);
  },
});
