import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { HOST, StartupError, listen } from "../service.mjs";

// Disables a request for the place of this machine. Read when the package loads.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
/**
 * With `require`: before an import of CommonJS, Node.js searches the whole source for the names of its exports, which takes as
 * long as running it.
 * @type {typeof import("miniflare")}
 */
const miniflarePackage = createRequire(import.meta.url)("miniflare");
const { Log, LogLevel, Miniflare, convertV4MiniflareOptions: asOptions } = miniflarePackage;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUILD_DIR = process.env.WORKER_BUILD_DIR || path.join(ROOT, "edge-chat/build");
/** The static files that wrangler.toml names; filled by `cargo xtask build assets`. */
export const ASSETS_DIR = path.join(ROOT, "edge-chat/assets");

const COMPATIBILITY_DATE = "2026-11-17";
const COMPATIBILITY_FLAGS = ["enable_request_signal"];
/** wrangler.toml in the form of Miniflare. wrangler itself takes more than a second to say this. */
export const WORKER_OPTIONS = {
  compatibilityDate: COMPATIBILITY_DATE,
  compatibilityFlags: COMPATIBILITY_FLAGS,
  durableObjects: { USER_GATE: { className: "UserGate", useSQLite: true } },
  ratelimits: {
    REQUEST_LIMIT: {
      type: "ratelimit",
      name: "REQUEST_LIMIT",
      namespace_id: "1001",
      simple: { limit: 600, period: /** @type {const} */ (60) },
    },
  },
  assets: {
    run_worker_first: ["/api/*"],
    routerConfig: { has_user_worker: true, static_routing: { asset_worker: [], user_worker: ["/api/*"] } },
    assetConfig: { compatibility_date: COMPATIBILITY_DATE, compatibility_flags: COMPATIBILITY_FLAGS },
  },
};

/** The rough limit is at least this multiple of the exact one, to allow for repeats, searches and rejected attempts. */
const REQUEST_MARGIN = 30;

/** The Worker's environment variables. */
export const VARIABLES = [
  "SUPABASE_URL",
  "SUPABASE_PUBLISHABLE_KEY",
  "SUPABASE_JWT_SECRET",
  "SUPABASE_JWKS_URL",
  "SUPABASE_JWT_ISSUER",
  "CHAT_WORKER_SECRET",
  "CHAT_ALLOWED_ORIGINS",
  "CHAT_LLM_PROVIDER",
  "CHAT_LLM_URL",
  "CHAT_LLM_MODEL",
  "CHAT_LLM_KEY",
  "CHAT_LLM_TIMEOUT_MS",
  "CHAT_LLM_FIRST_TOKEN_MS",
  "CHAT_LLM_MAX_TOKENS",
  "CHAT_LLM_DAILY_TOKENS_USER",
  "CHAT_LLM_DAILY_TOKENS_SITE",
  "CHAT_LLM_DECLINE",
  "CHAT_RATE_LIMIT",
  "CHAT_SEARCH",
  "CHAT_CLIENT_ADDRESS_HEADER",
  "CHAT_ANONYMOUS",
  "CHAT_TURNSTILE_SITE_KEY",
  "CHAT_UPSTREAM_TIMEOUT_MS",
];

/**
 * Starts the built Worker.
 * @param {object} options
 * @param {number} [options.port] 0, the default, picks a free one
 * @param {Record<string, string | undefined>} [options.variables] the Worker's own
 * @param {string} [options.persistDir] stores the Durable Objects; without it they are lost with the process
 * @param {string} [options.assets] the folder of the static files; without it there are none
 * @param {string} [options.entry] a module that replaces the Worker's entry point and can import the Worker from
 * `./index.js`
 * @param {string[]} [options.without] rate limits of wrangler.toml to leave out. For tests
 * @param {boolean} [options.direct] skips the proxy in front of the Worker, which hides broken connections. For tests
 * @param {(line: string) => void} [options.onLog] gets the Worker's log lines instead of this process's output
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function startWorker({
  port = 0,
  variables = {},
  persistDir,
  assets,
  entry,
  without = [],
  direct,
  onLog = console.log,
} = {}) {
  const modules = builtModules(entry);
  await assertPortIsFree(port);
  const bindings = VARIABLES.filter((name) => variables[name] !== undefined).map((name) => [name, variables[name]]);
  /** @type {import("miniflare").V4MiniflareOptions} */
  const v4Options = {
    ...WORKER_OPTIONS,
    assets: assets === undefined ? undefined : { ...WORKER_OPTIONS.assets, directory: assets },
    ratelimits: rateLimits(without, Number(variables.CHAT_RATE_LIMIT) || 0),
    bindings: Object.fromEntries(bindings),
    modulesRoot: BUILD_DIR,
    modules,
    host: HOST,
    port,
    cf: false,
    resourcePersistencePath: persistDir,
    telemetry: { enabled: false },
    log: new Log(LogLevel.WARN),
    ...(direct && { unsafeDirectSockets: [{ host: HOST, port: 0 }] }),
    handleStructuredLogs: ({ message }) => message.split("\n").forEach((line) => onLog(line)),
  };
  const miniflare = new Miniflare(asOptions(v4Options));
  const proxy = await miniflare.ready;
  const url = direct ? await miniflare.unsafeGetDirectURL() : proxy;
  return { url: url.origin, close: () => miniflare.dispose() };
}

/** The rough limit of wrangler.toml. It must stay above the exact one, whatever that is. */
function rateLimits(without, rateLimit) {
  const limits = Object.entries(WORKER_OPTIONS.ratelimits).filter(([name]) => !without.includes(name));
  return Object.fromEntries(
    limits.map(([name, { simple, ...rest }]) => {
      const limit = Math.max(simple.limit, rateLimit * REQUEST_MARGIN);
      return [name, { ...rest, simple: { ...simple, limit } }];
    }),
  );
}

/**
 * The Worker's modules. The first one is the entry point.
 * @returns {import("miniflare").V4ModuleDefinition[]}
 */
function builtModules(entry) {
  const main = path.join(BUILD_DIR, "index.js");
  if (!existsSync(main)) {
    throw new StartupError("The Worker is not built yet; run `cargo xtask build worker` first.");
  }
  const wasm = readdirSync(BUILD_DIR).filter((name) => name.endsWith(".wasm"));
  /** @type {import("miniflare").V4ModuleDefinition[]} */
  const compiled = wasm.map((name) => ({ type: "CompiledWasm", path: path.join(BUILD_DIR, name) }));
  return [...(entry ? [entryModule(entry)] : []), { type: "ESModule", path: main }, ...compiled];
}

/** @returns {import("miniflare").V4ModuleDefinition} */
function entryModule(entry) {
  return { type: "ESModule", path: path.join(BUILD_DIR, path.basename(entry)), contents: readFileSync(entry, "utf8") };
}

/** Tries the port first, because the runtime reports a port in use with a stack trace. */
async function assertPortIsFree(port) {
  const probe = createServer();
  await listen(probe, port);
  probe.close();
  await once(probe, "close");
}
