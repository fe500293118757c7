import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ask } from "./ask.mjs";
import { createProject } from "./project.mjs";
import { QUESTIONS } from "./questions.mjs";
import { steps } from "./steps.mjs";
import { UserError } from "./user-error.mjs";

const OPTIONS = /** @type {const} */ ({
  "supabase-url": { type: "string" },
  "supabase-key": { type: "string" },
  origin: { type: "string" },
  name: { type: "string" },
  visitors: { type: "string" },
  documents: { type: "string" },
  yes: { type: "boolean", short: "y" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
});

const USAGE = `Usage: create-evidence-chat [FOLDER] [options]

Writes a folder from which Evidence Chat is deployed: the Worker's settings, the database schema, the tag for your pages and
scripts. It asks for what the options do not say, never overwrites a file, and contacts no server.

Options:
  --supabase-url URL  your Supabase project: https://YOUR-REF.supabase.co
  --supabase-key KEY  its publishable key (sb_publishable_…), never the secret one
  --origin URLS       pages that may use the chat, comma-separated: https://www.example.com or https://*.example.com
  --name NAME         name of the Worker: lower-case letters, digits and hyphens
  --visitors WHO      who may ask: "accounts" (users who sign in on your site) or "anonymous" (also visitors without an account)
  --documents DIR     folder of documents, relative to FOLDER
  --yes               take the defaults instead of asking
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
    parsed = parseArgs({ args, allowPositionals: true, options: OPTIONS });
    if (parsed.positionals.length > 1) throw new Error(`unexpected argument "${parsed.positionals[1]}"`);
  } catch (error) {
    console.error(`error: ${/** @type {Error} */ (error).message}\n\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  if (values.version) console.log(await version());
  else if (values.help) console.log(USAGE.trimEnd());
  else return create(positionals[0] ?? "evidence-chat", values);
  return 0;
}

async function create(name, values) {
  try {
    const folder = resolve(name);
    const answers = await ask(QUESTIONS, values, { folder });
    for (const file of await createProject(folder, answers)) console.log(`✓ ${file}`);
    console.log(`\n${steps(relative(".", folder) || ".", answers)}`);
    return 0;
  } catch (error) {
    const isExpected = error instanceof UserError || isSystemError(error);
    console.error(isExpected ? `error: ${error.message}` : error);
    return 1;
  }
}

/** Such as a folder that this user may not write to. */
function isSystemError(error) {
  return error instanceof Error && "syscall" in error;
}

async function version() {
  return JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")).version;
}
