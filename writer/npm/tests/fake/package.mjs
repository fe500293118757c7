// The package as build.mjs builds it, but with a fake verifier and a fake wllama.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const fakes = {
  name: "fakes",
  setup({ onResolve }) {
    onResolve({ filter: /wasm\/verifier\.js$/ }, () => ({ path: here("verifier-wasm.mjs") }));
    onResolve({ filter: /^@wllama\/wllama$/ }, () => ({ path: here("wllama.mjs") }));
  },
};

/** Everything a page fetches except the model, as file name → content. */
export async function buildFakePackage() {
  const bundle = async (source, options) => {
    const output = { outdir: here("."), bundle: true, write: false, logLevel: "warning" };
    const { outputFiles } = await build({
      entryPoints: [here(`../../src/${source}`)],
      format: "esm",
      target: "es2022",
      plugins: [fakes],
      ...output,
      ...options,
    });
    return Buffer.from(outputFiles[0].contents);
  };
  return new Map([
    ["index.js", await bundle("index.ts", {})],
    ["wllama.js", await bundle("wllama.ts", { inject: [here("../../src/trusted-worker.ts")] })],
    ["wllama.wasm", Buffer.from("only asked for")],
    ["verifier_bg.wasm", Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])],
  ]);
}

/** Imports the package in this process from a folder that `t` removes. */
export async function importFakePackage(t) {
  const folder = await mkdtemp(join(tmpdir(), "writer-test-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, content] of await buildFakePackage()) await writeFile(join(folder, name), content);
  return import(pathToFileURL(join(folder, "index.js")).href);
}
