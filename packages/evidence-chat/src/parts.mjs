// Where the parts of the product are: in the published package, or in a checkout after `cargo xtask build`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The published package has copies of the repository's folders in `dist/`. */
const PACKAGED = here("../dist");
const IS_PACKAGED = existsSync(PACKAGED);
const ROOT = IS_PACKAGED ? PACKAGED : here("../../..");

/** Modules to run with Node.js. */
export const SERVERS = {
  supabase: join(ROOT, "local/supabase/server.mjs"),
  worker: join(ROOT, "local/worker/server.mjs"),
  page: join(ROOT, "web/demo/serve.mjs"),
};

/** Documents of the sample shop. */
export const SAMPLE_DOCUMENTS = join(ROOT, "supabase/sample-kb");

/**
 * Collects the Worker and the widget with its model in a folder.
 * @param {string} folder
 * @returns {Promise<Record<string, string>>} the environment that tells the servers where they are; empty in a checkout, where they
 *   find them by themselves
 */
export async function collectParts(folder) {
  if (!IS_PACKAGED) return {};
  const { assemble } = await import("@evidence-chat/worker/assemble");
  await assemble(folder);
  const assets = join(folder, "assets");
  return { WORKER_BUILD_DIR: join(folder, "worker"), ASSETS_DIR: assets, WIDGET_DIR: assets };
}
