// Where the servers of the demo are: in a checkout after `cargo xtask build`, or where the published package installs them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assemble } from "../deploy/assemble.mjs";
import { UserError } from "../user-error.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Folders of the repository that the published package has copies of. */
const PACKAGED = here("../../dist");
const IS_PACKAGED = existsSync(PACKAGED);
const { version } = JSON.parse(readFileSync(here("../../package.json"), "utf8"));

/** The folder for data of this program. */
export const DATA_HOME = join(dataHome(), "evidence-chat");
/** Has the folders of the repository, and in `local/` the packages that the servers import. */
const ROOT = IS_PACKAGED ? join(DATA_HOME, `servers-${version}`) : here("../../../..");

/** Modules to run with Node.js. */
export const SERVERS = {
  supabase: join(ROOT, "local/supabase/server.mjs"),
  worker: join(ROOT, "local/worker/server.mjs"),
  page: join(ROOT, "web/demo/serve.mjs"),
};

/** Documents of the sample shop. */
export const SAMPLE_DOCUMENTS = join(IS_PACKAGED ? PACKAGED : ROOT, "supabase/sample-kb");

/**
 * Installs the servers, unless an earlier run did. The other commands do not need them, so they are no dependencies.
 * @param {AbortSignal} signal
 * @returns {Promise<Record<string, string>>} environment that they need in addition
 */
export async function installServers(signal) {
  if (!IS_PACKAGED) return {};
  if (!existsSync(ROOT)) {
    console.log(`• installing the local Supabase and workerd, 350 MB, into ${ROOT}`);
    const partial = `${ROOT}.${process.pid}`;
    try {
      await mkdir(DATA_HOME, { recursive: true });
      await cp(PACKAGED, partial, { recursive: true });
      await assemble(join(partial, "edge-chat"));
      await npmInstall(join(partial, "local"), signal);
      // The folder is complete when it exists. Another demo may have been faster.
      await rename(partial, ROOT).catch((error) => {
        if (!existsSync(ROOT)) throw error;
      });
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }
  return { WIDGET_DIR: join(ROOT, "edge-chat/assets") };
}

async function npmInstall(folder, signal) {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  // No package needs its scripts here, and nobody has read those of the newest versions.
  const args = ["install", "--omit=dev", "--ignore-scripts", "--no-package-lock", ...quiet];
  // On Windows, npm is a batch file, which only a shell can run.
  const shell = process.platform === "win32";
  signal.throwIfAborted();
  const npm = spawn("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"], shell });
  const kill = () => npm.kill();
  signal.addEventListener("abort", kill);
  const [code] = await once(npm, "exit").catch((error) => {
    throw new UserError(`cannot start npm: ${error.message}`);
  });
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  if (code !== 0) throw new UserError(`npm could not install the packages of the demo (exit code ${code})`);
}

function dataHome() {
  if (process.env.XDG_DATA_HOME) return process.env.XDG_DATA_HOME;
  if (process.platform === "win32") return process.env.LOCALAPPDATA ?? join(homedir(), "AppData/Local");
  return join(homedir(), process.platform === "darwin" ? "Library/Application Support" : ".local/share");
}
