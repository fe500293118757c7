import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { aliases } from "../../web/build/aliases.mjs";

/** Bundles a TypeScript module in memory and imports it, so that tests need no build before them. */
export async function importTs(url, plugins = []) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(url)],
    bundle: true,
    alias: aliases,
    write: false,
    format: "esm",
    target: "node22",
    sourcemap: "inline",
    plugins,
    logLevel: "warning",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
