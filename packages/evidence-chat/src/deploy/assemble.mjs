// Puts what wrangler deploys into one folder: the Worker, and the widget with its models as static assets.
import { cp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cutIntoPieces } from "./model-pieces.mjs";
import { embedderFolder } from "../kb/locate.mjs";
import { UserError } from "../user-error.mjs";

/** The static files lack model and reader, which are in the package of the embedder only. */
const PACKAGED = fileURLToPath(new URL("../../dist/edge-chat", import.meta.url));

/**
 * Writes the Worker to `build/` and the static files to `assets/` below a folder, and replaces what is there. An interrupted run leaves
 * the old files.
 * @returns the number of static files and their bytes
 */
export async function assemble(/** @type {string} */ folder) {
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  const assets = join(partial, "assets");
  await cp(PACKAGED, partial, { recursive: true });
  await copyModels(assets);
  // Generated, like node_modules.
  await writeFile(join(partial, ".gitignore"), "*\n");
  const size = await measure(assets);
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
  return size;
}

async function copyModels(to) {
  const from = embedderFolder();
  const models = (await readdir(from)).filter((name) => name.endsWith(".safetensors.gz"));
  if (models.length === 0) throw new UserError(`${from} lacks the models: install evidence-chat again`);
  for (const name of models) {
    await cp(join(from, name), join(to, name));
    await cutIntoPieces(join(to, name));
  }
}

async function measure(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size));
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
