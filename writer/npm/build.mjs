// Builds dist/: the module and its worker, the WebAssembly files, the type declarations and the licences. Needs wasm/, the
// wasm-bindgen output of the crate in the parent folder.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

/** File in `dist/` with the digest of everything it was built from; `prepack.mjs` reads it. */
export const INPUTS_FILE = ".inputs";

/** What wasm-bindgen makes of the crates. */
const WASM = ["writer_bg.wasm", "verifier_bg.wasm"];
/** The crates that they are made of. */
const CRATES = ["writer", "verifier"];

const here = fileURLToPath(new URL(".", import.meta.url));
const { resolve } = createRequire(import.meta.url);

/** Builds `dist/` and returns its path. */
export async function buildWriterPackage() {
  const dist = join(here, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  // One file each, so that it can be served or bundled alone.
  await build({
    absWorkingDir: here,
    entryPoints: ["src/index.ts", "src/worker.ts"],
    outdir: dist,
    bundle: true,
    define: { PACKAGE_VERSION: JSON.stringify(await packageVersion()) },
    format: "esm",
    target: "es2022",
    minify: true,
    sourcemap: true,
    logLevel: "warning",
  });
  for (const name of WASM) await copyFile(join(here, "wasm", name), join(dist, name));
  for (const license of ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE"]) {
    await copyFile(join(here, "../..", license), join(dist, license));
  }
  await writeFile(join(dist, "THIRD-PARTY.md"), await notices());
  const emitTypes = ["--declaration", "--emitDeclarationOnly", "--rootDir", join(here, "src"), "--outDir", dist];
  await promisify(execFile)(process.execPath, [resolve("typescript/bin/tsc"), "-p", here, ...emitTypes]);
  await writeFile(join(dist, INPUTS_FILE), await inputsDigest());
  return dist;
}

/** Licences of what the files of `dist/` contain: the libraries that the manifest's own list names, and the crates. */
async function notices() {
  // Not a static import: prepack.mjs imports this file from copies, too.
  const { thirdPartyNotices } = await import("../../packages/build/third-party.mjs");
  const crates = await thirdPartyNotices(CRATES, "wasm32-unknown-unknown");
  return `${await readFile(join(here, "THIRD-PARTY.md"), "utf8")}\n${crates}`;
}

/** Whether `cargo xtask build writer` has made the WebAssembly that the package needs. */
export function hasWriterWasm() {
  return Promise.all(WASM.map((name) => access(join(here, "wasm", name)))).then(
    () => true,
    () => false,
  );
}

/** SHA-256 of the sources, also of those in other folders, of the WebAssembly files and the manifest, by path. */
export async function inputsDigest() {
  const files = ["build.mjs", "package.json", "tsconfig.json"].map((name) => [name, join(here, name)]);
  const loading = dirname(resolve("@evidence-chat/model-loading/package.json"));
  const folders = { src: join(here, "src"), wasm: join(here, "wasm"), loading: join(loading, "src") };
  for (const [folder, path] of Object.entries(folders)) {
    for (const name of (await readdir(path)).sort()) files.push([`${folder}/${name}`, join(path, name)]);
  }
  const digest = createHash("sha256");
  for (const [name, path] of files) {
    const bytes = await readFile(path);
    digest.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return digest.digest("hex");
}

async function packageVersion() {
  return JSON.parse(await readFile(join(here, "package.json"), "utf8")).version;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildWriterPackage()}`);
}
