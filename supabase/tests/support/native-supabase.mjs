// A local Supabase whose database is a native Postgres: for measurements with many rows, and for several requests at once.
import { createPostgresConnection } from "@supabase/lite/postgres";
import { openSupabase } from "../../../local/supabase/supabase.mjs";

/**
 * Opens a Supabase on a new database of a native Postgres, with the real migrations and seed.
 * @param {import("./native-postgres.mjs").Server} server
 * @param {string} name of the database
 * @param {Omit<Parameters<typeof openSupabase>[0], "openDatabase" | "databaseDir">} options
 */
export async function openNativeSupabase(server, name, options) {
  await server.createDatabase(name);
  return openSupabase({ ...options, openDatabase: async () => openNative(server.folder, name) });
}

/** Sends a text as JSON, like PGlite: the server passes arguments of functions as the text of their JSON. */
const JSON_TYPE = {
  to: 3802,
  from: [3802],
  serialize: (value) => (typeof value === "string" ? value : JSON.stringify(value)),
  parse: JSON.parse,
};

/** @returns {import("../../../local/supabase/supabase.mjs").OpenDatabase} */
function openNative(host, database) {
  const connection = createPostgresConnection({
    postgresOptions: {
      host,
      database,
      username: "postgres",
      max: 10,
      onnotice: () => {},
      types: { jsonb: JSON_TYPE },
    },
  });
  const methods = withMethods(connection.driver);
  return { connection, database: /** @type {any} */ (methods), hasOneSession: false };
}

/** The methods of PGlite that the local server uses. */
function withMethods(driver) {
  const on = (sql) => ({
    query: async (text, parameters = []) => ({ rows: [...(await sql.unsafe(text, parameters))] }),
    exec: (text) => sql.unsafe(text),
  });
  return { ...on(driver), transaction: (body) => driver.begin((transaction) => body(on(transaction))) };
}
