import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { HOST, StartupError, listen } from "@evidence-chat/local-service";

// Read when the packages load: neither may call home.
process.env.WRANGLER_SEND_METRICS ??= "false";
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
const { Log, LogLevel, Miniflare, convertV4MiniflareOptions: asOptions } = await import("miniflare");
const { unstable_getMiniflareWorkerOptions: readWorkerOptions } = await import("wrangler");

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const CONFIG = path.join(ROOT, "wrangler.toml");
const BUILD_DIR = path.join(ROOT, "edge-chat/build");

/** How many requests for answers there may be to one question: repeats, and attempts beyond the exact limit. */
const QUESTION_MARGIN = 6;

/** What the Worker reads from its environment. */
const VARIABLES = [
  "SUPABASE_URL",
  "SUPABASE_PUBLISHABLE_KEY",
  "SUPABASE_JWT_SECRET",
  "SUPABASE_JWKS_URL",
  "SUPABASE_JWT_ISSUER",
  "CHAT_WORKER_SECRET",
  "CHAT_ALLOWED_ORIGINS",
  "CHAT_EVIDENCE_THRESHOLD",
  "CHAT_EVIDENCE_CONFIDENCE",
  "CHAT_MATCH_COUNT",
  "CHAT_LINK_MODE",
  "CHAT_CITATIONS",
  "CHAT_REFUSAL_MESSAGE",
  "CHAT_SUGGESTIONS",
  "CHAT_GREETING",
  "CHAT_SUGGESTED_QUESTIONS",
  "CHAT_LOG_QUESTIONS",
  "CHAT_RATE_LIMIT",
  "CHAT_CLIENT_ADDRESS_HEADER",
  "CHAT_UPSTREAM_TIMEOUT_MS",
];

/**
 * Starts the built Worker.
 * @param {object} options
 * @param {number} [options.port] 0, the default, picks a free one
 * @param {Record<string, string | undefined>} [options.variables] win over wrangler.toml; an empty one
 * takes away what stands there
 * @param {string} [options.persistDir] keeps the Durable Objects; without it they end with the Worker
 * @param {string} [options.entry] a module that runs instead of the Worker's own, beside it; it finds the Worker in
 * `./index.js`. For tests
 * @param {string[]} [options.without] rate limits of wrangler.toml that are left out. For tests
 * @param {boolean} [options.direct] leaves out the proxy in front of the Worker, which hides broken connections. For tests
 * @param {(line: string) => void} [options.onLog] gets the Worker's log lines instead of this process's output
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function startWorker({
  port = 0,
  variables = {},
  persistDir,
  entry,
  without = [],
  direct,
  onLog = console.log,
} = {}) {
  const modules = builtModules(entry);
  await refuseTakenPort(port);
  const { workerOptions } = readWorkerOptions(CONFIG);
  const overrides = VARIABLES.filter((name) => variables[name] !== undefined).map((name) => [name, variables[name]]);
  // What wrangler reads from its file has the shape of an older Miniflare; so has the rest, to be converted at once.
  const options = asOptions({
    ...workerOptions,
    ratelimits: rateLimits(workerOptions.ratelimits, without, Number(variables.CHAT_RATE_LIMIT) || 0),
    bindings: { ...workerOptions.bindings, ...Object.fromEntries(overrides) },
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
  });
  const miniflare = new Miniflare(options);
  const proxy = await miniflare.ready;
  const url = direct ? await miniflare.unsafeGetDirectURL() : proxy;
  return { url: url.origin, close: () => miniflare.dispose() };
}

/** The limits of wrangler.toml. That of questions is to stay above the exact one, however that is set. */
function rateLimits(ratelimits, without, rateLimit) {
  const limits = Object.entries(ratelimits).filter(([name]) => !without.includes(name));
  return Object.fromEntries(
    limits.map(([name, { simple, ...rest }]) => {
      const limit = name === "QUESTION_LIMIT" ? Math.max(simple.limit, rateLimit * QUESTION_MARGIN) : simple.limit;
      return [name, { ...rest, simple: { ...simple, limit } }];
    }),
  );
}

/** The Worker's modules; the first one is what runs. */
function builtModules(entry) {
  const main = path.join(BUILD_DIR, "index.js");
  if (!existsSync(main)) {
    throw new StartupError("The Worker is not built yet; run `cargo xtask build worker` first.");
  }
  const wasm = readdirSync(BUILD_DIR).filter((name) => name.endsWith(".wasm"));
  return [
    ...(entry ? [besideTheWorker(entry)] : []),
    { type: "ESModule", path: main },
    ...wasm.map((name) => ({ type: "CompiledWasm", path: path.join(BUILD_DIR, name) })),
  ];
}

function besideTheWorker(entry) {
  return { type: "ESModule", path: path.join(BUILD_DIR, path.basename(entry)), contents: readFileSync(entry, "utf8") };
}

/** The runtime reports a taken port with a stack trace of its own, so the port is tried first. */
async function refuseTakenPort(port) {
  const probe = createServer();
  await listen(probe, port);
  probe.close();
  await once(probe, "close");
}
