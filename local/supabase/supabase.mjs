import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { App, setExperimental } from "@supabase/lite";
import { createAnonymousUsers } from "./anonymous-users.mjs";
import { createDashboard } from "./dashboard.mjs";
import { shortenErrors } from "./database-errors.mjs";
import { createGateway } from "./gateway.mjs";
import { appliedMigrations, applyPendingMigrations, applySeedOnce, MIGRATIONS_DIR } from "./migrations.mjs";
import { openPglite } from "./pglite.mjs";
import { createQueue } from "./queue.mjs";
import { storageOperation } from "./storage-dialect.mjs";
import { FileStorage } from "./storage-files.mjs";

const SEED_FILE = fileURLToPath(new URL("../../supabase/seed.sql", import.meta.url));

/**
 * The initial roles of a Supabase project and their default privileges: new tables and functions of the public schema are open
 * to all of them, so that a migration which forgets to revoke fails tests here as well.
 */
const ROLES_SQL = `
  do $$ begin
    if not exists (select from pg_roles where rolname = 'anon') then
      create role anon nologin;
      create role authenticated nologin;
      create role service_role nologin bypassrls;
    end if;
  end $$;
  grant usage on schema public, storage to anon, authenticated, service_role;
  grant all on all tables in schema storage to anon, authenticated, service_role;
  alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
  alter default privileges in schema public grant all on functions to anon, authenticated, service_role;`;

/**
 * A running Supabase without a port.
 * @typedef {object} Supabase
 * @property {(request: Request) => Promise<Response>} fetch serves /rest/v1, /auth/v1 and /storage/v1
 * @property {(password: string) => (request: Request) => Promise<Response>} dashboard serves the Studio with the rights of the
 *   service role to anyone who knows the password
 * @property {import("@electric-sql/pglite").PGlite} database the database itself, as its superuser
 * @property {string[]} applied names of the migrations applied while opening
 * @property {() => Promise<void>} close
 */

/**
 * A database for {@link openSupabase}.
 * @typedef {object} OpenDatabase
 * @property {any} connection of Supabase Lite
 * @property {Supabase["database"]} database the same database, for statements apart from all requests
 * @property {boolean} hasOneSession whether all requests share one database session
 * @property {boolean} [isFilled] whether the database started from the files of another one with migrations and seed
 * @property {() => Promise<void>} [keepFilled] keeps the files for the next new database
 */

/**
 * Opens a local Supabase: database with pgvector, pending migrations, seed on first use, API.
 * @param {object} options
 * @param {import("./keys.mjs").Keys} options.keys
 * @param {string} [options.url] its public URL, without a trailing slash
 * @param {string} options.storageDir where storage objects are kept
 * @param {string} [options.databaseDir] where the database is kept; in memory by default
 * @param {() => Promise<OpenDatabase>} [options.openDatabase] opens the database, in place of PGlite in `databaseDir`
 * @param {string} [options.migrationsDir]
 * @param {string} [options.seedFile]
 * @returns {Promise<Supabase>}
 */
export async function openSupabase({
  keys,
  url = "http://127.0.0.1",
  storageDir,
  databaseDir,
  openDatabase,
  migrationsDir = MIGRATIONS_DIR,
  seedFile = SEED_FILE,
}) {
  const isUsual = migrationsDir === MIGRATIONS_DIR && seedFile === SEED_FILE;
  openDatabase ??= async () => openPglite(databaseDir, { content: isUsual ? await contentDigest() : undefined });
  const { connection, database, hasOneSession, isFilled, keepFilled } = await openDatabase();
  shortenErrors(database);
  keepGrants(connection);
  try {
    await database.waitReady;
    const app = createApp(connection, keys, storageDir);
    await app.ensureSystemSchema();
    await database.exec(ROLES_SQL);
    const applied = await applyPendingMigrations(database, migrationsDir);
    await applySeedOnce(database, seedFile);
    if (isFilled) {
      applied.push(...(await appliedMigrations(database)));
      // The only secret that the migrations draw.
      await database.exec("update internal.refusal_salt set salt = gen_random_uuid()");
    } else {
      await keepFilled?.();
    }
    // PGlite is one database session and Supabase Lite does not queue its transactions, so statements of two
    // simultaneous requests would share one transaction, and with it the role and the user of the later one.
    const oneAtATime = hasOneSession ? createQueue() : (task) => task();
    const handle = (request) =>
      oneAtATime(async () => {
        if (!hasOneSession) return app.fetch(request);
        // Hosted Storage sets this in each transaction. Here there is one session, and one request at a time.
        await database.query("select set_config('storage.operation', $1, false)", [storageOperation(request)]);
        return app.fetch(request);
      });
    const anonymousUsers = createAnonymousUsers((sql, parameters) => oneAtATime(() => database.query(sql, parameters)));
    return {
      fetch: createGateway(handle, { issuer: `${url}/auth/v1`, secret: keys.jwt_secret }, anonymousUsers),
      dashboard: (password) => createDashboard(handle, { secretKey: keys.secret_key, password }),
      database,
      applied,
      close: () => connection.close(),
    };
  } catch (error) {
    // A database that failed to open may fail to close, too; the first error is the one to report.
    await connection.close().catch(() => {});
    throw error;
  }
}

/** Changes with all that {@link openSupabase} fills a new database with. */
async function contentDigest() {
  const digest = createHash("sha256").update(ROLES_SQL);
  // The code of Supabase Lite makes its own schemas.
  for (const name of ["@supabase/lite", "@electric-sql/pglite"]) {
    digest.update(await readFile(fileURLToPath(import.meta.resolve(name))));
  }
  const migrations = (await readdir(MIGRATIONS_DIR)).sort().map((file) => path.join(MIGRATIONS_DIR, file));
  for (const file of [...migrations, SEED_FILE]) digest.update(`${file}\0`).update(await readFile(file));
  return digest.digest("hex").slice(0, 16);
}

/**
 * Before its first request, Supabase Lite would grant everything on all tables of schemas with row level security, which would
 * undo the revokes of the migrations. ROLES_SQL has granted the roles what they need.
 */
function keepGrants(connection) {
  connection.ensureRlsContext = async () => true;
}

function createApp(connection, keys, storageDir) {
  setExperimental("storage", true);
  const app = new App({
    connection,
    auth: {
      enabled: true,
      jwt_secret: keys.jwt_secret,
      publishable_key: keys.publishable_key,
      secret_key: keys.secret_key,
      email: { enable_confirmations: false },
      enable_anonymous_sign_ins: true,
    },
    storage: { enabled: true, file_size_limit: "50MiB" },
    // Admin mode would run requests without a key as the service role. Only the dashboard
    // reaches the Studio: the gateway rejects requests to it.
    options: { server: { admin: false, disableStudio: false } },
  });
  app._storageAdapter = new FileStorage(storageDir);
  return app;
}
