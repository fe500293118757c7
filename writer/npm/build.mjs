// Builds dist/: the module, wllama, the WebAssembly files, the type declarations and the licences. Needs wasm/, the
// wasm-bindgen output of the verifier in the parent folder.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

/** File in `dist/` with the digest of everything it was built from; `prepack.mjs` reads it. */
export const INPUTS_FILE = ".inputs";

const here = fileURLToPath(new URL(".", import.meta.url));
const { resolve } = createRequire(import.meta.url);

/** Builds `dist/` and returns its path. */
export async function buildWriterPackage() {
  const dist = join(here, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  // More would remove the comments that tell bundlers of pages to leave the import of wllama.
  await bundle("src/index.ts", { minifyIdentifiers: true });
  await bundle("src/wllama.ts", { minify: true, inject: ["src/trusted-worker.ts"] });
  await copyFile(join(here, "wasm/verifier_bg.wasm"), join(dist, "verifier_bg.wasm"));
  await copyFile(resolve("@wllama/wllama/esm/wasm/wllama.wasm"), join(dist, "wllama.wasm"));
  for (const license of ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE"]) {
    await copyFile(join(here, "../..", license), join(dist, license));
  }
  await writeFile(join(dist, "THIRD-PARTY.md"), await notices());
  const emitTypes = ["--declaration", "--emitDeclarationOnly", "--rootDir", join(here, "src"), "--outDir", dist];
  await promisify(execFile)(process.execPath, [resolve("typescript/bin/tsc"), "-p", here, ...emitTypes]);
  await writeFile(join(dist, INPUTS_FILE), await inputsDigest());
  return dist;
}

/** @param {string} source @param {import("esbuild").BuildOptions} options */
function bundle(source, options) {
  const output = { outdir: "dist", bundle: true, sourcemap: true };
  return build({ absWorkingDir: here, entryPoints: [source], format: "esm", target: "es2022", ...output, ...options });
}

/** Licences of what the files of `dist/` contain: the libraries that the manifest's own list names, and the crates. */
async function notices() {
  // Not a static import: prepack.mjs imports this file from copies, too.
  const { thirdPartyNotices } = await import("../../tools/third-party.mjs");
  const crates = await thirdPartyNotices(["verifier"], "wasm32-unknown-unknown");
  return `${await readFile(join(here, "THIRD-PARTY.md"), "utf8")}\n${crates}`;
}

/** Whether `cargo xtask build writer` has made the WebAssembly that the package needs. */
export function hasWriterWasm() {
  return access(join(here, "wasm/verifier_bg.wasm")).then(
    () => true,
    () => false,
  );
}

/** SHA-256 of the sources, the WebAssembly files and the manifest, which pins wllama, by path. */
export async function inputsDigest() {
  const files = ["build.mjs", "package.json", "tsconfig.json"].map((name) => [name, join(here, name)]);
  for (const folder of ["src", "wasm"]) {
    for (const name of (await readdir(join(here, folder))).sort())
      files.push([`${folder}/${name}`, join(here, folder, name)]);
  }
  const digest = createHash("sha256");
  for (const [name, path] of files) {
    const bytes = await readFile(path);
    digest.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return digest.digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildWriterPackage()}`);
}
