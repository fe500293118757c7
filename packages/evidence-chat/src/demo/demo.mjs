// `evidence-chat demo`: runs the whole product on this computer.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, readdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { locateKb, locateModel } from "../kb/locate.mjs";
import { changeRow, createLogin, LOGIN } from "./login.mjs";
import { DATA_HOME, installServers, SAMPLE_DOCUMENTS, SERVERS } from "./parts.mjs";
import { freePortFrom } from "./ports.mjs";
import { Service } from "./service.mjs";
import { UserError } from "../user-error.mjs";

/** @type {NodeJS.Signals[]} */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * The page and documents of a demo. `cargo xtask demo` has others.
 * @typedef {object} Site
 * @property {string} documents folder of documents, unless the user names another
 * @property {string} example a question that they answer
 * @property {string} [server] the module that serves the page; without it, the Worker serves the page
 * @property {object} [settings] columns of the assistant `default`
 * @property {number} [port] the first port to try for the page
 * @property {(url: string) => string[]} lines what to print about the page
 * @property {(demo: Preparation) => Promise<Record<string, string>>} [prepare] makes and starts what the Worker needs
 *   besides, and returns variables of the Worker
 *
 * @typedef {object} Preparation
 * @property {string} data folder
 * @property {Record<string, string | undefined>} page variables of the page's server
 * @property {(name: string, command: string[], port: number) => Promise<Service>} start starts a service
 */

/** The page of the sample shop. @type {Site} */
export const SHOP = {
  documents: SAMPLE_DOCUMENTS,
  example: "Can I get my money back after two weeks?",
  server: SERVERS.page,
  lines: (url) => [
    `sign in with ${LOGIN.email} and password ${LOGIN.password}`,
    `what visitors ask, with the same login: ${url}/insights/`,
  ],
};

/**
 * Runs until Ctrl-C or SIGTERM.
 * @param {{ kb?: string, data?: string, json?: string, allowOrigins?: readonly string[] }} options see command.mjs
 * @param {string} hint printed when the demo is ready
 */
export async function runDemo(options, site = SHOP, hint = "to put it on your site: npx evidence-chat create") {
  const stop = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => stop.abort(new UserError("stopped")));
  const services = [];
  try {
    await startAndWait(options, { site, hint, services, signal: stop.signal });
  } catch (error) {
    // An error after Ctrl-C is a consequence of stopping.
    if (!stop.signal.aborted) throw error;
  } finally {
    for (const service of services.reverse()) await service.stop();
  }
  console.log("stopped");
}

async function startAndWait(options, { site, hint, services, signal }) {
  const started = Date.now();
  const documents = await existingFolder(options.kb ?? site.documents);
  const origins = (options.allowOrigins ?? []).map(parseOrigin);
  const [kb, model] = [locateKb(), locateModel()];
  const data = resolve(options.data ?? defaultDataFolder(documents));
  const logs = join(data, "logs");
  await mkdir(logs, { recursive: true, mode: 0o700 });

  const start = async (name, command, port, env = {}) => {
    const service = await Service.start({ name, command, port, env, logs, signal });
    services.push(service);
    return service;
  };
  const parts = await installServers(signal);
  const startModule = (name, module, port, env) => start(name, [process.execPath, module], port, env);

  const supabase = await startModule("supabase", SERVERS.supabase, await freePortFrom(54321), { DATA_DIR: data });
  const keys = JSON.parse(await readFile(join(data, "keys.json"), "utf8"));
  const project = { ...parts, SUPABASE_URL: supabase.url, SUPABASE_PUBLISHABLE_KEY: keys.publishable_key };
  await createLogin(supabase.url, keys);
  if (site.settings) {
    await changeRow({ url: supabase.url, secretKey: keys.secret_key }, "assistants?name=eq.default", site.settings);
  }
  const pageSettings = {
    ...project,
    DEMO_EMAIL: LOGIN.email,
    DEMO_PASSWORD: LOGIN.password,
    DEMO_OWN_DOCUMENTS: options.kb ? "1" : undefined,
  };
  const more = await site.prepare?.({ data, page: pageSettings, start });
  // The Worker needs the page's address before the page starts, and the page needs the Worker's.
  const workerPort = await freePortFrom(8787);
  const pagePort = site.server ? await freePortFrom(site.port ?? 5173) : workerPort;
  const worker = await startModule("worker", SERVERS.worker, workerPort, {
    ...project,
    ...more,
    DATA_DIR: data,
    SUPABASE_JWT_SECRET: keys.jwt_secret,
    CHAT_WORKER_SECRET: keys.worker_secret,
    CHAT_ALLOWED_ORIGINS: [`http://127.0.0.1:${pagePort}`, `http://localhost:${pagePort}`, ...origins].join(),
  });
  const page = site.server
    ? await startModule("page", site.server, pagePort, { ...pageSettings, CHAT_ENDPOINT: `${worker.url}/api/chat` })
    : worker;

  const isSample = options.kb === undefined;
  await fill(kb, documents, signal, {
    isSample,
    env: { SUPABASE_URL: supabase.url, SUPABASE_SECRET_KEY: keys.secret_key, EVIDENCE_MODEL_DIR: model },
  });
  const forget = await writeDescription(resolve(options.json ?? join(data, "demo.json")), {
    page_url: page.url,
    chat_url: `${worker.url}/api/chat`,
    worker_url: worker.url,
    supabase_url: supabase.url,
    model_server_url: services.find(({ name }) => name === "model-server")?.url,
    publishable_key: keys.publishable_key,
    login: LOGIN,
    data_dir: data,
    processes: { demo: process.pid, ...Object.fromEntries(services.map(({ name, id }) => [name, id])) },
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  const lines = [
    ...site.lines(page.url),
    `ask ${isSample ? `"${site.example}"` : "what your documents answer"}`,
    hint,
    "Ctrl-C stops it",
  ];
  console.log(`\nEvidence Chat is ready (${seconds} s): ${page.url}\n${lines.map((line) => `  ${line}\n`).join("")}`);
  await untilStopped(services, signal);
  await forget();
}

/** Reports services that stop by themselves and keeps the others running. */
async function untilStopped(services, signal) {
  for (const service of services) {
    void service.untilStopped().then((message) => {
      if (!signal.aborted) console.log(`! ${message}`);
    });
  }
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * Runs `kb sync` with the folder; stops it when `signal` is aborted. A document that cannot be read ends the demo only if it is one
 * of the sample: a user's own folder may contain any file.
 */
export async function fill(kb, documents, signal, { isSample, env }) {
  if ((await readdir(documents)).length === 0) {
    console.log(`• ${documents} is empty: not changing the knowledge base`);
    return;
  }
  console.log(`• reading ${documents} into the knowledge base`);
  signal.throwIfAborted();
  // Another folder of the same name replaces the one before.
  const child = spawn(kb, ["sync", documents, "--change-settings"], {
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  const kill = () => child.kill("SIGTERM");
  signal.addEventListener("abort", kill);
  const [code] = await once(child, "exit").catch((error) => {
    throw new UserError(`cannot start ${kb}: ${error.message}`);
  });
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  if (code === 1 && !isSample)
    console.log("! kb sync reported failures, see above; the chat answers from the documents that could be read");
  else if (code !== 0) throw new UserError(`kb sync failed with exit code ${code}`);
}

/** Writes the file and returns a function that removes it again, unless another demo has replaced it. */
async function writeDescription(path, description) {
  const text = `${JSON.stringify(description, null, 2)}\n`;
  await mkdir(dirname(path), { recursive: true });
  // Readers wait for this file, so it is renamed into place when it is complete.
  await writeFile(`${path}.partial`, text, { mode: 0o600 });
  await rename(`${path}.partial`, path);
  return async () => {
    if ((await readFile(path, "utf8").catch(() => "")) === text) await rm(path);
  };
}

async function existingFolder(path) {
  const isFolder = await stat(path).then(
    (entry) => entry.isDirectory(),
    () => undefined,
  );
  if (isFolder === undefined) throw new UserError(`--kb ${path}: no such folder`);
  if (!isFolder) throw new UserError(`--kb ${path}: not a folder`);
  return realpath(path);
}

/** One folder for each folder of documents, so that a sync never replaces other documents. */
function defaultDataFolder(documents) {
  const isSample = documents === SAMPLE_DOCUMENTS;
  const name = isSample ? "sample" : createHash("sha256").update(documents).digest("hex").slice(0, 12);
  return join(DATA_HOME, `demo-${name}`);
}

/** An origin as browsers send it: without a path. */
export function parseOrigin(text) {
  const [, origin] = /^(https?:\/\/[^\s/,?#@]+)\/*$/.exec(text) ?? [];
  if (!origin) throw new UserError(`--allow-origin ${text}: must be an origin such as http://localhost:9000`);
  return origin;
}
