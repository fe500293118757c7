import { fileURLToPath } from "node:url";
import { thirdPartyLicences } from "../demo/third-party.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The built page must run under the policy of policy.mjs: nothing inline, no `data:` URLs, no files of other hosts. */
export default {
  root: here("."),
  // The page works at any path.
  base: "./",
  envDir: false,
  publicDir: false,
  logLevel: "warn",
  plugins: [thirdPartyLicences("the insights page")],
  build: {
    outDir: here("../dist/insights"),
    emptyOutDir: true,
    // Keeps `light-dark()`; older targets would have it rewritten.
    target: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    assetsInlineLimit: 0,
  },
};
