// Puts what wrangler deploys into one folder: the Worker, and the widget with its model as static assets.
import { cp, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { headers } from "./headers.mjs";
import { UserError } from "./user-error.mjs";

const BUILD = fileURLToPath(new URL("../build", import.meta.url));
const require = createRequire(import.meta.url);

/** Files of the packages that a page loads. */
const IS_SCRIPT = /^(?!.*\.d\.ts$).*\.(js|wasm)$/;
const IS_MODEL = /\.safetensors(\.gz)?$/;

/**
 * Writes `worker/` and `assets/` below `folder`, and replaces what is there. A run that is interrupted leaves the old files.
 * @param {string} folder
 * @returns {Promise<{ files: number, bytes: number }>} the static assets
 */
export async function assemble(folder) {
  if (!existsSync(join(BUILD, "index.js"))) throw new UserError("this package has no built Worker: install it again");
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  const assets = join(partial, "assets");
  await mkdir(assets, { recursive: true });
  await cp(BUILD, join(partial, "worker"), { recursive: true });
  await copyFiles(installed("@evidence-chat/widget"), assets, IS_SCRIPT);
  await copyFiles(installed("@evidence-chat/embedder"), assets, IS_MODEL);
  const writer = installedInProject("@evidence-chat/writer");
  if (writer) await copyFiles(writer, join(assets, "writer"), IS_SCRIPT);
  const paths = await list(assets);
  await writeFile(join(assets, "_headers"), headers(paths));
  // Generated, like node_modules.
  await writeFile(join(partial, ".gitignore"), "*\n");
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
  const sizes = await Promise.all(paths.map(async (path) => (await stat(join(folder, "assets", path))).size));
  return { files: paths.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function copyFiles(from, to, wanted) {
  await mkdir(to, { recursive: true });
  const names = (await readdir(from)).filter((name) => wanted.test(name));
  if (names.length === 0) throw new UserError(`${from} lacks its files: install the packages again`);
  await Promise.all(names.map((name) => cp(join(from, name), join(to, name))));
}

async function list(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => file.slice(folder.length).replaceAll("\\", "/")).sort();
}

function installed(name) {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), "dist");
  } catch {
    throw new UserError(`the package ${name} is not installed: install @evidence-chat/worker again`);
  }
}

/** The folder of an optional package, which only the project in the current folder may have. */
function installedInProject(name) {
  try {
    const project = createRequire(pathToFileURL(join(process.cwd(), "package.json")));
    return join(dirname(project.resolve(`${name}/package.json`)), "dist");
  } catch {
    return undefined;
  }
}
