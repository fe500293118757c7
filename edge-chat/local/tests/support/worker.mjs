// The built Worker as the tests run it: against a stand-in for Supabase, with its log at hand.
import { startWorker } from "../../src/worker.mjs";
import { eventually } from "./client.mjs";
import { ISSUER, JWT_SECRET } from "./tokens.mjs";

export const ORIGIN = "https://page.test";

/** By which the database knows the Worker. */
export const WORKER_SECRET = "worker-secret-worker-secret-worker-secret";

/** How long the Workers of the tests wait for the stand-in. */
export const TIMEOUT_MS = 2000;

/**
 * Starts the Worker.
 * @param {{ url: string }} upstream
 * @param {Record<string, string>} [variables]
 * @param {object} [options] passed on to `startWorker`
 */
export async function startTestWorker(upstream, variables = {}, options = {}) {
  const log = [];
  const worker = await startWorker({
    onLog: (line) => log.push(line),
    variables: {
      SUPABASE_URL: upstream.url,
      SUPABASE_PUBLISHABLE_KEY: "publishable-key",
      SUPABASE_JWT_SECRET: JWT_SECRET,
      SUPABASE_JWT_ISSUER: ISSUER,
      CHAT_WORKER_SECRET: WORKER_SECRET,
      CHAT_ALLOWED_ORIGINS: `${ORIGIN}, https://other.test`,
      CHAT_UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
      ...FROM_THE_DATABASE,
      ...variables,
    },
    ...options,
  });
  const linesOf = (reply) => log.filter((line) => line.includes(reply.headers.get("x-request-id")));
  return {
    ...worker,
    log,
    linesOf,
    /** The one line about a request, once it is there. */
    lineOf: async (reply) => {
      const line = await eventually(() => linesOf(reply).find((text) => text.includes('"route"')));
      return JSON.parse(line.slice(line.indexOf("{")));
    },
  };
}

/** Settings that wrangler.toml may set are left to the database, where the tests change them. */
const FROM_THE_DATABASE = {
  CHAT_EVIDENCE_THRESHOLD: "",
  CHAT_EVIDENCE_CONFIDENCE: "",
  CHAT_MATCH_COUNT: "",
};

/** Starts a Worker for one piece of work. */
export async function withWorker(upstream, variables, use, options) {
  const worker = await startTestWorker(upstream, variables, options);
  try {
    return await use(worker);
  } finally {
    await worker.close();
  }
}
