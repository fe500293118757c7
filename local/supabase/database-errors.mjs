import { inspect } from "node:util";

/**
 * Makes errors of a database print as one line. Supabase Lite logs every failed statement, and PGlite's errors carry the
 * statement's parameters: whole embeddings, and what users wrote.
 * @param {import("@electric-sql/pglite").PGlite} database
 */
export function shortenErrors(database) {
  const query = database.query.bind(database);
  database.query = (...parameters) =>
    query(...parameters).catch((error) => {
      const line = `database error ${error.code}: ${error.message}`;
      Object.defineProperty(error, inspect.custom, { value: () => line });
      throw error;
    });
}
