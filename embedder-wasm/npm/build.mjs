// Builds dist/: the module, its worker and its in-thread engine, the WebAssembly files, the type declarations, the licences,
// and the model if `cargo xtask setup` has made it. Needs wasm/, the wasm-bindgen output of the crate in the parent folder.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build } from "esbuild";

/** File in `dist/` with the digest of everything it was built from; `prepack.mjs` reads it. */
export const INPUTS_FILE = ".inputs";

const MODEL_SOURCE = "all-MiniLM-L6-v2-int8.safetensors";

const MODEL_NOTICE = `all-MiniLM-L6-v2 by the sentence-transformers project, with weights quantised to 8 bits. Apache-2.0, whose text is in
LICENSE-APACHE: <https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2>`;

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Builds `dist/` and returns its path. */
export async function buildEmbedderPackage() {
  const dist = join(here, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  const { sha256, ...model } = await modelIdentity();
  const downloadBytes = await compressModel(model.file, sha256, dist);
  const identity = { ...model, downloadBytes: downloadBytes ?? model.byteLength };
  // One file each, so that it can be served or bundled alone. The in-thread engine is loaded on demand.
  await build({
    absWorkingDir: here,
    entryPoints: ["src/index.ts", "src/worker.ts", "src/inline.ts"],
    outdir: dist,
    bundle: true,
    external: ["./inline.js"],
    define: {
      MODEL_IDENTITY: JSON.stringify(identity),
      // Bundlers of pages need a literal.
      MODEL_PATH: JSON.stringify(`./${identity.file}`),
      MODEL_BLOCKS: JSON.stringify(await modelBlocks()),
      PACKAGE_VERSION: JSON.stringify(await packageVersion()),
    },
    format: "esm",
    target: "es2022",
    minify: true,
    sourcemap: true,
    logLevel: "warning",
  });
  for (const wasm of ["embedder_bg.wasm", "embedder_relaxed_bg.wasm"]) {
    await copyFile(join(here, "wasm", wasm), join(dist, wasm));
  }
  for (const license of ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE"]) {
    await copyFile(join(here, "../..", license), join(dist, license));
  }
  await writeFile(join(dist, "THIRD-PARTY.md"), await notices());
  const emitTypes = ["--declaration", "--emitDeclarationOnly", "--rootDir", join(here, "src"), "--outDir", dist];
  await promisify(execFile)(process.execPath, [tsc, "-p", here, ...emitTypes]);
  await writeFile(join(dist, INPUTS_FILE), await inputsDigest());
  return dist;
}

/** Licences of what the files of `dist/` contain. */
async function notices() {
  // Not a static import: prepack.mjs imports this file from copies, too.
  const { thirdPartyNotices } = await import("../../packages/build/third-party.mjs");
  const crates = await thirdPartyNotices(["embedder"], "wasm32-unknown-unknown");
  return `${crates}\n## The model\n\n${MODEL_NOTICE}\n`;
}

/** SHA-256 of the sources, the WebAssembly files and the manifest, by path. */
export async function inputsDigest() {
  const files = ["build.mjs", "model-blocks.json", "package.json", "tsconfig.json"].map((name) => [
    name,
    join(here, name),
  ]);
  for (const folder of ["src", "src/loading", "wasm"]) {
    const entries = await readdir(join(here, folder), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`);
    for (const name of names.sort()) files.push([name, join(here, name)]);
  }
  const digest = createHash("sha256");
  for (const [name, path] of files) {
    const bytes = await readFile(path);
    digest.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return digest.digest("hex");
}

/** The model that the WebAssembly module requires, as it reports itself. */
async function modelIdentity() {
  const wasm = await import(pathToFileURL(join(here, "wasm/embedder.js")).href);
  wasm.initSync({ module: await readFile(join(here, "wasm/embedder_bg.wasm")) });
  const sha256 = wasm.modelSha256();
  return {
    // The hash allows servers and browsers to cache the file for good.
    file: MODEL_SOURCE.replace(".safetensors", `-${sha256.slice(0, 8)}.safetensors.gz`),
    sha256,
    byteLength: wasm.modelByteLength(),
    fingerprint: wasm.fingerprint(),
  };
}

/** The digests of the model's blocks. `tests/embedder/model-blocks.test.mjs` compares them with the model. */
async function modelBlocks() {
  return JSON.parse(await readFile(join(here, "model-blocks.json"), "utf8"));
}

async function packageVersion() {
  return JSON.parse(await readFile(join(here, "package.json"), "utf8")).version;
}

/**
 * Compressed, because most static hosts do not compress an unknown type, and every browser with the embedder's WebAssembly
 * can decompress it. Only publishing and deploying need the model in `dist/`. Returns the size, or `null` without the model.
 */
async function compressModel(file, sha256, dist) {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folder = process.env.EVIDENCE_MODEL_DIR || join(cache, "evidence-chat/models/all-MiniLM-L6-v2");
  const source = join(folder, MODEL_SOURCE);
  const model = await readFile(source).catch(() => null);
  if (model === null || createHash("sha256").update(model).digest("hex") !== sha256) {
    console.log(`without the model: ${source} ${model === null ? "does not exist" : "belongs to another version"}`);
    return null;
  }
  const compressed = await promisify(gzip)(model, { level: 9 });
  await writeFile(join(dist, file), compressed);
  return compressed.length;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildEmbedderPackage()}`);
}
