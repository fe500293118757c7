// Builds the insights page into web/dist/insights with Vite: `node web/insights/build.mjs`.
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";
import { thirdPartyLicences } from "../demo/third-party.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Builds the page. It must run under the policy of policy.mjs: nothing inline, no `data:` URLs, no files of other hosts. */
export async function buildInsights() {
  await build({
    configFile: false,
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
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildInsights();
