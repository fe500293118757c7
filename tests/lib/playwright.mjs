// playwright-core, loaded with `require`: before an import of CommonJS, Node.js searches the whole source for the names of its exports,
// which takes as long as running it (.4 s of processor time in each test file).
import { createRequire } from "node:module";

export const { chromium, firefox } = /** @type {typeof import("playwright-core")} */ (
  createRequire(import.meta.url)("playwright-core")
);
