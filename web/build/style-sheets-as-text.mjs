import { readFile } from "node:fs/promises";
import { transform } from "esbuild";

/**
 * The import of a style sheet gives its minified text.
 * @type {import("esbuild").Plugin}
 */
export const styleSheetsAsText = {
  name: "style-sheets-as-text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code.trim(), loader: "text" };
    });
  },
};
