import { constants, existsSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { packageVersions, WORKER_CONFIG } from "../create/project.mjs";
import { runProgram } from "../program.mjs";
import { UserError } from "../user-error.mjs";
import { assemble } from "./assemble.mjs";

export const usage = `Usage: evidence-chat deploy [options of wrangler]

Writes the Worker and the static files to .evidence-chat, and runs "wrangler deploy", for example with --dry-run or --env staging.
The settings are in wrangler.toml in this folder; if there is none, it is written from a template.
Guide: https://github.com/evidence-chat/evidence-chat/blob/main/docs/deploy.md
`;

/** The owner's values, as the template has them. */
const PLACEHOLDERS = ["your-project.supabase.co", "sb_publishable_your_key", "www.example.com"];
const CONFIG = "wrangler.toml";

/** Returns the exit code of wrangler. */
export async function run(/** @type {string[]} */ args) {
  const config = await readConfig();
  const missing = PLACEHOLDERS.filter(
    (placeholder) => config.includes(`"${placeholder}`) || config.includes(`/${placeholder}`),
  );
  if (missing.length > 0) {
    const warning = `${CONFIG} still has the example values ${missing.join(", ")}`;
    if (!args.includes("--dry-run")) throw new UserError(`${warning}: set your own`);
    console.log(`! ${warning}`);
  }
  const wrangler = await findWrangler();
  const folder = resolve(".evidence-chat");
  const { files, bytes } = await assemble(folder);
  const size = (bytes / 1e6).toFixed(1);
  console.log(`✓ ${relative(".", folder)}: the Worker and ${files} static files (${size} MB)`);
  return runProgram(process.execPath, [wrangler, "deploy", ...args]);
}

async function readConfig() {
  if (!existsSync(CONFIG)) {
    if (["wrangler.json", "wrangler.jsonc"].some((name) => existsSync(name))) {
      throw new UserError(`this folder has another Worker's configuration: use an empty folder`);
    }
    await copyFile(WORKER_CONFIG, CONFIG, constants.COPYFILE_EXCL);
    console.log(`✓ wrote ${CONFIG}`);
    console.log("  set SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY and CHAT_ALLOWED_ORIGINS in it");
  }
  const config = await readFile(CONFIG, "utf8");
  if (!config.includes(".evidence-chat/build/index.js")) {
    throw new UserError(`${CONFIG} is not one of Evidence Chat: its "main" must be ".evidence-chat/build/index.js"`);
  }
  return config;
}

/** The wrangler of the project in this folder: this package does not bring its 200 MB along. */
async function findWrangler() {
  try {
    const require = createRequire(join(process.cwd(), "package.json"));
    return join(dirname(require.resolve("wrangler/package.json")), "bin/wrangler.js");
  } catch {
    const { wrangler } = await packageVersions();
    throw new UserError(`wrangler is not installed: run \`npm install --save-dev wrangler@${wrangler}\``);
  }
}
