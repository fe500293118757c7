import { fileURLToPath } from "node:url";

/**
 * Packages that are replaced by our own modules, for esbuild's `alias` and Vite's `resolve.alias`. The package's browser
 * build decodes character references with `innerHTML`, which Trusted Types forbid.
 */
export const aliases = {
  "decode-named-character-reference": fileURLToPath(
    new URL("../src/panel/citations/passage/named-references.ts", import.meta.url),
  ),
};
