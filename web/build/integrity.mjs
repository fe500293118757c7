import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";

const NAME = "integrity.json";

/**
 * Writes `integrity.json` into the folder `dist`: `{"files": {name: "sha384-…"}}` for each other file directly in it, which
 * are all files that a browser may load. The values fit `integrity` in tags, import maps and `fetch`.
 */
export async function buildIntegrity(dist) {
  const entries = await readdir(dist, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && entry.name !== NAME).map(({ name }) => name);
  const files = {};
  for (const name of names.sort()) files[name] = integrityOf(await readFile(`${dist}/${name}`));
  await writeFile(`${dist}/${NAME}`, `${JSON.stringify({ files }, null, 2)}\n`);
}

/** The hash of a file in the format of `integrity` attributes. */
export function integrityOf(content) {
  return `sha384-${createHash("sha384").update(content).digest("base64")}`;
}
