// Opens PGlite. Making and filling a new database takes seconds, so its files are kept for the next one.
import { randomUUID } from "node:crypto";
import { existsSync, openAsBlob } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { vector } from "@electric-sql/pglite/vector";
import { createPgliteConnection } from "@supabase/lite/pglite";

const PGLITE_DIR = fileURLToPath(new URL("../", import.meta.resolve("@electric-sql/pglite")));
/** Belongs to the installed packages, and goes with them. */
const CACHE_DIR = path.join(PGLITE_DIR, "../../.cache/evidence-chat");

/**
 * Opens a database with pgvector. A new one starts from the files of an earlier one: with `content`, if the files of such a database
 * were kept, and else from those of an empty database.
 * @param {string} [databaseDir] where the database is kept; in memory by default
 * @param {object} [options]
 * @param {string} [options.content] digest of what the caller fills a new database with
 * @param {string} [options.cacheDir] where the files of new databases are kept
 * @returns {Promise<import("./supabase.mjs").OpenDatabase>}
 */
export async function openPglite(databaseDir, { content, cacheDir = CACHE_DIR } = {}) {
  const isNew = databaseDir === undefined || !existsSync(path.join(databaseDir, "PG_VERSION"));
  const empty = path.join(cacheDir, `pglite-${await installedVersion()}.tar`);
  const filled = content === undefined ? undefined : path.join(cacheDir, `pglite-filled-${content}.tar`);
  const template = isNew ? [filled, empty].find((file) => file !== undefined && existsSync(file)) : undefined;
  const connection = await createPgliteConnection({
    url: databaseDir,
    pgliteOptions: {
      extensions: { vector },
      loadDataDir: template === undefined ? undefined : await openAsBlob(template),
    },
  });
  const database = connection.driver;
  if (isNew && !template) {
    await database.waitReady;
    await keep(database, empty);
  }
  const isFilled = filled !== undefined && template === filled;
  return {
    connection,
    database,
    hasOneSession: true,
    isFilled,
    async keepFilled() {
      if (!isNew || !filled || isFilled) return;
      await removeOthers(filled);
      await keep(database, filled);
    },
  };
}

/** Removes the files of databases with other content: no database is filled with earlier migrations again. */
async function removeOthers(filled) {
  const folder = path.dirname(filled);
  const names = await readdir(folder).catch(() => []);
  const others = names.filter((name) => /^pglite-filled-.*\.tar$/.test(name) && name !== path.basename(filled));
  await Promise.all(others.map((name) => rm(path.join(folder, name), { force: true }).catch(() => {})));
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
