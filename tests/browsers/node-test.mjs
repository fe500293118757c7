// `node:test` for tests of another browser: a test is skipped if skips.mjs names it, or if it needs what the driver does not have.
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, beforeEach, describe, test as builtin } from "node:test";
import { SKIPPED } from "./skips.mjs";

export { after, afterEach, before, beforeEach, describe };

/**
 * Errors of Playwright, the drivers and the browsers for what they cannot do, and what that is, unless the error says it.
 * @type {[error: RegExp, feature?: string][]}
 */
const MISSING = [
  [/CDP session is only available in Chromium/, "Chrome DevTools Protocol"],
  [/unsupported operation\s+Message: (.*)/],
  [/unknown command\s+Message: (.*)/],
  [/'([\w-]+)' \(value of 'name' member of PermissionDescriptor\) is not a valid value/],
  [
    /^page\.evaluate: NotAllowedError: The request is not allowed by the user agent/,
    "permission to read the clipboard",
  ],
];

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const FILE = relative(REPOSITORY, process.argv[1] ?? "");
const browser = process.env.TEST_BROWSER ?? "chromium";

export const test = skipping(builtin);

export default test;

/** Skips tests that `run` would run, also those that they contain. */
function skipping(run) {
  return (name, ...rest) => {
    const action = rest.pop();
    const [options = {}] = rest;
    const reason = SKIPPED[browser]?.[FILE]?.find(([pattern]) => pattern.test(name))?.[1];
    if (reason) return run(name, { ...options, skip: `platform: ${reason}` }, action);
    return run(name, options, async (t) => {
      t.test = skipping(t.test.bind(t));
      try {
        await action(t);
      } catch (error) {
        const missing = missingFeature(error);
        if (missing === undefined) throw error;
        t.skip(`platform: the driver of ${browser} has no ${missing}`);
      }
    });
  };
}

function missingFeature(error) {
  for (const [pattern, feature] of MISSING) {
    const found = pattern.exec(String(error?.message));
    if (found) return feature ?? found[1];
  }
  return undefined;
}
