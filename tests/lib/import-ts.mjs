import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { aliases } from "../../web/build/aliases.mjs";
import { styleSheetsAsText } from "../../web/build/style-sheets-as-text.mjs";

/**
 * Bundles TypeScript modules in memory and imports them as one, so that tests need no build before them.
 * @param {URL | readonly URL[]} urls several if they share state
 * @param {import("esbuild").Plugin[]} [plugins]
 * @returns {Promise<any>}
 */
export async function importTs(urls, plugins = []) {
  const paths = [urls].flat().map((url) => fileURLToPath(url));
  const contents = paths.map((path) => `export * from ${JSON.stringify(path)};`).join("\n");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    alias: aliases,
    write: false,
    format: "esm",
    target: "node22",
    sourcemap: "inline",
    plugins: [styleSheetsAsText, ...plugins],
    logLevel: "warning",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

const PARSER = new URL("../../web/src/panel/citations/passage/passage-of.ts", import.meta.url);

/**
 * The same for a module of the panel that shows passages, with their parser loaded.
 * @param {URL} url
 * @returns {Promise<any>}
 */
export async function importWithParser(url) {
  const loaded = await importTs([url, PARSER]);
  await loaded.loadParser();
  return loaded;
}
