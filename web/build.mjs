// Builds dist/: the launcher, the class without it, the client alone, what they load later, the embedder's worker and
// WebAssembly beside them, the type declarations, the manifest, the hashes of all files, and the demo page. Builds the
// embedder package first.
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildEmbedderPackage } from "../embedder-wasm/npm/build.mjs";
import { buildBundles } from "./build/bundles.mjs";
import { buildIntegrity } from "./build/integrity.mjs";
import { buildManifest } from "./build/manifest.mjs";
import { buildDemo } from "./demo/build.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Builds `dist/` and returns its path. */
export async function buildWidgetPackage() {
  const embedder = await buildEmbedderPackage();
  const dist = `${here}dist`;
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await Promise.all([buildBundles(dist), copyEmbedder(embedder, dist), buildManifest(dist), buildDemo()]);
  await promisify(execFile)(process.execPath, [tsc, "-p", `${here}tsconfig.types.json`]);
  await buildIntegrity(dist);
  return dist;
}

/** The bundles look for worker, WebAssembly and (without `model-url`) the model beside themselves. */
async function copyEmbedder(from, to) {
  const isNeeded = (file) => /^worker\.js(\.map)?$|\.(wasm|safetensors)$/.test(file);
  const files = (await readdir(from)).filter(isNeeded);
  await Promise.all(files.map((file) => copyFile(`${from}/${file}`, `${to}/${file}`)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildWidgetPackage()}`);
}
