// Starts what the tests run on. Every test file gets its database or its server here.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { devNull } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { generateKeys } from "../../../local/supabase/keys.mjs";
import { applyPendingMigrations, MIGRATIONS_DIR } from "../../../local/supabase/migrations.mjs";
import { openSupabase } from "../../../local/supabase/supabase.mjs";
import { createClient, signUp, WORKER_SECRET } from "./client.mjs";
import { startNativePostgres } from "./native-postgres.mjs";
import { createTemporaryFolder } from "./temporary-folder.mjs";

const SERVER = fileURLToPath(new URL("../../../local/supabase/server.mjs", import.meta.url));
const START_TIMEOUT_MS = 60_000;

/** An in-memory Supabase with the real migrations and seed, three users who signed up, and one client per role. */
export async function startSupabase() {
  const supabase = await openInMemory();
  const { keys } = supabase;
  const service = createClient(supabase, keys.secret_key);
  await service.rpc("chat_set_worker_secret", {
    secret_hash: createHash("sha256").update(WORKER_SECRET).digest("hex"),
  });
  return {
    ...supabase,
    anon: createClient(supabase, keys.publishable_key),
    alice: await signUp(supabase, keys, "alice@example.com"),
    bob: await signUp(supabase, keys, "bob@example.com"),
    /** An anonymous user. */
    visitor: await signUp(supabase, keys, "visitor@example.com", { is_anonymous: true }),
    service,
    /** A client of a new user whose token also has these claims, which may include `app_metadata`. */
    signUp: (email, claims) => signUp(supabase, keys, email, claims),
  };
}

/** An in-memory Postgres without the schema storage, after the real migrations. */
export async function startWithoutStorage() {
  const { folder, remove } = await createTemporaryFolder();
  // No migrations and an empty seed until storage is gone.
  const { database, close } = await openInMemory({ migrationsDir: folder, seedFile: devNull });
  await remove();
  await database.exec("drop schema storage cascade");
  const applied = await applyPendingMigrations(database, MIGRATIONS_DIR);
  return { database, applied, close };
}

/**
 * A database with the real migrations on native Postgres. `project` opens more sessions.
 * @throws {import("./native-postgres.mjs").UnavailableError}
 */
export async function startNativeProject() {
  const server = await startNativePostgres();
  const project = await server.createProject("tests");
  const database = await project.connect();
  await applyPendingMigrations(database, MIGRATIONS_DIR);
  return {
    server,
    project,
    database,
    async close() {
      await database.close();
      await server.stop();
    },
  };
}

/**
 * Runs local/supabase/server.mjs on a free port. It is killed when the test ends.
 * @param {import("node:test").TestContext} t
 * @param {NodeJS.ProcessEnv & { DATA_DIR: string }} environment
 */
export function spawnServer(t, environment) {
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, PORT: "0", ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  const exited = once(child, "close").then(([code, signal]) => ({ code, signal, output, errors }));
  return { child, exited, output: () => output };
}

/**
 * Runs the server and waits until it answers.
 * @param {import("node:test").TestContext} t
 * @param {string} dataDir
 */
export async function startServer(t, dataDir) {
  const server = spawnServer(t, { DATA_DIR: dataDir });
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)$/m.exec(server.output());
    if (ready) {
      const keys = JSON.parse(await readFile(path.join(dataDir, "keys.json"), "utf8"));
      return { ...server, url: ready[1], keys };
    }
    if (server.child.exitCode !== null || Date.now() > deadline) {
      server.child.kill("SIGKILL");
      throw new Error(`the server did not start: ${JSON.stringify(await server.exited)}`);
    }
    await delay(25);
  }
}

/** @param {Partial<Parameters<typeof openSupabase>[0]>} [options] */
async function openInMemory(options) {
  const { folder, remove } = await createTemporaryFolder();
  const keys = await generateKeys();
  const supabase = await openSupabase({ keys, storageDir: folder, ...options });
  return {
    ...supabase,
    keys,
    async close() {
      await supabase.close();
      await remove();
    },
  };
}
