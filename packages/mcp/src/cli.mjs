import { readFile } from "node:fs/promises";
import { createEmbedder } from "@evidence-chat/embedder";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { clientOptions } from "./account.mjs";
import { readOptions } from "./options.mjs";
import { createServer } from "./server.mjs";
import { UserError } from "./user-error.mjs";

const USAGE = `Usage: evidence-chat-mcp [--help | --version]

An MCP server on standard input and output. Your MCP client starts it with these environment variables:

  EVIDENCE_CHAT_URL         address of the Worker, such as https://chat.example.com (required)
  and one of
  EVIDENCE_CHAT_TOKEN_FILE  path of a file with the user's access token, read again for each question
  EVIDENCE_CHAT_TOKEN       the access token
  EVIDENCE_CHAT_ANONYMOUS   "true": ask as a visitor without an account, if the site allows it
  optional
  EVIDENCE_CHAT_ASSISTANT   name of the assistant that is asked
  EMBEDDER_MODEL_URL        the model file, as file: or https: URL, with the reader's file next to it; default: the files in
                            @evidence-chat/embedder

Guide: https://github.com/evidence-chat/evidence-chat/blob/main/docs/mcp.md
`;

/**
 * Runs the server until standard input ends.
 * @param {string[]} args without the names of Node.js and the program
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Promise<number>} the exit code: 1 for a failure, 2 for a wrong usage
 */
export async function main(args, env) {
  const [option] = args;
  const version = await readVersion();
  if (option === "--help" || option === "-h") console.log(USAGE.trimEnd());
  else if (option === "--version" || option === "-V") console.log(version);
  else if (option !== undefined) {
    console.error(`error: unknown argument "${option}": settings are environment variables\n\n${USAGE}`);
    return 2;
  } else return serve(version, env);
  return 0;
}

async function serve(/** @type {string} */ version, /** @type {Readonly<Record<string, string | undefined>>} */ env) {
  try {
    const options = readOptions(env);
    const loadModels = modelLoader(options.modelUrl);
    const server = createServer({ version, loadModels, client: clientOptions(options), report });
    // Before the first question, and not before `initialize` is answered.
    server.server.oninitialized = () => void loadModels().catch(() => {});
    await server.connect(new StdioServerTransport());
    // The client has ended: cancels the calls that run.
    process.stdin.once("end", () => void server.close());
    process.stdout.once("error", () => process.exit(0));
    await new Promise((resolve) => (server.server.onclose = () => resolve(undefined)));
    return 0;
  } catch (error) {
    report(error);
    return 1;
  }
}

/** Loads the models once; after a failure, the next call tries again. */
function modelLoader(/** @type {string | undefined} */ modelUrl) {
  /** @type {ReturnType<typeof loadModels> | undefined} */
  let loading;
  return () => (loading ??= loadModels(modelUrl).catch((error) => ((loading = undefined), Promise.reject(error))));
}

async function loadModels(/** @type {string | undefined} */ modelUrl) {
  const embedder = await createEmbedder({ modelUrl });
  const reader = await embedder.loadReader().then(
    () => embedder,
    (error) => void console.error(`The search decides alone, without the reader: ${error.message}`),
  );
  return { embedder, reader };
}

/** Standard output belongs to the protocol. Neither questions nor tokens are in the messages of these errors. */
function report(/** @type {unknown} */ error) {
  if (error instanceof UserError) return console.error(`error: ${error.message}`);
  const cause = error instanceof Error && error.cause instanceof UserError ? error.cause.message : undefined;
  console.error(cause ? `error: ${cause}` : error);
}

/** @returns {Promise<string>} */
async function readVersion() {
  return JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")).version;
}
