// Builds the demo page into web/dist/demo with Vite: `node web/demo/build.mjs`.
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const CONFIG = fileURLToPath(new URL("vite.config.mjs", import.meta.url));

/**
 * Builds the page, without the widget's files.
 * @param {{ outDir?: string }} [options] `outDir` defaults to web/dist/demo
 */
export async function buildDemo({ outDir } = {}) {
  await build({ configFile: CONFIG, build: outDir ? { outDir } : {} });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildDemo();
