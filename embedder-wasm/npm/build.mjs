// Builds dist/: the module, its worker and its in-thread engine, the WebAssembly files, the type declarations, the licences,
// the reader, and the model if `cargo xtask setup` has made it. Needs wasm/, the wasm-bindgen output of the crate in the parent folder.
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

const READER = fileURLToPath(new URL("../reader", import.meta.url));
/** Bytes that are verified at a time, see `model-blocks.json`. */
const BLOCK_BYTES = 2 * 1024 * 1024;

const MODEL_NOTICE = `all-MiniLM-L6-v2 by the sentence-transformers project, with weights quantised to 8 bits. Apache-2.0, whose text is in
LICENSE-APACHE: <https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2>. The reader is four of its layers, trained further.`;

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Builds `dist/` and returns its path. */
export async function buildEmbedderPackage() {
  const dist = join(here, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  const files = await requiredFiles();
  const model = await addModel(files.model, dist);
  const { blocks, ...reader } = await addReader(files.reader, dist);
  // One file each, so that it can be served or bundled alone. The in-thread engine is loaded on demand.
  await build({
    absWorkingDir: here,
    entryPoints: ["src/index.ts", "src/worker.ts", "src/inline.ts"],
    outdir: dist,
    bundle: true,
    external: ["./inline.js"],
    define: {
      MODEL_IDENTITY: JSON.stringify(model),
      READER_IDENTITY: JSON.stringify(reader),
      // Bundlers of pages need a literal.
      MODEL_PATH: JSON.stringify(`./${model.file}`),
      READER_PATH: JSON.stringify(`./${reader.file}`),
      MODEL_BLOCKS: JSON.stringify(await modelBlocks()),
      READER_BLOCKS: JSON.stringify(blocks),
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
  const { thirdPartyNotices } = await import("../../tools/third-party.mjs");
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

/** The files that the WebAssembly module requires, as it reports itself. */
async function requiredFiles() {
  const wasm = await import(pathToFileURL(join(here, "wasm/embedder.js")).href);
  wasm.initSync({ module: await readFile(join(here, "wasm/embedder_bg.wasm")) });
  return JSON.parse(wasm.requiredFiles());
}

/** The digests of the model's blocks. `tests/embedder/model-blocks.test.mjs` compares them with the model. */
async function modelBlocks() {
  return JSON.parse(await readFile(join(here, "model-blocks.json"), "utf8"));
}

async function packageVersion() {
  return JSON.parse(await readFile(join(here, "package.json"), "utf8")).version;
}

/** @typedef {{ source: string, sha256: string, byteLength: number, fingerprint: string }} RequiredFile */

/**
 * Adds the model if it is there, which only publishing and deploying need. Returns its identity; without the model, its download has
 * the size of the uncompressed file.
 * @param {RequiredFile} required
 * @param {string} dist
 */
async function addModel({ source, ...required }, dist) {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folder = process.env.EVIDENCE_MODEL_DIR || join(cache, "evidence-chat/models/all-MiniLM-L6-v2");
  const model = await readFile(join(folder, source)).catch(() => null);
  if (model !== null && sha256Of(model) === required.sha256) return addCompressed(model, source, required, dist);
  console.log(
    `without the model: ${join(folder, source)} ${model === null ? "does not exist" : "belongs to another version"}`,
  );
  const { sha256, byteLength, fingerprint } = required;
  return { file: hashedName(source, sha256), byteLength, downloadBytes: byteLength, fingerprint };
}

/**
 * Adds the reader, which is in the repository. Returns its identity and the digests of its blocks.
 * @param {RequiredFile} required
 * @param {string} dist
 */
async function addReader({ source, ...required }, dist) {
  const reader = await readFile(join(READER, source));
  if (sha256Of(reader) !== required.sha256) {
    throw new Error(`${join(READER, source)} belongs to another version of the crate: build wasm/ again`);
  }
  const sha256 = [];
  for (let start = 0; start < reader.length; start += BLOCK_BYTES) {
    sha256.push(sha256Of(reader.subarray(start, start + BLOCK_BYTES)));
  }
  const blocks = { blockBytes: BLOCK_BYTES, sha256 };
  return { ...(await addCompressed(reader, source, required, dist)), blocks };
}

/**
 * Compressed, because most static hosts do not compress an unknown type, and every browser with the embedder's WebAssembly
 * can decompress it.
 */
async function addCompressed(content, source, { sha256, byteLength, fingerprint }, dist) {
  const file = hashedName(source, sha256);
  const compressed = await promisify(gzip)(content, { level: 9 });
  await writeFile(join(dist, file), compressed);
  return { file, byteLength, downloadBytes: compressed.length, fingerprint };
}

/** The hash allows servers and browsers to cache the file for good. */
function hashedName(source, sha256) {
  return source.replace(".safetensors", `-${sha256.slice(0, 8)}.safetensors.gz`);
}

function sha256Of(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildEmbedderPackage()}`);
}
