// Puts what wrangler deploys into one folder: the Worker, and the widget with its models as static assets.
import { cp, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cutIntoPieces } from "./model-pieces.mjs";
import { UserError } from "./user-error.mjs";

const BUILD = fileURLToPath(new URL("../build", import.meta.url));
/** The static files without model and reader, which are in the package of the embedder only. */
const ASSETS = fileURLToPath(new URL("../assets", import.meta.url));
const require = createRequire(import.meta.url);

/** See types/assemble.d.mts. */
export async function assemble(/** @type {string} */ folder) {
  for (const part of [join(BUILD, "index.js"), join(ASSETS, "_headers")]) {
    if (!existsSync(part)) throw new UserError(`${part} is missing: install @evidence-chat/worker again`);
  }
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  const assets = join(partial, "assets");
  await mkdir(partial, { recursive: true });
  await cp(BUILD, join(partial, "worker"), { recursive: true });
  await cp(ASSETS, assets, { recursive: true });
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
  if (models.length === 0) throw new UserError(`${from} lacks the models: install @evidence-chat/embedder again`);
  for (const name of models) {
    await cp(join(from, name), join(to, name));
    await cutIntoPieces(join(to, name));
  }
}

function embedderFolder() {
  try {
    return join(dirname(require.resolve("@evidence-chat/embedder/package.json")), "dist");
  } catch {
    throw new UserError("the package @evidence-chat/embedder is not installed: install @evidence-chat/worker again");
  }
}

async function measure(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size));
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
