// Builds the packages of embedder and writer and then dist/: the entry files, the chunks they load later, the embedder's
// worker and WebAssembly, the writer, the type declarations, the custom-elements manifest, the hashes of all files, the demo
// page and the insights page.
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { cli as analyze } from "@custom-elements-manifest/analyzer/cli.js";
import { buildEmbedderPackage } from "../../embedder-wasm/npm/build.mjs";
import { buildWriterPackage, hasWriterWasm } from "../../writer/npm/build.mjs";
import { buildBundles } from "./bundles.mjs";
import { hashedNames, writeHashed } from "./embedder-files.mjs";
import { buildIntegrity } from "./integrity.mjs";
import { buildPage } from "../pages/build.mjs";

const web = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Builds `dist/` and returns its path. */
async function buildWidgetPackage() {
  const embedder = await buildEmbedderPackage();
  const dist = `${web}dist`;
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  const embedderFiles = await hashedNames(embedder);
  await Promise.all([
    buildBundles(dist, embedderFiles),
    writeHashed(embedder, dist, embedderFiles),
    copyModels(embedder, dist),
    copyWriter(dist),
    buildManifest(dist),
    buildPage("demo"),
    buildPage("insights"),
  ]);
  await promisify(execFile)(process.execPath, [tsc, "-p", `${web}tsconfig.types.json`]);
  await buildIntegrity(dist);
  return dist;
}

/** Writes the custom-elements manifest (schema 1.0.0). */
async function buildManifest(dist) {
  const argv = ["analyze", "--config", "custom-elements-manifest.config.mjs", "--quiet"];
  const manifest = await analyze({ argv, cwd: web, noWrite: true });
  await writeFile(`${dist}/custom-elements.json`, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Model and reader, for a site that serves the folder: the npm package excludes them and depends on the embedder's, which has them. */
async function copyModels(from, to) {
  const files = (await readdir(from)).filter((file) => file.endsWith(".safetensors.gz"));
  await Promise.all(files.map((file) => copyFile(`${from}/${file}`, `${to}/${file}`)));
}

/** For a site that serves the folder, like the model: the npm package excludes it. */
async function copyWriter(dist) {
  // The demo without a language model.
  if (process.env.WITHOUT_WRITER) return;
  if (!(await hasWriterWasm())) return console.log("without the writer: run `cargo xtask build writer` first");
  const writer = await buildWriterPackage();
  const isNeeded = (path) => !/\.d\.ts$|\/\.inputs$/.test(path);
  await cp(writer, `${dist}/writer`, { recursive: true, filter: isNeeded });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildWidgetPackage()}`);
}
