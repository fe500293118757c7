// The local Supabase on a native Postgres, for a knowledge base that is too large for PGlite: a local service (see
// local/service.mjs). Environment: PORT, DATA_DIR (an existing folder). What it stores does not outlive it, apart from the keys. How
// to connect to the database is written to DATA_DIR/database.json.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { listen, runService } from "../../local/service.mjs";
import { createAdaptorServer } from "@hono/node-server";
import { loadOrCreateKeys } from "../../local/supabase/keys.mjs";
import { startNativePostgres } from "../../supabase/tests/support/native-postgres.mjs";
import { openNativeSupabase } from "../../supabase/tests/support/native-supabase.mjs";

const DATABASE = "ingest";
const SETTINGS = ["shared_buffers=512MB", "maintenance_work_mem=512MB", "max_wal_size=4GB"];

await runService({ defaultPort: 54321, serve });

async function serve(port, ready) {
  const dataDir = /** @type {string} */ (process.env.DATA_DIR);
  const keys = await loadOrCreateKeys(dataDir);
  const postgres = await startNativePostgres(SETTINGS);
  try {
    const storageDir = path.join(dataDir, "storage");
    const supabase = await openNativeSupabase(postgres, DATABASE, { keys, storageDir });
    try {
      const server = /** @type {import("node:http").Server} */ (createAdaptorServer({ fetch: supabase.fetch }));
      const url = await listen(server, port);
      const connection = { host: postgres.folder, database: DATABASE, username: "postgres" };
      await writeFile(path.join(dataDir, "database.json"), JSON.stringify(connection));
      try {
        await ready(url);
      } finally {
        server.close();
        server.closeAllConnections();
      }
    } finally {
      await supabase.close();
    }
  } finally {
    await postgres.stop();
  }
}
