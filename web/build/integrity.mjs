import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";

const NAME = "integrity.json";

/**
 * Writes `integrity.json` into the folder `dist`: `{"files": {name: "sha384-…"}}` for each other file directly in it, and each
 * script and module in its folder `writer`, which are all files that a browser may load. The values fit `integrity` in tags,
 * import maps and `fetch`.
 */
export async function buildIntegrity(dist) {
  const writer = (await filesIn(dist, "writer/")).filter((name) => /\.(js|wasm)$/.test(name));
  const names = [...(await filesIn(dist)), ...writer].filter((name) => name !== NAME);
  const files = {};
  for (const name of names.sort()) files[name] = integrityOf(await readFile(`${dist}/${name}`));
  await writeFile(`${dist}/${NAME}`, `${JSON.stringify({ files }, null, 2)}\n`);
}

/** The files directly in a folder of `dist`, by their paths in `dist`. */
async function filesIn(dist, folder = "") {
  const entries = await readdir(`${dist}/${folder}`, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}${name}`);
}

/** The hash of a file in the format of `integrity` attributes. */
export function integrityOf(content) {
  return `sha384-${createHash("sha384").update(content).digest("base64")}`;
}
