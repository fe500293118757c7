// The embedded development server. Environment: PORT (default 54321, 0 picks a free one), DATA_DIR (default
// supabase/.local). Prints "ready http://127.0.0.1:PORT" once it answers; ends with its parent, on SIGTERM and SIGINT.
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import { lockDataDir } from "./src/data-lock.mjs";
import { loadOrCreateKeys } from "./src/keys.mjs";
import { StartupError } from "./src/startup-error.mjs";
import { openSupabase } from "./src/supabase.mjs";
import { untilStopped } from "./src/until-stopped.mjs";

const HOST = "127.0.0.1";

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exit(1);
}

async function main() {
  const stopped = untilStopped();
  const port = readPort(process.env.PORT);
  const dataDir = path.resolve(process.env.DATA_DIR || fileURLToPath(new URL("../.local", import.meta.url)));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockDataDir(dataDir);
  try {
    await serveUntil(stopped, port, dataDir);
  } finally {
    await unlock();
  }
}

async function serveUntil(stopped, port, dataDir) {
  // The port comes first, because a taken one should be reported at once; requests wait until the database is open.
  let opened;
  const server = createAdaptorServer({ fetch: async (request) => (await opened).fetch(request) });
  await listen(server, port);
  try {
    opened = open(dataDir);
    const supabase = await opened;
    try {
      for (const file of supabase.applied) console.log(`applied ${file}`);
      console.log(`ready http://${HOST}:${server.address().port}`);
      await stopped;
    } finally {
      await supabase.close();
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function open(dataDir) {
  return openSupabase({
    keys: await loadOrCreateKeys(dataDir),
    databaseDir: path.join(dataDir, "pglite"),
    storageDir: path.join(dataDir, "storage"),
  });
}

async function listen(server, port) {
  server.listen(port, HOST);
  try {
    await once(server, "listening");
  } catch (error) {
    if (error.code === "EADDRINUSE") {
      throw new StartupError(`Port ${port} is already in use; set PORT to a free one.`);
    }
    if (error.code === "EACCES") {
      throw new StartupError(`Port ${port} needs more privileges; set PORT to one above 1023.`);
    }
    throw error;
  }
}

function readPort(text) {
  if (text === undefined || text === "") return 54321;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new StartupError(`PORT must be a number from 0 to 65535, not "${text}".`);
  }
  return port;
}
