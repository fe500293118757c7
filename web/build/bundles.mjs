// The widget's bundles. The launcher is one small file; what it loads later has names with a hash of the content, so that
// a browser never puts together two versions.
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { aliases } from "./aliases.mjs";
import { styleSheetsAsText } from "./style-sheets-as-text.mjs";

const web = fileURLToPath(new URL("..", import.meta.url));
const LANGUAGES = ["ar", "de", "en", "es", "fr", "ja"];

/** The widget always gives the embedder a worker: the code for embedding in the page itself stays out. */
const withoutInlineEmbedder = {
  name: "without-inline-embedder",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/inline\.js$/ }, () => ({ path: "inline.js", namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export {};" }));
  },
};

const OPTIONS = {
  absWorkingDir: web,
  // The embedder as built, not its source.
  tsconfig: "tsconfig.types.json",
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  // Modules are always read as UTF-8.
  charset: "utf8",
  sourcemap: true,
  legalComments: "none",
  logLevel: "warning",
};

/** Builds all bundles into `dist`, under the names that the package exports. */
export async function buildBundles(dist) {
  const texts = LANGUAGES.map((language) => `src/texts/panel/${language}.ts`);
  const later = new Map([
    ...(await buildHashed(dist, texts, { entryNames: "texts-[name]-[hash]" })),
    ...(await buildHashed(dist, { references: "src/references/index.ts" })),
    ...(await buildHashed(dist, { "my-data": "src/panel/history/my-data.ts" }, { alias: aliases })),
  ]);
  const plugins = [styleSheetsAsText, withoutInlineEmbedder, loadedLater(later)];
  const panel = await buildHashed(dist, { panel: "src/panel/index.ts" }, { plugins, alias: aliases });
  await build({
    ...OPTIONS,
    entryPoints: { index: "src/index.ts", "evidence-chat": "src/define.ts", client: "src/client.ts" },
    outdir: dist,
    plugins: [styleSheetsAsText, loadedLater(new Map([...later, ...panel]))],
  });
}

/** Builds what is loaded later; gives the files' names by the paths of their sources. */
async function buildHashed(dist, entryPoints, options) {
  const { metafile } = await build({
    ...OPTIONS,
    entryNames: "[name]-[hash]",
    entryPoints,
    outdir: dist,
    metafile: true,
    ...options,
  });
  return Object.entries(metafile.outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint ? [[`${web}${entryPoint}`, basename(file)]] : [],
  );
}

/** Leaves the imports of those sources to the browser. */
function loadedLater(files) {
  return {
    name: "loaded-later",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ kind, path, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const file = files.get(resolve(resolveDir, path.replace(/\.js$/, ".ts")));
        return file && { path: `./${file}`, external: true };
      });
    },
  };
}
