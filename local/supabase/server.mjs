// The embedded development server, a local service (see local/service.mjs). Environment: PORT (default 54321), DATA_DIR
// (default supabase/.local), DASHBOARD (any value: also serves a dashboard for the administrator and prints its URL).
import { createHash, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { listen, runService } from "../service.mjs";
import { createAdaptorServer } from "@hono/node-server";
import { lockDataDir } from "./data-lock.mjs";
import { loadOrCreateKeys } from "./keys.mjs";
import { openSupabase } from "./supabase.mjs";

await runService({ defaultPort: 54321, serve });

async function serve(port, ready) {
  const dataDir = path.resolve(
    process.env.DATA_DIR || fileURLToPath(new URL("../../supabase/.local", import.meta.url)),
  );
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockDataDir(dataDir);
  try {
    await serveFrom(dataDir, port, ready);
  } finally {
    await unlock();
  }
}

async function serveFrom(dataDir, port, ready) {
  // Listens first, so that a port in use is reported at once. Requests wait until the database is open.
  /** @type {Promise<import("./supabase.mjs").Supabase> | undefined} */
  let opened;
  let dashboard;
  const server = createServer(async (request) =>
    (await /** @type {NonNullable<typeof opened>} */ (opened)).fetch(request),
  );
  const url = await listen(server, port);
  try {
    const keys = loadOrCreateKeys(dataDir);
    opened = open(dataDir, url, keys);
    const supabase = await opened;
    try {
      await setWorkerSecret(supabase.database, (await keys).worker_secret);
      for (const file of supabase.applied) console.log(`applied ${file}`);
      if (process.env.DASHBOARD) dashboard = await serveDashboard(supabase);
      await ready(url);
    } finally {
      dashboard?.close();
      dashboard?.closeAllConnections();
      await supabase.close();
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/**
 * An HTTP server that does not listen yet.
 * @param {(request: Request) => Promise<Response>} fetch
 */
function createServer(fetch) {
  return /** @type {import("node:http").Server} */ (createAdaptorServer({ fetch }));
}

/** Serves the dashboard on a separate port, because its requests have the rights of the service role. */
async function serveDashboard(supabase) {
  const password = randomBytes(24).toString("base64url");
  const server = createServer(supabase.dashboard(password));
  console.log(`dashboard ${await listen(server, 0)}/?password=${password}`);
  return server;
}

/** The database stores only the hash of the secret, as after `kb worker-secret` in a hosted project. */
async function setWorkerSecret(database, secret) {
  const hash = createHash("sha256").update(secret).digest("hex");
  await database.query("select public.chat_set_worker_secret($1)", [hash]);
}

async function open(dataDir, url, keys) {
  return openSupabase({
    keys: await keys,
    url,
    databaseDir: path.join(dataDir, "pglite"),
    storageDir: path.join(dataDir, "storage"),
  });
}
