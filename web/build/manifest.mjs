import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { cli } from "@custom-elements-manifest/analyzer/cli.js";

const web = fileURLToPath(new URL("..", import.meta.url));

/** The custom-elements manifest of the element (schema 1.0.0). */
function describeElements() {
  const argv = ["analyze", "--config", "custom-elements-manifest.config.mjs", "--quiet"];
  return cli({ argv, cwd: web, noWrite: true });
}

/** Writes `custom-elements.json` into the folder `dist`. */
export async function buildManifest(dist) {
  await writeFile(`${dist}/custom-elements.json`, `${JSON.stringify(await describeElements(), null, 2)}\n`);
}
