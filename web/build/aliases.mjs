import { fileURLToPath } from "node:url";

/**
 * Packages whose place is taken by a module of ours, for esbuild's `alias` and Vite's `resolve.alias`. The decoder of
 * character references that browsers get sets `innerHTML`, which pages with Trusted Types forbid.
 */
export const aliases = {
  "decode-named-character-reference": fileURLToPath(
    new URL("../src/panel/citations/passage/named-references.ts", import.meta.url),
  ),
};
