// Builds the embedder package and then dist/: the entry files, the chunks they load later, the embedder's worker and
// WebAssembly, the type declarations, the custom-elements manifest, the hashes of all files, and the demo page.
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildEmbedderPackage } from "../../embedder-wasm/npm/build.mjs";
import { buildBundles } from "./bundles.mjs";
import { buildIntegrity } from "./integrity.mjs";
import { buildManifest } from "./manifest.mjs";
import { buildDemo } from "../demo/build.mjs";

const web = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Builds `dist/` and returns its path. */
export async function buildWidgetPackage() {
  const embedder = await buildEmbedderPackage();
  const dist = `${web}dist`;
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await Promise.all([buildBundles(dist), copyEmbedder(embedder, dist), buildManifest(dist), buildDemo()]);
  await promisify(execFile)(process.execPath, [tsc, "-p", `${web}tsconfig.types.json`]);
  await includeEmbedderTypes(embedder, `${dist}/types`);
  await buildIntegrity(dist);
  return dist;
}

/**
 * The bundles load worker, WebAssembly and (without `model-url`) the model from their own folder, so the package must contain
 * them: a CDN or a self-hosted folder has no `node_modules` to find the embedder's copies in.
 */
async function copyEmbedder(from, to) {
  const isNeeded = (file) => /^worker\.js(\.map)?$|\.(wasm|safetensors)$/.test(file);
  const files = (await readdir(from)).filter(isNeeded);
  await Promise.all(files.map((file) => copyFile(`${from}/${file}`, `${to}/${file}`)));
}

/**
 * The bundles contain the embedder, so the package must not depend on it: npm would install a second copy of the model. Its
 * type declarations are copied, and those of the widget refer to the copies.
 */
async function includeEmbedderTypes(embedder, types) {
  await mkdir(`${types}/embedder`);
  const isDeclaration = (file) => file.endsWith(".d.ts");
  const declarations = (await readdir(embedder)).filter(isDeclaration);
  const own = (await readdir(types, { recursive: true })).filter(isDeclaration);
  await Promise.all(declarations.map((file) => copyFile(`${embedder}/${file}`, `${types}/embedder/${file}`)));
  for (const file of own) {
    const path = `${types}/${file}`;
    const up = "../".repeat(file.split(/[/\\]/).length - 1) || "./";
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll('"@evidence-chat/embedder"', `"${up}embedder/index.js"`));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildWidgetPackage()}`);
}
