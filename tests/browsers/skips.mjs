// Tests that a browser cannot run, with the reason. What only the driver lacks is found by its error instead.
const EMBEDDER = "embedder-wasm/npm/tests/browser.test.mjs";
const LAUNCHER = "web/tests/browser/launcher.test.mjs";
const STATES = "web/tests/browser/states.test.mjs";

/** By browser and test file: patterns of test names, and the reasons. */
export const SKIPPED = {
  firefox: {
    [LAUNCHER]: [[/layout/, "Firefox reports no layout shifts"]],
  },
  webkit: {
    [EMBEDDER]: [
      [/without HTTPS/, "WebKit resolves no invented host names"],
      [/forbids WebAssembly/, "WebKitGTK compiles WebAssembly whatever the policy"],
    ],
    [STATES]: [[/a lost network/, "WebDriver cannot take the network away"]],
    [LAUNCHER]: [[/layout/, "WebKit reports no layout shifts"]],
  },
};
