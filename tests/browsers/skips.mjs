// Tests that a browser cannot run, with the reason. What only the driver lacks is found by its error instead.
const AXE = "web/tests/browser/axe.test.mjs";
const DEMO = "web/tests/browser/demo.test.mjs";
const EMBEDDER = "embedder-wasm/npm/tests/browser.test.mjs";
const SETTINGS = "web/tests/browser/insights-settings.test.mjs";
const INSIGHTS = "web/tests/browser/insights.test.mjs";
const INSTANT = "web/tests/browser/instant-results.test.mjs";
const LAUNCHER = "web/tests/browser/launcher.test.mjs";
const READER = "web/tests/browser/reader.test.mjs";
const SMALL = "web/tests/browser/small-machines.test.mjs";
const STATES = "web/tests/browser/states.test.mjs";

const NO_CACHE = "WebKitGTK without a profile empties the Cache API of an origin with its last page, for good";

/** By browser and test file: patterns of test names, and the reasons. */
export const SKIPPED = {
  firefox: {
    [SETTINGS]: [[/somebody else has changed/, "Firefox ESR 153 crashes while Playwright or axe inspects that panel"]],
    [SMALL]: [[/second visit/, "its emulated loss of the network also refuses what is in the cache"]],
    [LAUNCHER]: [[/layout/, "Firefox reports no layout shifts"]],
  },
  webkit: {
    [AXE]: [[/: offline/, "WebDriver cannot take the network away"]],
    [DEMO]: [[/cannot load its settings/, "WebDriver cannot intercept requests"]],
    [EMBEDDER]: [
      [/without HTTPS/, "WebKit resolves no invented host names"],
      [/forbids WebAssembly/, "WebKitGTK compiles WebAssembly whatever the policy"],
    ],
    [INSIGHTS]: [[/previous choice/, "WebDriver cannot intercept requests"]],
    [INSTANT]: [[/nobody's results/, "the driver runs the first scripts of a page in the next pages, too"]],
    [SMALL]: [
      [/has no timer/, "the driver has timers of its own in the page"],
      [/panel is drawn|drawn before its sources/, "under its driver, a window of WebKitGTK draws no frames"],
    ],
    [STATES]: [[/a lost network/, "WebDriver cannot take the network away"]],
    [LAUNCHER]: [
      [/layout/, "WebKit reports no layout shifts"],
      [/a cached model/, NO_CACHE],
    ],
    [READER]: [[/^(?!the reader is loaded after the first answer)/, NO_CACHE]],
  },
};
