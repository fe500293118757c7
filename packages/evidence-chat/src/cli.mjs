import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { UserError } from "./user-error.mjs";

const USAGE = `Usage: evidence-chat demo [options]

Runs Evidence Chat on this computer: a local Supabase, the Worker and a page, and fills the knowledge base with documents.
Nothing leaves the computer.

Options:
  --kb DIR            folder of documents for the knowledge base; default: the pages of a sample shop
  --data DIR          folder for the local database and its keys; created if it does not exist
  --json FILE         file for the addresses, the login and the process ids
  --allow-origin URL  origin of a page that may also use the chat, for example http://localhost:9000; repeatable
  --help, --version
`;

/**
 * Runs the command line.
 * @param {string[]} args without the names of Node.js and the program
 * @returns {Promise<number>} the exit code: 0, 1 for a failure, 2 for a wrong usage
 */
export async function main(args) {
  let parsed;
  try {
    parsed = parse(args);
  } catch (error) {
    console.error(`error: ${/** @type {Error} */ (error).message}\n\n${USAGE}`);
    return 2;
  }
  const { values } = parsed;
  if (values.version) console.log(await version());
  else if (values.help || !parsed.command) console.log(USAGE.trimEnd());
  else {
    return report(async () => {
      // Loaded here, so that --help works everywhere.
      const { runDemo } = await import("./demo.mjs");
      await runDemo({ ...values, allowOrigins: values["allow-origin"] });
    });
  }
  return 0;
}

function parse(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      kb: { type: "string" },
      data: { type: "string" },
      json: { type: "string" },
      "allow-origin": { type: "string", multiple: true },
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "V" },
    },
  });
  const [command, ...rest] = positionals;
  if (rest.length > 0) throw new Error(`unexpected argument "${rest[0]}"`);
  if (command !== undefined && command !== "demo") throw new Error(`unknown command "${command}"`);
  return { command, values };
}

/** Runs a demo and returns the exit code. */
export async function report(/** @type {() => Promise<void>} */ demo) {
  try {
    checkNodeVersion();
    await demo();
    return 0;
  } catch (error) {
    console.error(error instanceof UserError ? `error: ${error.message}` : error);
    return 1;
  }
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
