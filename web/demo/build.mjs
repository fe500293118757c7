// Builds the demo page into web/dist/demo with Vite: `node web/demo/build.mjs`.
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const CONFIG = fileURLToPath(new URL("vite.config.mjs", import.meta.url));

/** Builds the page into `outDir` (default: web/dist/demo), without the widget's files. */
export async function buildDemo({ outDir } = {}) {
  await build({ configFile: CONFIG, build: outDir ? { outDir } : {} });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildDemo();
