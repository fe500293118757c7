// What `cargo xtask demo` runs after the build: `npx evidence-chat demo`, with what only a checkout can show.
// `node xtask/src/demo.mjs OPTIONS`, where OPTIONS is the JSON that demo.rs writes.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { report } from "../../packages/evidence-chat/src/cli.mjs";
import { runDemo, SHOP } from "../../packages/evidence-chat/src/demo/demo.mjs";
import { LOGIN } from "../../packages/evidence-chat/src/demo/login.mjs";
import { freePortFrom } from "../../packages/evidence-chat/src/demo/ports.mjs";
import { collectSite } from "./like-production.mjs";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * @typedef {object} Options of `cargo xtask demo`, besides those of `evidence-chat demo`
 * @property {boolean} isDocs shows the documentation site
 * @property {boolean} isLikeProduction lets the Worker serve the page
 * @property {{ python: string, model: string, name: string } | null} modelServer writes the answers
 * @property {"extractive" | "endpoint" | "on_device"} answerMode
 * @property {string} hint
 */

const options = JSON.parse(process.argv[2] ?? "");
process.exitCode = await report(async () => {
  await runDemo(options, await site(options), options.hint);
  return 0;
});

/** @returns {Promise<import("../../packages/evidence-chat/src/demo/demo.mjs").Site>} */
async function site(/** @type {Options} */ { isDocs, isLikeProduction, modelServer, answerMode }) {
  const settings = { answer_mode: answerMode };
  if (isDocs) return { ...(await docs()), settings, prepare: ({ start }) => startModelServer(modelServer, start) };
  return {
    ...SHOP,
    settings,
    server: isLikeProduction ? undefined : SHOP.server,
    async prepare({ data, page, start }) {
      const variables = await startModelServer(modelServer, start);
      if (!isLikeProduction) return variables;
      const assets = join(data, "assets");
      await collectSite(assets, { ...process.env, ...page });
      return { ...variables, ASSETS_DIR: assets };
    },
  };
}

/** Builds the documentation site for the address that it will have, and its pages as documents. */
async function docs() {
  const port = await freePortFrom(5173);
  const env = { ...process.env, DOCS_URL: `http://127.0.0.1:${port}/` };
  await promisify(execFile)(process.execPath, [here("docs-site/build.mjs")], { env, maxBuffer: 2 ** 26 });
  return {
    documents: here("target/docs/kb"),
    example: "Who may see a document?",
    server: here("docs-site/serve.mjs"),
    port,
    lines: () => [`its chat asks as ${LOGIN.email}`],
  };
}

/**
 * Starts the server of a language model, if there is one. Returns the variables with which the Worker asks it.
 * @param {Options["modelServer"]} modelServer
 * @param {import("../../packages/evidence-chat/src/demo/demo.mjs").Preparation["start"]} start
 * @returns {Promise<Record<string, string>>}
 */
async function startModelServer(modelServer, start) {
  if (!modelServer) return {};
  const { python, model, name } = modelServer;
  const command = [python, here("tools/model-server/server.py"), "--name", name, "--model", model];
  const { url } = await start("model-server", command, await freePortFrom(8788));
  return {
    CHAT_LLM_URL: `${url}/v1`,
    CHAT_LLM_MODEL: name,
    // One thread reads about 100 tokens of the passages a second.
    CHAT_LLM_FIRST_TOKEN_MS: "20000",
    CHAT_LLM_TIMEOUT_MS: "40000",
  };
}
