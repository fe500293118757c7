import { fileURLToPath } from "node:url";
import { build } from "esbuild";
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
    write: false,
    format: "esm",
    target: "node22",
    sourcemap: "inline",
    plugins: [styleSheetsAsText, ...plugins],
    logLevel: "warning",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
