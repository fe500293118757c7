// Builds the insights page into web/dist/insights with Vite: `node web/insights/build.mjs`.
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const CONFIG = fileURLToPath(new URL("vite.config.mjs", import.meta.url));

/** Builds the page. */
export async function buildInsights() {
  await build({ configFile: CONFIG });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildInsights();
