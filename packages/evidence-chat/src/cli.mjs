import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { UserError } from "./user-error.mjs";

const USAGE = `Usage: evidence-chat COMMAND [options]

  demo [options]            runs Evidence Chat on this computer
  create [FOLDER] [options] writes a folder from which a site deploys it
  deploy [options]          deploys the Worker of the folder
  kb COMMAND [options]      fills, checks and asks the knowledge base
  --version

\`evidence-chat COMMAND --help\` describes a command.
`;

/**
 * A command of the program. Without `options`, `run` gets the arguments as they are.
 * @typedef {object} Command
 * @property {string} [usage]
 * @property {import("node:util").ParseArgsConfig["options"]} [options]
 * @property {number} [positionals] how many arguments without a name it takes at most; none by default
 * @property {(args: any, positionals: string[]) => Promise<number>} run returns the exit code
 */

/** Loaded one at a time: `kb` must start without the servers of the demo. @type {Record<string, () => Promise<Command>>} */
const COMMANDS = {
  demo: () => import("./demo/command.mjs"),
  create: () => import("./create/create.mjs"),
  deploy: () => import("./deploy/deploy.mjs"),
  kb: () => import("./kb/kb.mjs"),
};

/**
 * Runs the command line.
 * @param {string[]} args without the names of Node.js and the program
 * @returns {Promise<number>} the exit code: 0, 1 for a failure, 2 for a wrong usage, otherwise that of kb or wrangler
 */
export async function main([name = "--help", ...args]) {
  if (name === "--version" || name === "-V") return print(await version());
  if (name === "--help" || name === "-h") return print(USAGE);
  if (!Object.hasOwn(COMMANDS, name)) return fail(`unknown command "${name}"`, USAGE);
  return report(async () => {
    checkNodeVersion();
    const load = /** @type {() => Promise<Command>} */ (COMMANDS[name]);
    const { usage = "", options, positionals: most = 0, run } = await load();
    if (usage && args.some((arg) => arg === "--help" || arg === "-h")) return print(usage);
    if (!options) return run(args, []);
    let parsed;
    try {
      parsed = parseArgs({ args, allowPositionals: true, options });
    } catch (error) {
      return fail(/** @type {Error} */ (error).message, usage);
    }
    const { values, positionals } = parsed;
    if (positionals.length > most) return fail(`unexpected argument "${positionals[most]}"`, usage);
    return run(values, positionals);
  });
}

/** Runs a command and returns its exit code. An error that the user can fix is printed as one line. */
export async function report(/** @type {() => Promise<number>} */ command) {
  try {
    return await command();
  } catch (error) {
    // A system error is, for example, a folder that this user may not write to.
    const isExpected = error instanceof UserError || (error instanceof Error && "syscall" in error);
    console.error(isExpected ? `error: ${error.message}` : error);
    return 1;
  }
}

function print(/** @type {string} */ text) {
  console.log(text.trimEnd());
  return 0;
}

function fail(/** @type {string} */ message, /** @type {string} */ usage) {
  console.error(`error: ${message}\n\n${usage}`);
  return 2;
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
