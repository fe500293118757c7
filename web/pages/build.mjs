// Builds the demo page and the page of administrators into web/dist with Vite: `node web/pages/build.mjs`.
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Builds a page. It must run under its policy (settings.mjs): nothing inline, no `data:` URLs, no files
 * of other hosts.
 * @param {"demo" | "insights"} name
 */
export async function buildPage(name, outDir = here(`../dist/${name}`)) {
  await build({
    configFile: false,
    root: here(`../${name}`),
    // The page works at any path.
    base: "./",
    envDir: false,
    publicDir: false,
    logLevel: "warn",
    build: {
      outDir,
      emptyOutDir: true,
      // Keeps `light-dark()`; older targets would have it rewritten.
      target: ["chrome123", "firefox120", "safari17.5"],
      modulePreload: false,
      assetsInlineLimit: 0,
      // The licences of the bundled packages must accompany the bundle.
      license: { fileName: "THIRD-PARTY.md" },
    },
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await Promise.all([buildPage("demo"), buildPage("insights")]);
