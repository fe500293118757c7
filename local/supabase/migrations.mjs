import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { StartupError } from "../service.mjs";

/** The migrations of this repository. */
export const MIGRATIONS_DIR = fileURLToPath(new URL("../../supabase/migrations/", import.meta.url));

// Both functions keep their records where the Supabase CLI keeps its own, in the schema supabase_migrations.

/**
 * PGlite, or a session on native Postgres.
 * @typedef {object} Database
 * @property {(sql: string, parameters?: any[]) => Promise<{ rows: any[] }>} query
 * @property {(sql: string) => Promise<unknown>} exec
 * @property {<T>(body: (transaction: Transaction) => Promise<T>) => Promise<T>} transaction
 * @typedef {Pick<Database, "query" | "exec"> & { rollback: () => Promise<unknown> }} Transaction
 */

/**
 * Applies the migrations that the database has not seen, oldest first, each in its own transaction.
 * @param {Database} database
 * @param {string} folder
 * @returns {Promise<string[]>} names of the files applied now
 */
export async function applyPendingMigrations(database, folder) {
  const { rows } = await database.query("select version from supabase_migrations.schema_migrations");
  const known = new Set(rows.map((row) => row.version));
  const applied = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort()) {
    const match = /^(\d{14})_(\w+)\.sql$/.exec(file);
    if (!match) throw new StartupError(`Migration ${file} is not named like 20261201000100_topic.sql.`);
    const [, version, name] = match;
    if (known.has(version)) continue;
    const sql = await readFile(path.join(folder, file), "utf8");
    await runScript(database, sql, `Migration ${file}`, (transaction) =>
      transaction.query(
        "insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, array[$3])",
        [version, name, sql],
      ),
    );
    applied.push(file);
  }
  return applied;
}

/**
 * The files of the migrations that the database has seen, oldest first.
 * @param {Database} database
 * @returns {Promise<string[]>}
 */
export async function appliedMigrations(database) {
  const { rows } = await database.query(
    "select version || '_' || name || '.sql' as file from supabase_migrations.schema_migrations order by version",
  );
  return rows.map(({ file }) => file);
}

/**
 * Applies the seed file to a database that has not been seeded.
 * @param {Database} database
 * @param {string} file
 * @returns {Promise<boolean>} whether it was applied now
 */
export async function applySeedOnce(database, file) {
  const name = path.basename(file);
  const { rows } = await database.query("select from supabase_migrations.seed_files where path = $1", [name]);
  if (rows.length > 0) return false;
  const sql = await readFile(file, "utf8");
  await runScript(database, sql, `Seed file ${name}`, (transaction) =>
    transaction.query("insert into supabase_migrations.seed_files (path, hash) values ($1, $2)", [
      name,
      createHash("sha256").update(sql).digest("hex"),
    ]),
  );
  return true;
}

async function runScript(database, sql, title, record) {
  try {
    await database.transaction(async (transaction) => {
      await transaction.exec(sql);
      await record(transaction);
    });
  } catch (error) {
    const { message, position } = /** @type {Error & { position?: string }} */ (error);
    const line = position ? ` (line ${sql.slice(0, Number(position)).split("\n").length})` : "";
    throw new StartupError(`${title} failed and was rolled back: ${message}${line}`, { cause: error });
  }
}
