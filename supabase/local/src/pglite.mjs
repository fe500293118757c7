// Opens PGlite. Making a new database takes seconds, so its files are kept for the next one.
import { randomUUID } from "node:crypto";
import { existsSync, openAsBlob } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { vector } from "@electric-sql/pglite/vector";
import { createPgliteConnection } from "@supabase/lite/pglite";

const PGLITE_DIR = fileURLToPath(new URL("../", import.meta.resolve("@electric-sql/pglite")));
/** Belongs to the installed packages, and goes with them. */
const CACHE_DIR = path.join(PGLITE_DIR, "../../.cache/evidence-chat");

/**
 * Opens a database with pgvector. A new one starts from the files of the first one, which hold nothing but an empty database.
 * @param {string} [databaseDir] where the database is kept; in memory by default
 * @param {string} [cacheDir] where the files of a new database are kept
 * @returns {Promise<import("./supabase.mjs").OpenDatabase>}
 */
export async function openPglite(databaseDir, cacheDir = CACHE_DIR) {
  const isNew = databaseDir === undefined || !existsSync(path.join(databaseDir, "PG_VERSION"));
  const template = path.join(cacheDir, `pglite-${await installedVersion()}.tar`);
  const loadDataDir = isNew && existsSync(template) ? await openAsBlob(template) : undefined;
  const connection = await createPgliteConnection({
    url: databaseDir,
    pgliteOptions: { extensions: { vector }, loadDataDir },
  });
  const database = connection.driver;
  if (isNew && !loadDataDir) {
    await database.waitReady;
    await keep(database, template);
  }
  return { connection, database, hasOneSession: true };
}

async function installedVersion() {
  return JSON.parse(await readFile(path.join(PGLITE_DIR, "package.json"), "utf8")).version;
}

/** Writes all files of the database to one file. If that fails, the next start only takes longer. */
async function keep(database, file) {
  await database.exec("checkpoint");
  const files = await database.dumpDataDir("none");
  const partial = `${file}.${randomUUID()}`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(partial, files.stream(), { flush: true });
    await rename(partial, file);
  } catch {
    await rm(partial, { force: true }).catch(() => {});
  }
}
