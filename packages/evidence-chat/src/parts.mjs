// Where the parts of the product are: in the published package, or in a checkout after `cargo xtask build`.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "./user-error.mjs";

const require = createRequire(import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The published package has copies of the repository's folders in `dist/`. */
const PACKAGED = here("../dist");
const IS_PACKAGED = existsSync(PACKAGED);
const ROOT = IS_PACKAGED ? PACKAGED : here("../../..");

/** Modules to run with Node.js. */
export const SERVERS = {
  supabase: join(ROOT, "supabase/local/server.mjs"),
  worker: join(ROOT, "edge-chat/local/server.mjs"),
  page: join(ROOT, "web/demo/serve.mjs"),
};

/** Documents of the sample shop. */
export const SAMPLE_DOCUMENTS = join(ROOT, "supabase/sample-kb");

/** Environment of the servers: where the files of other packages are. */
export function partsEnvironment() {
  if (!IS_PACKAGED) return {};
  return {
    WORKER_BUILD_DIR: installed("@evidence-chat/worker", "build"),
    WIDGET_DIR: installed("@evidence-chat/widget", "dist"),
  };
}

function installed(name, folder) {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), folder);
  } catch {
    throw new UserError(`the package ${name} is not installed: install evidence-chat again`);
  }
}
