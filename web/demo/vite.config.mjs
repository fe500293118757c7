import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What is built must run under the policy of serve.mjs: nothing inline, no data: addresses, no file of another host. */
export default {
  root: here("."),
  envDir: false,
  publicDir: false,
  logLevel: "warn",
  build: {
    outDir: here("../dist/demo"),
    emptyOutDir: true,
    // light-dark() as it stands; older targets would get it rewritten.
    target: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    assetsInlineLimit: 0,
  },
};
