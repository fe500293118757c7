// Builds the widget's bundles. The launcher is one small file; the chunks it loads later have a content hash in their
// names, so that a browser never mixes two versions.
import { readdir, readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { withHashedNames } from "./embedder-files.mjs";
import { styleSheetsAsText } from "./style-sheets-as-text.mjs";

const web = fileURLToPath(new URL("..", import.meta.url));
/** The texts, one file for each language. */
const TEXTS = "src/texts";

/** The widget always runs the embedder in a worker, so the code for running it in the page is excluded. */
const withoutInlineEmbedder = {
  name: "without-inline-embedder",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/inline\.js$/ }, () => ({ path: "inline.js", namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export {};" }));
  },
};

/**
 * Gives the embedder's files the names that they have in the widget, and removes its own URLs of model and reader, which
 * `src/panel/model/create-model.ts` replaces: the npm package lacks the files, and webpack fails on a URL of a missing file.
 * @param {Map<string, string>} names
 * @returns {import("esbuild").Plugin}
 */
function withEmbedderFiles(names) {
  return {
    name: "with-embedder-files",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]embedder-wasm[\\/]npm[\\/]dist[\\/]index\.js$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const contents = text.replace(/new URL\("\.\/[\w.-]+\.safetensors\.gz",import\.meta\.url\)/g, "void 0");
        if (contents === text) throw new Error(`${path} has no URL of the model in the form that bundlers detect`);
        return { contents: withHashedNames(contents, names) };
      });
    },
  };
}

/** Leaves in the chunk of a language what the panel needs: the launcher and the chunk of the help have the other texts. */
const panelTextsOnly = {
  name: "panel-texts-only",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]texts[\\/]/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      // What is not exported is removed as unused.
      return { contents: text.replace(/^export (?=const (launcher|help)\b)/gm, ""), loader: "ts" };
    });
  },
};

/** @type {import("esbuild").BuildOptions} */
const OPTIONS = {
  absWorkingDir: web,
  // Resolves the embedder to its build, not to its source.
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

/**
 * Builds all bundles into `dist`, under the names that the package exports.
 * @param {string} dist
 * @param {Map<string, string>} embedderFiles their names in `dist`
 */
export async function buildBundles(dist, embedderFiles) {
  const languages = (await readdir(`${web}${TEXTS}`)).filter((name) => name !== "index.ts").sort();
  const texts = languages.map((name) => `${TEXTS}/${name}`);
  const leaves = {
    references: "src/panel/references/index.ts",
    help: "src/panel/help/index.ts",
    answered: "src/panel/answered/index.ts",
    visitor: "src/panel/visitor/index.ts",
    reader: "src/panel/reader/panel-reader.ts",
    download: "src/panel/save-file.ts",
    search: "src/panel/search/instant-results.ts",
  };
  const chunks = new Map([
    ...(await buildHashed(dist, texts, { entryNames: "texts-[name]-[hash]", plugins: [panelTextsOnly] })),
    ...(await buildHashed(dist, leaves, { plugins: [styleSheetsAsText] })),
  ]);
  const history = { history: "src/panel/history/history-view.ts" };
  const historyPlugins = [styleSheetsAsText, importedChunks(new Map(chunks))];
  for (const [source, file] of await buildHashed(dist, history, { plugins: historyPlugins })) chunks.set(source, file);
  const { version } = JSON.parse(await readFile(`${web}package.json`, "utf8"));
  const writer = { writer: "src/panel/writer/on-device.ts" };
  // Without minified whitespace: that would remove the comments that tell bundlers of pages to leave the import of the writer.
  const readable = { minify: false, minifyIdentifiers: true, minifySyntax: true };
  const define = { WRITER_VERSION: JSON.stringify(version) };
  const writerOptions = { plugins: [styleSheetsAsText], define, ...readable };
  for (const [source, file] of await buildHashed(dist, writer, writerOptions)) chunks.set(source, file);
  const plugins = [styleSheetsAsText, withoutInlineEmbedder, withEmbedderFiles(embedderFiles), importedChunks(chunks)];
  const { dependencies } = JSON.parse(await readFile(`${web}package.json`, "utf8"));
  const panelOptions = {
    plugins,
    define: { EMBEDDER_VERSION: JSON.stringify(dependencies["@evidence-chat/embedder"]) },
  };
  const panel = await buildHashed(dist, { panel: "src/panel/index.ts" }, panelOptions);
  await build({
    ...OPTIONS,
    entryPoints: { index: "src/index.ts", "evidence-chat": "src/define.ts", client: "src/client.ts" },
    outdir: dist,
    plugins: [styleSheetsAsText, importedChunks(new Map([...chunks, ...panel]))],
  });
  await build({
    ...OPTIONS,
    entryPoints: { react: "src/react.ts", vue: "src/vue.ts" },
    outdir: dist,
    external: ["react", "vue"],
    plugins: [importedLauncher],
    // React's components that use effects are part of the client.
    banner: { js: '"use client";' },
  });
}

/** The components of frameworks import the launcher that is published, so that a page never has two copies. */
const importedLauncher = {
  name: "imported-launcher",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/define\.js$/ }, () => ({ path: "./evidence-chat.js", external: true }));
  },
};

/**
 * Builds chunks and gives their file names by the paths of their sources.
 * @param {string} dist
 * @param {import("esbuild").BuildOptions["entryPoints"]} entryPoints
 * @param {import("esbuild").BuildOptions} [options]
 * @returns {Promise<[source: string, file: string][]>}
 */
async function buildHashed(dist, entryPoints, options) {
  const { metafile } = await build({
    ...OPTIONS,
    entryNames: "[name]-[hash]",
    entryPoints,
    outdir: dist,
    metafile: true,
    ...options,
  });
  return Object.entries(/** @type {import("esbuild").Metafile} */ (metafile).outputs).flatMap(
    ([file, { entryPoint }]) => (entryPoint ? [[`${web}${entryPoint}`, basename(file)]] : []),
  );
}

/**
 * Replaces dynamic imports of those sources by imports of their chunks.
 * @returns {import("esbuild").Plugin}
 */
function importedChunks(files) {
  return {
    name: "imported-chunks",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ kind, path, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const file = files.get(resolve(resolveDir, path.replace(/\.js$/, ".ts")));
        return file && { path: `./${file}`, external: true };
      });
    },
  };
}
