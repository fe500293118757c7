import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Bundles a TypeScript module in memory and imports it, so that tests need no build before them. */
export async function importTs(url) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(url)],
    bundle: true,
    write: false,
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
