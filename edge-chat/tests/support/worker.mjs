// Runs the built Worker with a stand-in for Supabase and captures its log.
import { startWorker } from "../../../local/worker/worker.mjs";
import { eventually } from "./client.mjs";
import { ISSUER, JWT_SECRET } from "./tokens.mjs";
import { startUpstream } from "./upstream.mjs";

export const ORIGIN = "https://page.test";

/** Proves to the database that a call comes from the Worker. */
export const WORKER_SECRET = "worker-secret-worker-secret-worker-secret";

/** The upstream timeout of the tests. */
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
      ...variables,
    },
    ...options,
  });
  const linesOf = (reply) => log.filter((line) => line.includes(reply.headers.get("x-request-id")));
  return {
    ...worker,
    log,
    linesOf,
    /** Waits for the log line of a request. */
    lineOf: async (reply) => {
      const line = await eventually(() => linesOf(reply).find((text) => text.includes('"route"')));
      return JSON.parse(line.slice(line.indexOf("{")));
    },
  };
}

/** Starts a stand-in for Supabase and a Worker that uses it; the parameters are those of `startTestWorker`. */
export async function startPair(variables, options) {
  const upstream = await startUpstream();
  try {
    return { upstream, worker: await startTestWorker(upstream, variables, options) };
  } catch (error) {
    upstream.close();
    throw error;
  }
}

/** Closes what a `before` hook started, even if the hook failed halfway. */
export async function closePair({ upstream, worker }) {
  await worker?.close();
  upstream?.close();
}

/** Starts a Worker for the duration of `use`. */
export async function withWorker(upstream, variables, use, options) {
  const worker = await startTestWorker(upstream, variables, options);
  try {
    return await use(worker);
  } finally {
    await worker.close();
  }
}

/**
 * Starts a Worker for the duration of `use`, with these settings in the database.
 * @param {Awaited<ReturnType<typeof startUpstream>>} upstream
 * @param {Record<string, unknown>} settings
 */
export async function withSettings(upstream, settings, use, variables = {}) {
  const before = { ...upstream.settings };
  Object.assign(upstream.settings, settings);
  try {
    return await withWorker(upstream, variables, use);
  } finally {
    Object.assign(upstream.settings, before);
  }
}
