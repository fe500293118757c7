// The package as build.mjs builds it, but with fake WebAssembly modules and small models.
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

export const WASM_FILES = ["writer_bg.wasm", "verifier_bg.wasm"];
/** Large enough to arrive in many chunks. */
export const MODEL = Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(2_500_000, "weights ")]);
export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const fakeWasm = {
  name: "fake-wasm",
  setup({ onResolve }) {
    onResolve({ filter: /wasm\/(writer|verifier)\.js$/ }, ({ path }) => ({
      path: here(`${path.includes("verifier") ? "verifier" : "writer"}-wasm.mjs`),
    }));
  },
};

/** Everything a page fetches except the model, as file name → content. `inside.js` exports what tests in Node use. */
export async function buildFakePackage() {
  const { outputFiles } = await build({
    entryPoints: { index: here("../../src/index.ts"), worker: here("../../src/worker.ts"), inside: here("inside.ts") },
    outdir: here("."),
    bundle: true,
    write: false,
    plugins: [fakeWasm],
    define: { PACKAGE_VERSION: '"1.0.0"' },
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [path.slice(here(".").length), Buffer.from(contents)]));
  for (const name of WASM_FILES) files.set(name, Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  return files;
}

/** Imports the package in this process from a folder that `t` removes. `url` is that folder. */
export async function importFakePackage(t) {
  const folder = await mkdtemp(join(tmpdir(), "writer-test-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, content] of await buildFakePackage()) await writeFile(join(folder, name), content);
  await writeFile(join(folder, "model.gguf"), MODEL);
  const url = pathToFileURL(`${folder}/`);
  return { url, ...(await import(new URL("inside.js", url).href)) };
}
