import { readFile } from "node:fs/promises";
import { transform } from "esbuild";

/** An esbuild plugin: the import of a style sheet gives its minified text. */
export const styleSheetsAsText = {
  name: "style-sheets-as-text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code.trim(), loader: "text" };
    });
  },
};
