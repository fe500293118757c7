// Builds dist/: the package's module, its worker and the WebAssembly beside them, and the type declarations.
// Needs wasm/ (the wasm-bindgen output of the crate one folder up).
import { execFile } from "node:child_process";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Builds `dist/` and returns its path. */
export async function buildEmbedderPackage() {
  const dist = `${here}dist`;
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await build({
    absWorkingDir: here,
    entryPoints: ["src/index.ts", "src/worker.ts"],
    outdir: dist,
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    sourcemap: true,
    logLevel: "warning",
  });
  await copyFile(`${here}wasm/embedder_bg.wasm`, `${dist}/embedder_bg.wasm`);
  await promisify(execFile)(process.execPath, [
    tsc,
    "-p",
    here,
    "--declaration",
    "--emitDeclarationOnly",
    "--rootDir",
    `${here}src`,
  ]);
  return dist;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.log(`built ${await buildEmbedderPackage()}`);
}
