// Builds dist/: the registering bundle and the class-only bundle with the embedder's worker and WebAssembly beside
// them, the client alone, the type declarations, and the demo page. Builds the embedder package first.
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build, transform } from "esbuild";
import { buildEmbedderPackage } from "../embedder-wasm/npm/build.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Imports of style sheets give their minified text. */
const styleSheetsAsText = {
  name: "style-sheets-as-text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
};

/** The widget always gives the embedder a worker: the code for embedding in the page itself stays out. */
const withoutInlineEmbedder = {
  name: "without-inline-embedder",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/inline\.js$/ }, () => ({ path: "inline.js", namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export {};" }));
  },
};

/** Builds `dist/` and returns its path. */
export async function buildWidgetPackage() {
  const embedder = await buildEmbedderPackage();
  const dist = `${here}dist`;
  await rm(dist, { recursive: true, force: true });
  await mkdir(`${dist}/demo`, { recursive: true });
  const options = {
    absWorkingDir: here,
    // The embedder as built, not its source.
    tsconfig: "tsconfig.types.json",
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    sourcemap: true,
    plugins: [styleSheetsAsText, withoutInlineEmbedder],
    logLevel: "warning",
  };
  await Promise.all([
    build({
      ...options,
      entryPoints: { index: "src/index.ts", "evidence-chat": "src/define.ts", client: "src/client.ts" },
      outdir: dist,
    }),
    build({ ...options, entryPoints: { demo: "demo/demo.ts" }, outdir: `${dist}/demo` }),
    copyFile(`${here}demo/index.html`, `${dist}/demo/index.html`),
    copyFile(`${here}demo/demo.css`, `${dist}/demo/demo.css`),
    copyEmbedder(embedder, dist),
  ]);
  await promisify(execFile)(process.execPath, [tsc, "-p", `${here}tsconfig.types.json`]);
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
