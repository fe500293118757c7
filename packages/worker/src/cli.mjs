import { copyFile, readFile } from "node:fs/promises";
import { constants, existsSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { assemble } from "./assemble.mjs";
import { UserError } from "./user-error.mjs";

const USAGE = `Usage: evidence-chat-worker COMMAND

  deploy [OPTION …]   assembles the files and runs "wrangler deploy OPTION …", for example with --dry-run or --env staging
  assemble            only writes the files that wrangler deploys: .evidence-chat/worker and .evidence-chat/assets
  --help, --version

The settings are in wrangler.toml in this folder; if there is none, it is written from a template.
Guide: https://github.com/evidence-chat/evidence-chat/blob/main/docs/deploy.md
`;

/** What the template has in place of the owner's values. */
const PLACEHOLDERS = ["your-project.supabase.co", "sb_publishable_your_key", "www.example.com"];
const CONFIG = "wrangler.toml";
const TEMPLATE = fileURLToPath(new URL("../wrangler.toml", import.meta.url));

/**
 * Runs the command line in the current folder.
 * @param {string[]} args without the names of Node.js and the program
 * @returns {Promise<number>} the exit code: that of wrangler, 1 for a failure, 2 for a wrong usage
 */
export async function main([command, ...args]) {
  try {
    if (command === "deploy") return await deploy(args);
    if (command === "assemble" && args.length === 0) return await prepare();
    if (command === "--version" || command === "-V") console.log(await version());
    else if (command === undefined || command === "--help" || command === "-h") console.log(USAGE.trimEnd());
    else {
      console.error(`error: unknown command "${[command, ...args].join(" ")}"\n\n${USAGE}`);
      return 2;
    }
    return 0;
  } catch (error) {
    console.error(error instanceof UserError ? `error: ${error.message}` : error);
    return 1;
  }
}

async function deploy(args) {
  checkNodeVersion();
  const config = await readConfig();
  const missing = PLACEHOLDERS.filter(
    (placeholder) => config.includes(`"${placeholder}`) || config.includes(`/${placeholder}`),
  );
  if (missing.length > 0) {
    const warning = `${CONFIG} still has the example values ${missing.join(", ")}`;
    if (!args.includes("--dry-run")) throw new UserError(`${warning}: set your own`);
    console.log(`! ${warning}`);
  }
  await prepare();
  return run(process.execPath, [findWrangler(), "deploy", ...args]);
}

async function prepare() {
  await readConfig();
  const folder = resolve(".evidence-chat");
  const { files, bytes } = await assemble(folder);
  const size = (bytes / 1e6).toFixed(1);
  console.log(`✓ ${relative(".", folder)}: the Worker and ${files} static files (${size} MB)`);
  return 0;
}

async function readConfig() {
  if (!existsSync(CONFIG)) {
    if (["wrangler.json", "wrangler.jsonc"].some((name) => existsSync(name))) {
      throw new UserError(`this folder has another Worker's configuration: use an empty folder`);
    }
    await copyFile(TEMPLATE, CONFIG, constants.COPYFILE_EXCL);
    console.log(`✓ wrote ${CONFIG}`);
    console.log("  set SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY and CHAT_ALLOWED_ORIGINS in it");
  }
  const config = await readFile(CONFIG, "utf8");
  if (!config.includes(".evidence-chat/worker/index.js")) {
    throw new UserError(`${CONFIG} is not one of Evidence Chat: its "main" must be ".evidence-chat/worker/index.js"`);
  }
  return config;
}

/** The wrangler of the project in this folder, or the version that this package is tested with. */
function findWrangler() {
  for (const from of [pathToFileURL(join(process.cwd(), "package.json")), import.meta.url]) {
    try {
      return join(dirname(createRequire(from).resolve("wrangler/package.json")), "bin/wrangler.js");
    } catch {
      // Look in the next place.
    }
  }
  throw new UserError("wrangler is not installed: run `npm install --save-dev wrangler`");
}

/** A terminal sends Ctrl-C to both processes; this one waits for the other's end, and passes other signals on. */
async function run(program, args) {
  const child = spawn(program, args, { stdio: "inherit" });
  process.on("SIGINT", () => {});
  for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  const [code] = await once(child, "exit");
  return code ?? 1;
}

/** npm only warns about `engines`, and wrangler's own message does not say which program needs what. */
function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 12)) {
    throw new UserError(`Node.js 22.12 or newer is needed; this is ${process.versions.node}`);
  }
}

async function version() {
  return JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")).version;
}
